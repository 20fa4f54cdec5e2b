/* test_mcp_http.c: what the core makes of messages that come by HTTP: headers
 * against bodies, statuses, and clients without a handshake.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp_client.h"

static char a_route;

#define ROUTE ((void *)&a_route)
#define NOW   "2026-07-28"

/* A request as it comes: NULL is a header that is not there. */
struct post {
	const char *version, *method, *name;
	const char *body; /* ' for " */
};

static struct span
header(const char *text)
{
	return text ? span_of(text) : (struct span){ NULL, 0 };
}

static enum received
post_by(struct client *client, struct peer *peer, const struct post *post)
{
	own_mem char *copy = strdup(post->body);
	const struct peer_headers headers = { .version = header(post->version),
		.method = header(post->method),
		.name = header(post->name) };

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	client->sent = (struct sent){ 0 };
	return peer_receive(peer, ROUTE, span_of(copy), &headers);
}

/* By a peer of its own, as a server without sessions makes one. */
static enum received
post(struct client *client, const struct post *post)
{
	struct peer *peer = peer_new(client->mcp,
	    &(struct peer_conf){
		.kind = PEER_STATELESS, .send = on_message, .arg = client });
	enum received received = post_by(client, peer, post);

	peer_close(peer);
	return received;
}

static void
is_refused(struct client *client, const struct post *post_, unsigned status,
    int code, const char *id)
{
	json_t *error;

	assert_int_equal(post(client, post_), RECEIVED_REQUEST);
	assert_int_equal(client->sent.status, status);
	assert_ptr_equal(client->route, ROUTE);
	error = hears_error(client, id, code);
	json_decref(error);
	silence(client);
}

static void
is_answered(struct client *client, const struct post *post_)
{
	json_t *message;

	assert_int_equal(post(client, post_), RECEIVED_REQUEST);
	assert_int_equal(client->sent.status, 200);
	message = hear(client);
	assert_non_null(json_object_get(message, "result"));
	json_decref(message);
	silence(client);
}

#define LIST       MODERN("7", "tools/list", "")
#define CALL_NAMED MODERN("7", "tools/call", ",'name':'run_python'")

static void
test_modern_headers(void **state)
{
	struct client *client = *state;

	is_answered(client, &(struct post){ NOW, "tools/list", NULL, LIST });
	is_refused(client, &(struct post){ NULL, "tools/list", NULL, LIST },
	    400, -32020, "7");
	is_refused(client,
	    &(struct post){ "2025-11-25", "tools/list", NULL, LIST }, 400,
	    -32020, "7");
	is_refused(
	    client, &(struct post){ NOW, NULL, NULL, LIST }, 400, -32020, "7");
	is_refused(client, &(struct post){ NOW, "Tools/list", NULL, LIST }, 400,
	    -32020, "7");
	is_refused(client, &(struct post){ NOW, "ping", NULL, LIST }, 400,
	    -32020, "7");
}

static void
test_modern_names(void **state)
{
	struct client *client = *state;

	is_refused(client,
	    &(struct post){ NOW, "tools/call", NULL, CALL_NAMED }, 400, -32020,
	    "7");
	is_refused(client,
	    &(struct post){ NOW, "tools/call", "run_pythom", CALL_NAMED }, 400,
	    -32020, "7");
	is_refused(client,
	    &(struct post){
		NOW, "tools/call", "=?base64?cnVuX3B5dGhvbg?=", CALL_NAMED },
	    400, -32020, "7");
	/* The name is right in both forms; then the arguments are looked at.
	 */
	is_answered(client,
	    &(struct post){ NOW, "tools/call", "run_python", CALL_NAMED });
	is_answered(client, &(struct post){ NOW, "tools/call",
				"=?base64?cnVuX3B5dGhvbg==?=", CALL_NAMED });
	/* No name in the body: that is what is wrong. */
	is_refused(client,
	    &(struct post){
		NOW, "tools/call", NULL, MODERN("7", "tools/call", "") },
	    200, -32602, "7");
	is_refused(client,
	    &(struct post){
		NOW, "tools/call", "x", MODERN("7", "tools/call", "") },
	    400, -32020, "7");
}

