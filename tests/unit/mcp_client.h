/* mcp_client.h: a client of the protocol core, over a fake room, for tests:
 * it says messages and checks what comes back. In what it is given, ' stands
 * for ". Include it once in a program.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_MCP_CLIENT_H
#define TESTS_UNIT_MCP_CLIENT_H

#include "base/own.h"
#include "fake_room.h"
#include "mcp/jsonrpc.h"
#include "mcp/mcp.h"
#include "mcp/run_catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HANDSHAKE(revision)                                             \
	"{'jsonrpc':'2.0','id':'init','method':'initialize','params':{" \
	"'protocolVersion':'" revision "','capabilities':{},"           \
	"'clientInfo':{'name':'t','version':'1'}}}"
#define META                                                               \
	"'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'," \
	"'io.modelcontextprotocol/clientCapabilities':{}}"
#define MODERN(id, method, more)                         \
	"{'jsonrpc':'2.0','id':" id ",'method':'" method \
	"','params':{" META more "}}"
#define OLD(id, method, params)                                                \
	"{'jsonrpc':'2.0','id':" id ",'method':'" method "','params':{" params \
	"}}"
#define CALL(id, more)        \
	OLD(id, "tools/call", \
	    "'name':'run_python','arguments':{'code':'print(1)'}" more)

struct client {
	uv_loop_t loop;
	struct conf conf;
	struct room *room;
	struct run_catalog *catalog;
	struct mcp *mcp;
	struct peer *peer;
	json_t *got;      /* messages, oldest first */
	struct sent sent; /* how the last one came */
	void *route;
};

static inline void
on_message(void *arg, void *route, struct buf *message, const struct sent *sent)
{
	struct client *client = arg;
	json_t *value;

	client->sent = *sent;
	client->route = route;
	if (sent->kind == SENT_OVER)
		return;
	assert_true(message->n <= MESSAGE_OUT_MAX);
	assert_null(memchr(message->p, '\n', message->n));
	value = json_loadb((const char *)message->p, message->n,
	    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	assert_non_null(value);
	(void)json_array_append_new(client->got, value);
	buf_done(message);
}

static inline int
setup(void **state)
{
	struct client *client = calloc(1, sizeof(*client));

	client->conf = (struct conf){
		.timeout_ms = 30000,
		.max_timeout_ms = 300000,
		.memory_bytes = 512ull * MIB,
		.files_bytes = 256ull * MIB,
		.output_chars = 50000,
	};
	(void)uv_loop_init(&client->loop);
	(void)room_open(&client->loop, NULL, NULL, NULL, &client->room, NULL);
	client->catalog = run_catalog_new(&client->conf, "the description");
	client->mcp = mcp_new(&client->loop, client->room, &client->conf,
	    run_catalog_face(client->catalog));
	client->peer = peer_new(client->mcp,
	    &(struct peer_conf){ .send = on_message, .arg = client });
	client->got = json_array();
	*state = client;
	return 0;
}

static inline int
teardown(void **state)
{
	struct client *client = *state;

	peer_close(client->peer);
	mcp_close(client->mcp);
	room_close(client->room);
	(void)uv_run(&client->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&client->loop), 0);
	run_catalog_free(client->catalog);
	json_decref(client->got);
	free(client);
	return 0;
}

/* Sends text, with ' for ". */
static inline void
say(struct client *client, const char *text)
{
	own_mem char *copy = strdup(text);

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	(void)peer_receive(client->peer, NULL, span_of(copy), NULL);
}

/* The oldest message that came; the caller's. */
static inline json_t *
hear(struct client *client)
{
	json_t *message = json_incref(json_array_get(client->got, 0));

	assert_non_null(message);
	(void)json_array_remove(client->got, 0);
	return message;
}

static inline void
silence(const struct client *client)
{
	assert_int_equal(json_array_size(client->got), 0);
}

/* Checks that the oldest message equals text, with ' for ". */
static inline void
hears(struct client *client, const char *text)
{
	own_mem char *copy = strdup(text);
	json_t *message = hear(client), *expected;
	char *dumped;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	expected = json_loads(copy, 0, NULL);
	assert_non_null(expected);
	dumped = json_dumps(message, 0);
	if (!json_equal(message, expected))
		print_message("%s\nis not\n%s\n", dumped, copy);
	assert_true(json_equal(message, expected));
	free(dumped);
	json_decref(expected);
	json_decref(message);
}

static inline json_t *
at(const json_t *value, const char *path)
{
	char part[128];
	const char *p = path;

	while (*p) {
		size_t n = strcspn(p, ">");

		(void)snprintf(part, sizeof(part), "%.*s", (int)n, p);
		value = json_is_array(value)
			    ? json_array_get(value, (size_t)atoi(part))
			    : json_object_get(value, part);
		p += n + (p[n] == '>');
	}
	return (json_t *)value;
}

/* Checks that the oldest message is an error with that code for that id (JSON
 * text; NULL: the member is absent). */
static inline json_t *
hears_error(struct client *client, const char *id, int code)
{
	json_t *message = hear(client);
	json_t *expected = id ? json_loads(id, JSON_DECODE_ANY, NULL) : NULL;
	json_t *error = json_object_get(message, "error");

	assert_int_equal(json_integer_value(at(error, "code")), code);
	assert_true(json_string_length(at(error, "message")) > 0);
	if (expected)
		assert_true(json_equal(at(message, "id"), expected));
	else
		assert_null(at(message, "id"));
	json_decref(expected);
	return message;
}

static inline void
refuses(struct client *client, const char *text, const char *id, int code)
{
	say(client, text);
	json_decref(hears_error(client, id, code));
	silence(client);
}

static inline void
handshake(struct client *client, const char *text)
{
	say(client, text);
	json_decref(hear(client));
	say(client, "{'jsonrpc':'2.0','method':'notifications/initialized'}");
	silence(client);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
