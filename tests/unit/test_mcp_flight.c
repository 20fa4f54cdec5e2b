/* test_mcp_flight.c: requests in flight: cancellation, progress, batches,
 * subscriptions, and how much of them there may be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "conf/paths.h"
#include "mcp_client.h"

#include <unistd.h>

/* ---- cancellation ---- */

static void
test_cancel(void **state)
{
	struct client *client = *state;

	handshake(client, HANDSHAKE("2025-11-25"));
	say(client, CALL("1", ""));
	say(client, CALL("'1'", ""));
#define CANCEL(id)                                                       \
	"{'jsonrpc':'2.0','method':'notifications/cancelled','params':{" \
	"'requestId':" id "}}"
	say(client, CANCEL("7"));
	say(client, CANCEL("1.0"));
	assert_int_equal(client->room->cancelled, 0);
	say(client, CANCEL("1"));
	say(client, CANCEL("1"));
	assert_int_equal(client->room->cancelled, 1);
	assert_int_equal(peer_busy(client->peer), 1);
	/* The id is free although the old call still ends. */
	say(client, CALL("1", ""));
	assert_int_equal(client->room->submitted, 3);
	fake_room_finish(client->room, 0, OUTCOME_KILLED, "", "");
	silence(client);
	fake_room_finish(client->room, 0, OUTCOME_OK, "", "");
	json_decref(hear(client));
	say(client, CANCEL("'1'")); /* too late */
	assert_int_equal(client->room->cancelled, 1);
	silence(client);
}

/* Calls that end after their client, and after the core is closed. */
static void
test_close_with_calls(void **state)
{
	struct client *client = *state;
	struct peer *other = peer_new(client->mcp,
	    &(struct peer_conf){ .send = on_message, .arg = client });

	handshake(client, HANDSHAKE("2025-03-26"));
	say(client, CALL("1", ""));
	say(client, "[" CALL("2", "") "," CALL("3", "") "]");
	peer_close(client->peer);
	assert_int_equal(client->room->cancelled, 3);
	fake_room_finish(client->room, 0, OUTCOME_KILLED, "", "");
	silence(client);
	client->peer = other; /* teardown closes it, with two calls left */
}

/* ---- progress ---- */

static void
test_progress(void **state)
{
	struct client *client = *state;
	uint64_t now = clock_us();
	json_t *first, *second;

	handshake(client, HANDSHAKE("2025-11-25"));
	say(client, CALL("1", ",'_meta':{'progressToken':'t'}"));
	say(client, CALL("2", ""));
	mcp_progress(client->mcp, now + 1000000);
	silence(client);
	mcp_progress(client->mcp, now + 2100000);
	first = hear(client);
	assert_true(
	    json_is_text(at(first, "method"), "notifications/progress"));
	assert_true(json_is_text(at(first, "params>progressToken"), "t"));
	assert_true(json_is_text(at(first, "params>message"), "2 s so far"));
	silence(client);
	mcp_progress(client->mcp, now + 6000000);
	silence(client);
	mcp_progress(client->mcp, now + 7200000);
	second = hear(client);
	assert_true(json_real_value(at(second, "params>progress")) >
		    json_real_value(at(first, "params>progress")));
	silence(client);
	json_decref(first);
	json_decref(second);
	fake_room_finish(client->room, 0, OUTCOME_OK, "", "");
	json_decref(hear(client));
	mcp_progress(client->mcp, now + 60000000);
	silence(client);
}

static void
test_progress_without_a_message(void **state)
{
	struct client *client = *state;
	json_t *message;

	handshake(client, HANDSHAKE("2024-11-05"));
	say(client, CALL("1", ",'_meta':{'progressToken':9}"));
	mcp_progress(client->mcp, clock_us() + 2000000);
	message = hear(client);
	assert_int_equal(
	    json_integer_value(at(message, "params>progressToken")), 9);
	assert_null(at(message, "params>message"));
	json_decref(message);
	refuses(
	    client, CALL("2", ",'_meta':{'progressToken':1.5}"), "2", -32602);
	say(client, CALL("2", ",'_meta':{'progressToken':null}"));
	assert_int_equal(client->room->submitted, 2);
}