static void
test_modern_versions(void **state)
{
	struct client *client = *state;
	const char *later =
	    "{'jsonrpc':'2.0','id':7,'method':'tools/list','params':{'_meta':{"
	    "'io.modelcontextprotocol/protocolVersion':'2027-01-01',"
	    "'io.modelcontextprotocol/clientCapabilities':{}}}}";
	const char *bare = "{'jsonrpc':'2.0','id':7,'method':'tools/list'}";

	is_refused(client,
	    &(struct post){ "2027-01-01", "tools/list", NULL, later }, 400,
	    -32022, "7");
	is_refused(client, &(struct post){ NOW, "tools/list", NULL, later },
	    400, -32020, "7");
	/* The header makes it modern: its metadata is missed. */
	is_refused(client, &(struct post){ NOW, "tools/list", NULL, bare }, 400,
	    -32602, "7");
}

static void
test_modern_methods(void **state)
{
	struct client *client = *state;

	is_refused(client,
	    &(struct post){ NOW, "ping", NULL, MODERN("7", "ping", "") }, 404,
	    -32601, "7");
	is_refused(client,
	    &(struct post){ NOW, "no/such", NULL, MODERN("7", "no/such", "") },
	    404, -32601, "7");
	is_refused(client,
	    &(struct post){ NOW, "tools/list", NULL,
		MODERN("7", "tools/list", ",'cursor':5") },
	    200, -32602, "7");
	is_answered(client, &(struct post){ NOW, "server/discover", NULL,
				MODERN("7", "server/discover", "") });
}

static void
test_broken(void **state)
{
	struct client *client = *state;

	is_refused(
	    client, &(struct post){ NOW, NULL, NULL, "{" }, 400, -32700, NULL);
	is_refused(
	    client, &(struct post){ NOW, NULL, NULL, "" }, 400, -32700, NULL);
	is_refused(client,
	    &(struct post){ NOW, NULL, NULL,
		"{'jsonrpc':'2.0','id':null,'method':'ping'}" },
	    400, -32600, NULL);
}

static void
test_not_requests(void **state)
{
	struct client *client = *state;
	struct post note = { NOW, "notifications/x", NULL,
		"{'jsonrpc':'2.0','method':'notifications/x'}" };
	struct post response = { NOW, NULL, NULL,
		"{'jsonrpc':'2.0','id':1,'result':{}}" };

	assert_int_equal(post(client, &note), RECEIVED_NOTHING);
	silence(client);
	assert_int_equal(post(client, &response), RECEIVED_REFUSED);
	assert_int_equal(client->sent.status, 400);
	json_decref(hears_error(client, NULL, -32600));
	/* A legacy client may send one that nobody waits for. */
	response.version = "2025-11-25";
	assert_int_equal(post(client, &response), RECEIVED_NOTHING);
	response.version = "1999-01-01";
	assert_int_equal(post(client, &response), RECEIVED_REFUSED);
	json_decref(hears_error(client, NULL, -32600));
	silence(client);
}

/* Without sessions, a legacy client is served as if it had shaken hands. */
static void
test_legacy(void **state)
{
	struct client *client = *state;
	const char *list = OLD("'a'", "tools/list", "");

	is_answered(client, &(struct post){ NULL, NULL, NULL, list });
	is_answered(client, &(struct post){ "2025-11-25", NULL, NULL, list });
	is_answered(client, &(struct post){ "2024-11-05", NULL, NULL, list });
	is_refused(client, &(struct post){ "2025-11-26", NULL, NULL, list },
	    400, -32022, "\"a\"");
	is_refused(client, &(struct post){ "latest", NULL, NULL, list }, 400,
	    -32022, "\"a\"");
	is_answered(client,
	    &(struct post){ NULL, NULL, NULL, HANDSHAKE("2025-11-25") });
	is_answered(
	    client, &(struct post){ NULL, NULL, NULL, OLD("'a'", "ping", "") });
	/* An error of a method is an answer like others. */
	is_refused(client,
	    &(struct post){ NULL, NULL, NULL, OLD("'a'", "no/such", "") }, 200,
	    -32601, "\"a\"");
}

static void
test_batches(void **state)
{
	struct client *client = *state;
	const char *two = "[{'jsonrpc':'2.0','id':1,'method':'ping'},"
			  "{'jsonrpc':'2.0','id':2,'method':'ping'}]";
	json_t *answers;

	assert_int_equal(post(client, &(struct post){ NULL, NULL, NULL, two }),
	    RECEIVED_REQUEST);
	answers = hear(client);
	assert_int_equal(json_array_size(answers), 2);
	json_decref(answers);
	assert_int_equal(
	    post(
		client, &(struct post){ NULL, NULL, NULL,
			    "[{'jsonrpc':'2.0','method':'notifications/x'}]" }),
	    RECEIVED_NOTHING);
	silence(client);
	assert_int_equal(
	    post(client, &(struct post){ "2025-11-25", NULL, NULL, two }),
	    RECEIVED_REFUSED);
	assert_int_equal(client->sent.status, 400);
	json_decref(hears_error(client, NULL, -32600));
}

