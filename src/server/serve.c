/* serve.c: the rooms, the protocol over them and the front before that, on one
 * loop, from the first byte to the last.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/serve.h"

#include "base/log.h"
#include "base/own.h"
#include "conf/limits.h"
#include "conf/room_conf.h"
#include "front/stdio.h"
#include "mcp/mcp.h"
#include "mcp/run_catalog.h"
#include "mcp/tool_run.h"
#include "room/room.h"
#include "server/cmd.h"
#include "server/room_packages.h"
#include "server/walls.h"
#include "server/web.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const int ending_signals[] = { SIGTERM, SIGINT, SIGHUP };

#define SIGNALS (sizeof(ending_signals) / sizeof(ending_signals[0]))

struct server {
	uv_loop_t loop;
	/* In the order of --rooms, each with its own configuration. */
	struct room *rooms[ROOMS];
	struct conf confs[ROOMS];
	struct artifacts artifacts[ROOMS];
	unsigned rooms_n;
	struct run_catalog *catalog;
	struct mcp *mcp;
	struct stdio *stdio; /* NULL once it has ended, or over HTTP */
	struct web *web;     /* NULL over stdio */
	bool ended;
	uv_signal_t signals[SIGNALS];
	size_t signals_n; /* of them on the loop */
	struct buf text;  /* the tool's description */
	char *packages;   /* what programs may import, as JSON; or NULL */
};

/* ---- the rooms ---- */

static int
open_rooms(struct server *server, const struct conf *conf,
    struct launcher *launcher, const struct artifacts *artifacts,
    struct err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < conf->room_ids_n; i++) {
		struct conf *own = &server->confs[i];

		conf_for_room(conf, conf->room_ids[i], own);
		server->artifacts[i] = *artifacts;
		if (!room_id_has(own->room, TRAIT_ARTIFACTS))
			r = artifacts_find_for(
			    own->room, own->int64, &server->artifacts[i], err);
		if (r == 0)
			r = room_open(&server->loop, launcher, own,
			    &server->artifacts[i], &server->rooms[i], err);
		if (r == 0)
			server->rooms_n++;
	}
	return r;
}

static void
close_rooms(struct server *server)
{
	for (unsigned i = 0; i < server->rooms_n; i++)
		room_close(server->rooms[i]);
}

/* The place of the room where calls run that name none. */
static unsigned
usual_room(const struct server *server, const struct conf *conf)
{
	unsigned i = 0;

	while (i + 1 < server->rooms_n && server->confs[i].room != conf->room)
		i++;
	return i;
}

/* ---- the description ---- */

/* What was installed for the rooms that need it. */
static int
read_packages(struct server *server, const struct artifacts *artifacts,
    struct buf *about, struct err *err)
{
	json_t *list = room_packages_read(artifacts, err);
	int r;

	if (!list)
		return -err->code;
	r = room_about_read(artifacts, list, about, err);
	server->packages = json_dumps(list, JSON_INDENT(1));
	json_decref(list);
	if (r == 0 && !server->packages)
		r = fail(err, ENOMEM, "list packages");
	return r;
}

static int
describe(struct server *server, const struct conf *conf,
    const struct artifacts *artifacts, struct err *err)
{
	const struct conf *own = &server->confs[usual_room(server, conf)];
	own_buf struct buf about;
	int r = 0;

	buf_init(&about, 2 * ABOUT_MAX);
	buf_init(&server->text, TOOL_TEXT_MAX + 1024);
	if (artifacts->key[0])
		r = read_packages(server, artifacts, &about, err);
	/* The description is of the room that calls have by default. */
	if (!room_id_has(own->room, TRAIT_ARTIFACTS))
		about.n = 0;
	if (r == 0)
		r = tool_run_text(buf_span(&about), own, &server->text, err);
	if (r == 0)
		r = buf_add(&server->text, "", 1); /* it is used as a string */
	return r;
}

/* ---- the end ---- */