/* Output of a running call is told as it appears: at once at first, then what
 * has come together, with what is longer cut at its front. */
static void
test_progress_with_output(void **state)
{
	struct client *client = *state;
	json_t *message;
	struct call *call;
	char *text = malloc(3u * PROGRESS_TEXT_MAX + 1);
	const char *told;

	assert_non_null(text);
	handshake(client, HANDSHAKE("2025-11-25"));
	say(client, CALL("1", ""));
	assert_null(client->room->calls[0]->on_output); /* nobody asked */
	say(client, CALL("2", ",'_meta':{'progressToken':'t'}"));
	call = client->room->calls[1];
	assert_non_null(call->on_output);
	usleep(20000); /* progress must grow */
	call->on_output(call, false, span_of("one\n"));
	message = hear(client);
	assert_true(json_is_text(at(message, "params>message"), "one\n"));
	json_decref(message);
	call->on_output(call, true, span_of("oh"));
	call->on_output(call, false, span_of("two"));
	call->on_output(call, false, (struct span){ (uint8_t *)"\0", 1 });
	silence(client); /* so soon */
	mcp_progress(client->mcp, clock_us() + 300000);
	message = hear(client);
	assert_true(
	    json_is_text(at(message, "params>message"), "two?\n[stderr]\noh"));
	json_decref(message);
	for (size_t i = 0; i < PROGRESS_TEXT_MAX; i++)
		memcpy(text + 3 * i, "\xe2\x82\xac", 3);
	text[3u * PROGRESS_TEXT_MAX] = '\0';
	call->on_output(call, false, span_of(text));
	call->on_output(call, false, span_of(text + 3u * 2000));
	mcp_progress(client->mcp, clock_us() + 900000);
	message = hear(client);
	told = json_string_value(at(message, "params>message"));
	assert_int_equal(strncmp(told, "...\n\xe2\x82\xac", 7), 0);
	assert_true(strlen(told) <= PROGRESS_TEXT_MAX + 4);
	assert_true(strlen(told) > PROGRESS_TEXT_MAX);
	json_decref(message);
	silence(client);
	free(text);
	fake_room_finish(client->room, 1, OUTCOME_OK, "", "");
	json_decref(hear(client));
}

/* ---- batches ---- */

static void
test_batch(void **state)
{
	struct client *client = *state;
	json_t *message;

	handshake(client, HANDSHAKE("2025-03-26"));
	say(client, "[" OLD("1", "ping", "") "," CALL("2", "") "," CALL("3",
			"") ",7,{'jsonrpc':'2.0','method':'notifications/"
			    "x'}," MODERN("4", "tools/list", "") "," HANDSHAKE(
				"2025-03-26") "]");
	silence(client);
	assert_int_equal(peer_busy(client->peer), 2);
	fake_room_finish(client->room, 1, OUTCOME_OK, "three", "");
	silence(client);
	fake_room_finish(client->room, 0, OUTCOME_OK, "two", "");
	message = hear(client);
	silence(client);
	assert_int_equal(json_array_size(message), 6);
	assert_int_equal(json_integer_value(at(message, "0>id")), 1);
	assert_int_equal(
	    json_integer_value(at(message, "1>error>code")), -32600);
	assert_true(json_is_null(at(message, "1>id")));
	assert_int_equal(
	    json_integer_value(at(message, "2>error>code")), -32600);
	assert_int_equal(
	    json_integer_value(at(message, "3>error>code")), -32600);
	assert_true(
	    json_is_text(at(message, "4>result>content>0>text"), "three"));
	assert_int_equal(json_integer_value(at(message, "5>id")), 2);
	json_decref(message);
	say(client, "[{'jsonrpc':'2.0','method':'notifications/x'}]");
	silence(client);
	refuses(client, "[]", "null", -32600);
}