static void
test_sessions_wanted(void **state)
{
	struct client *client = *state;
	struct post note = { NULL, NULL, NULL,
		"{'jsonrpc':'2.0','method':'notifications/initialized'}" };

	client->conf.sessions = true;
	is_refused(client,
	    &(struct post){ NULL, NULL, NULL, OLD("1", "tools/list", "") }, 400,
	    -32600, "1");
	assert_int_equal(post(client, &note), RECEIVED_REFUSED);
	json_decref(hears_error(client, NULL, -32600));
	/* The modern era knows none. */
	is_answered(client, &(struct post){ NOW, "tools/list", NULL, LIST });
	assert_true(mcp_is_initialize(span_of(
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}")));
	assert_false(mcp_is_initialize(
	    span_of("{\"jsonrpc\":\"2.0\",\"method\":\"initialize\"}")));
	assert_false(mcp_is_initialize(span_of("[{\"jsonrpc\":\"2.0\",\"id\":1,"
					       "\"method\":\"initialize\"}]")));
	assert_false(mcp_is_initialize(span_of("{")));
}

static struct peer *
session(struct client *client)
{
	struct peer *peer = peer_new(client->mcp,
	    &(struct peer_conf){
		.kind = PEER_SESSION, .send = on_message, .arg = client });

	assert_true(peer_restore(peer, "2025-11-25"));
	return peer;
}

static void
test_session(void **state)
{
	struct client *client = *state;
	struct peer *peer = session(client);
	struct post list = { NULL, NULL, NULL, OLD("1", "tools/list", "") };

	client->conf.sessions = true;
	assert_string_equal(peer_revision(peer), "2025-11-25");
	assert_int_equal(post_by(client, peer, &list), RECEIVED_REQUEST);
	json_decref(hear(client));
	list.version = "2025-11-25";
	assert_int_equal(post_by(client, peer, &list), RECEIVED_REQUEST);
	json_decref(hear(client));
	/* Another revision than the one that was agreed on. */
	list.version = "2025-06-18";
	assert_int_equal(post_by(client, peer, &list), RECEIVED_REQUEST);
	assert_int_equal(client->sent.status, 400);
	json_decref(hears_error(client, "1", -32022));
	assert_false(peer_restore(peer, "2026-07-28"));
	assert_false(peer_restore(peer, "x"));
	peer_close(peer);
}

/* What came by one route ends with it; the rest goes on. */
static void
test_route_gone(void **state)
{
	struct client *client = *state;
	struct peer *peer = session(client);
	char other;
	const struct peer_headers none = { .params_n = 0 };
	const struct post call = { NULL, NULL, NULL, CALL("1", "") };
	struct span second =
	    span_of("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
		    "\"params\":{\"name\":\"run_python\",\"arguments\":{"
		    "\"code\":\"\"}}}");

	assert_int_equal(post_by(client, peer, &call), RECEIVED_REQUEST);
	assert_int_equal(
	    peer_receive(peer, &other, second, &none), RECEIVED_REQUEST);
	assert_int_equal(peer_busy(peer), 2);
	peer_route_gone(peer, ROUTE);
	assert_int_equal(peer_busy(peer), 1);
	assert_int_equal(client->room->cancelled, 1);
	fake_room_finish(client->room, 0, OUTCOME_KILLED, "", "");
	silence(client);
	fake_room_finish(client->room, 0, OUTCOME_OK, "", "");
	json_decref(hear(client));
	assert_ptr_equal(client->route, &other);
	assert_false(client->sent.modern);
	peer_close(peer);
}

/* Whoever waits for a request that its client withdraws is told so. */
static void
test_withdrawn(void **state)
{
	struct client *client = *state;
	struct peer *peer = session(client);
	const struct peer_headers none = { .params_n = 0 };
	const struct post call = { NULL, NULL, NULL, CALL("1", "") };
	struct span cancel =
	    span_of("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		    "cancelled\",\"params\":{\"requestId\":1}}");

	(void)post_by(client, peer, &call);
	assert_int_equal(
	    peer_receive(peer, NULL, cancel, &none), RECEIVED_NOTHING);
	assert_int_equal(client->sent.kind, SENT_OVER);
	assert_ptr_equal(client->route, ROUTE);
	fake_room_finish(client->room, 0, OUTCOME_KILLED, "", "");
	silence(client);
	peer_close(peer);
}

static void
test_counts(void **state)
{
	struct client *client = *state;
	const struct mcp_stats *stats = mcp_stats(client->mcp);
	uint64_t errors = stats->errors, counted = 0;

	is_refused(
	    client, &(struct post){ NOW, NULL, NULL, "{" }, 400, -32700, NULL);
	is_refused(client,
	    &(struct post){ NULL, NULL, NULL, OLD("'a'", "no/such", "") }, 200,
	    -32601, "\"a\"");
	assert_int_equal(stats->errors, errors + 2);
	handshake(client, HANDSHAKE("2025-11-25"));
	say(client, CALL("1", ""));
	fake_room_finish(client->room, 0, OUTCOME_RAISED, "", "");
	json_decref(hear(client));
	assert_int_equal(stats->calls[ROOM_WASM][OUTCOME_RAISED], 1);
	assert_int_equal(stats->unanswered, 0);
	for (unsigned i = 0; i < CALL_BUCKETS; i++)
		counted += stats->buckets[i];
	assert_int_equal(counted, 1);
	say(client, CALL("1", ""));
	say(client, "{'jsonrpc':'2.0','method':'notifications/cancelled',"
		    "'params':{'requestId':1}}");
	fake_room_finish(client->room, 0, OUTCOME_KILLED, "", "");
	assert_int_equal(stats->calls[ROOM_WASM][OUTCOME_KILLED], 1);
	assert_int_equal(stats->unanswered, 1);
	say(client, "{'jsonrpc':'2.0','id':'q','result':{}}");
	assert_int_equal(stats->strays, 1);
	silence(client);
}

static bool
admit_one(void *arg, struct principal *principal, unsigned *ret_retry_s)
{
	unsigned *left = arg;

	(void)principal;
	*ret_retry_s = 17;
	return (*left)-- > 0;
}

static void
test_admission(void **state)
{
	struct client *client = *state;
	struct principal *principal = principal_new("token", "alice");
	struct peer *peer =
	    peer_new(client->mcp, &(struct peer_conf){ .kind = PEER_STATELESS,
				      .principal = principal,
				      .send = on_message,
				      .arg = client });
	const struct post call = { NOW, "tools/call", "run_python",
		MODERN("7", "tools/call",
		    ",'name':'run_python','arguments':{'code':''}") };
	const struct post old_call = { "2025-11-25", NULL, NULL,
		OLD("8", "tools/call",
		    "'name':'run_python','arguments':{'code':''}") };
	unsigned left = 1;
	json_t *message;

	principal_release(principal); /* the peer holds it */
	mcp_set_admission(client->mcp, admit_one, &left);
	(void)post_by(client, peer, &call);
	assert_ptr_equal(client->room->calls[0]->principal, principal);
	fake_room_finish(client->room, 0, OUTCOME_OK, "", "");
	json_decref(hear(client));
	(void)post_by(client, peer, &call);
	assert_int_equal(client->room->held, 0);
	message = hear(client);
	assert_non_null(
	    strstr(json_string_value(at(message, "error>message")), "17 s"));
	json_decref(message);
	assert_int_equal(client->sent.status, 429);
	assert_int_equal(client->sent.retry_s, 17);
	/* Clients of the older era look into the result alone. */
	left = 0;
	(void)post_by(client, peer, &old_call);
	message = hear(client);
	assert_true(json_is_true(at(message, "result>isError")));
	assert_non_null(strstr(
	    json_string_value(at(message, "result>content>0>text")), "17 s"));
	json_decref(message);
	assert_int_equal(client->sent.status, 200);
	peer_close(peer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_modern_headers),
		TEST(test_modern_names),
		TEST(test_modern_versions),
		TEST(test_modern_methods),
		TEST(test_broken),
		TEST(test_not_requests),
		TEST(test_legacy),
		TEST(test_batches),
		TEST(test_sessions_wanted),
		TEST(test_session),
		TEST(test_route_gone),
		TEST(test_withdrawn),
		TEST(test_counts),
		TEST(test_admission),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