static void
on_front_ended(void *arg)
{
	struct server *server = arg;

	server->stdio = NULL;
	server->ended = true;
	for (size_t i = 0; i < server->signals_n; i++)
		uv_close((uv_handle_t *)&server->signals[i], NULL);
	mcp_close(server->mcp);
	close_rooms(server);
}

static void
end_front(struct server *server)
{
	if (server->stdio)
		stdio_end(server->stdio);
	else if (server->web && !server->ended)
		web_end(server->web);
}

static void
on_signal(uv_signal_t *handle, int number)
{
	struct server *server = handle->data;

	log_info("event=signal number=%d", number);
	end_front(server);
}

/* ---- the start ---- */

static int
watch_signals(struct server *server)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < SIGNALS; i++) {
		uv_signal_t *handle = &server->signals[i];

		r = uv_signal_init(&server->loop, handle);
		if (r < 0)
			break;
		server->signals_n++;
		handle->data = server;
		r = uv_signal_start(handle, on_signal, ending_signals[i]);
	}
	return r;
}

static int
open_front(struct server *server, const struct conf *conf, struct err *err)
{
	const struct web_parts parts = { &server->loop, server->mcp,
		server->rooms[usual_room(server, conf)],
		run_catalog_store(server->catalog) };

	if (server->web)
		return web_open(
		    server->web, &parts, on_front_ended, server, err);
	server->stdio = stdio_open(&server->loop, server->mcp, STDIN_FILENO,
	    STDOUT_FILENO, on_front_ended, server);
	return server->stdio ? 0 : fail(err, ENOMEM, "no memory");
}

static int
start(struct server *server, const struct conf *conf, struct err *err)
{
	int r = 0;

	server->catalog = run_catalog_new(conf, (const char *)server->text.p);
	if (server->catalog) {
		if (server->packages)
			run_catalog_packages(server->catalog, server->packages);
		server->mcp = mcp_new_of(&server->loop, server->rooms,
		    server->confs, server->rooms_n, conf,
		    run_catalog_face(server->catalog));
	}
	if (!server->mcp)
		r = fail(err, ENOMEM, "no memory");
	if (r == 0)
		r = open_front(server, conf, err);
	if (r < 0) {
		mcp_close(server->mcp);
		close_rooms(server);
		return r;
	}
	r = watch_signals(server);
	if (r < 0) {
		end_front(server);
		return fail(err, -r, "watch signals: %s", uv_strerror(r));
	}
	return 0;
}

static int
serve(struct server *server, const struct conf *conf, struct launcher *launcher,
    const struct artifacts *artifacts, struct err *err)
{
	/* The rooms first: they warm up while the rest is made. */
	int r = open_rooms(server, conf, launcher, artifacts, err);

	if (r == 0)
		r = describe(server, conf, artifacts, err);
	if (r < 0)
		close_rooms(server);
	else
		r = start(server, conf, err);
	/* Before a client's first byte: that is read in the loop. */
	if (r == 0) {
		r = server_raise_walls(conf, err);
		if (r < 0)
			end_front(server);
	}
	(void)uv_run(&server->loop, UV_RUN_DEFAULT);
	return r;
}

int
serve_main(const struct conf *conf, struct launcher *launcher,
    const struct artifacts *artifacts)
{
	struct server server = { .stdio = NULL };
	struct err err = { 0 };
	int r = 0;

	/* A client that is gone is an error of write, not a reason to die. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (conf->http)
		r = web_prepare(conf, &server.web, &err);
	if (r < 0) {
		complain(err.text, "");
		return 1;
	}
	r = uv_loop_init(&server.loop);
	if (r < 0) {
		complain("event loop: ", uv_strerror(r));
		web_free(server.web);
		return 1;
	}
	r = serve(&server, conf, launcher, artifacts, &err);
	if (r < 0)
		log_error("%s", err.text);
	(void)uv_loop_close(&server.loop);
	run_catalog_free(server.catalog);
	web_free(server.web);
	buf_done(&server.text);
	free(server.packages);
	return r < 0 ? 1 : 0;
}