static void
test_batch_cancelled(void **state)
{
	struct client *client = *state;
	json_t *message;

	handshake(client, HANDSHAKE("2025-03-26"));
	say(client, "[" CALL("1", "") "," CALL("2", "") "]");
	say(client, CANCEL("1"));
	silence(client);
	fake_room_finish(client->room, 1, OUTCOME_OK, "", "");
	message = hear(client);
	assert_int_equal(json_array_size(message), 1);
	json_decref(message);
	say(client, "[" CALL("1", "") "]");
	say(client, CANCEL("1"));
	silence(client);
}

/* A hundred long answers still fit one message. */
static void
test_batch_sizes(void **state)
{
	struct client *client = *state;
	own_buf struct buf text, out;
	json_t *message;

	handshake(client, HANDSHAKE("2025-03-26"));
	buf_init(&text, MIB);
	buf_init(&out, MIB);
	for (unsigned i = 0; i < BATCH_MAX; i++)
		(void)buf_printf(&text, "%s" CALL("%u", ""), i ? "," : "[", i);
	(void)buf_add(&text, "]", 2);
	for (int i = 0; i < 50000; i++)
		(void)buf_add_text(&out, "\x01");
	(void)buf_add(&out, "", 1);
	say(client, (char *)text.p);
	assert_int_equal(peer_busy(client->peer), BATCH_MAX);
	while (client->room->held > 0)
		fake_room_finish(
		    client->room, 0, OUTCOME_OK, (char *)out.p, "");
	message = hear(client);
	assert_int_equal(json_array_size(message), BATCH_MAX);
	json_decref(message);
	text.n -= 2;
	(void)buf_add(&text, ",1]", 4);
	refuses(client, (char *)text.p, "null", -32600);
}

static void
test_no_batches(void **state)
{
	struct client *client = *state;

	refuses(client, "[" OLD("1", "ping", "") "]", NULL, -32600);
	handshake(client, HANDSHAKE("2025-06-18"));
	refuses(client, "[" OLD("1", "ping", "") "," OLD("2", "ping", "") "]",
	    "null", -32600);
}

/* ---- subscriptions ---- */

static void
test_listen(void **state)
{
	struct client *client = *state;

	say(client, MODERN("'s'", "subscriptions/listen",
			",'notifications':{'toolsListChanged':true,"
			"'resourceSubscriptions':['file:///x']}"));
	hears(client,
	    "{'jsonrpc':'2.0','method':"
	    "'notifications/subscriptions/acknowledged','params':{'_meta':{"
	    "'io.modelcontextprotocol/subscriptionId':'s'},"
	    "'notifications':{}}}");
	say(client, MODERN("5", "subscriptions/listen", ",'notifications':{}"));
	json_decref(hear(client));
	assert_int_equal(peer_busy(client->peer), 0);
	refuses(client, MODERN("5", "tools/list", ""), "5", -32600);
	say(client, CANCEL("5"));
	silence(client);
	peer_end_subscriptions(client->peer);
	hears(client,
	    "{'jsonrpc':'2.0','id':'s','result':{'resultType':'complete',"
	    "'_meta':{'io.modelcontextprotocol/subscriptionId':'s',"
	    "'io.modelcontextprotocol/serverInfo':{'name':'breakroom',"
	    "'version':'" BREAKROOM_VERSION "','title':'Breakroom'}}}}");
	hears(client, "{'jsonrpc':'2.0','method':'notifications/cancelled',"
		      "'params':{'requestId':'s'}}");
	silence(client);
}

static void
test_listen_bad(void **state)
{
	struct client *client = *state;
	char text[512];

	refuses(client, MODERN("1", "subscriptions/listen", ""), "1", -32602);
	refuses(client,
	    MODERN("1", "subscriptions/listen",
		",'notifications':{'toolsListChanged':1}"),
	    "1", -32602);
	refuses(client,
	    MODERN("1", "subscriptions/listen",
		",'notifications':{'resourceSubscriptions':[1]}"),
	    "1", -32602);
	for (unsigned i = 0; i < LISTEN_MAX; i++) {
		(void)snprintf(text, sizeof(text),
		    MODERN("%u", "subscriptions/listen", ",'notifications':{}"),
		    i);
		say(client, text);
		json_decref(hear(client));
	}
	refuses(client,
	    MODERN("99", "subscriptions/listen", ",'notifications':{}"), "99",
	    -32600);
}

/* ---- bounds ---- */

/* Says calls of the longest code until one is refused, with text as the last
 * that was said. */
static void
fill(struct client *client, struct peer *peer, char *text)
{
	json_t *message;

	for (unsigned n = 0; json_array_size(client->got) == 0; n++) {
		int begun = snprintf(text, 512,
		    "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"tools/call\","
		    "\"params\":{\"name\":\"run_python\",\"arguments\":{"
		    "\"code\":\"",
		    n);

		assert_true(n < 1000);
		memset(text + begun, '#', CODE_MAX);
		memcpy(text + begun + CODE_MAX, "\"}}}", 5);
		(void)peer_receive(peer, NULL, span_of(text), NULL);
	}
	message = hear(client);
	assert_true(json_is_true(at(message, "result>isError")));
	assert_true(json_is_text(
	    at(message, "result>_meta>breakroom/result>outcome"), "refused"));
	json_decref(message);
}

static void
test_bytes_in_flight(void **state)
{
	struct client *client = *state;
	own_mem char *text = malloc(CODE_MAX + 512);

	handshake(client, HANDSHAKE("2025-11-25"));
	fill(client, client->peer, text);
	assert_int_equal(client->room->held, CALLS_BYTES_MAX / CODE_MAX);
	fake_room_finish(client->room, 0, OUTCOME_OK, "", "");
	json_decref(hear(client));
	(void)peer_receive(
	    client->peer, NULL, span_of(text), NULL); /* now there is room */
	silence(client);
}

/* A peer of somebody, after its handshake. */
static struct peer *
peer_of(struct client *client, const char *name)
{
	struct principal *principal = principal_new("token", name);
	struct peer *peer = peer_new(client->mcp,
	    &(struct peer_conf){
		.principal = principal, .send = on_message, .arg = client });
	struct peer *before = client->peer;

	principal_release(principal); /* the peer holds it */
	client->peer = peer;
	handshake(client, HANDSHAKE("2025-11-25"));
	client->peer = before;
	return peer;
}

/* Nobody takes what is there for all. */
static void
test_bytes_of_one(void **state)
{
	struct client *client = *state;
	struct peer *alice = peer_of(client, "alice");
	struct peer *bob = peer_of(client, "bob");
	own_mem char *text = malloc(CODE_MAX + 512);

	fill(client, alice, text);
	assert_int_equal(client->room->held, CALLS_BYTES_OF_ONE / CODE_MAX);
	(void)peer_receive(bob, NULL, span_of(text), NULL);
	silence(client);
	assert_int_equal(client->room->held, CALLS_BYTES_OF_ONE / CODE_MAX + 1);
	fake_room_finish(client->room, 0, OUTCOME_OK, "", "");
	json_decref(hear(client));
	(void)peer_receive(alice, NULL, span_of(text), NULL);
	silence(client);
	peer_close(alice);
	peer_close(bob);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cancel),
		TEST(test_close_with_calls),
		TEST(test_progress),
		TEST(test_progress_without_a_message),
		TEST(test_progress_with_output),
		TEST(test_batch),
		TEST(test_batch_cancelled),
		TEST(test_batch_sizes),
		TEST(test_no_batches),
		TEST(test_listen),
		TEST(test_listen_bad),
		TEST(test_bytes_in_flight),
		TEST(test_bytes_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
