/* test_mcp.c: handshakes, revisions and methods of the protocol core.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp_client.h"

/* ---- the handshake ---- */

static void
check_handshake(struct client *client, const char *text, const char *revision)
{
	json_t *message;

	say(client, text);
	message = hear(client);
	assert_true(json_is_text(at(message, "id"), "init"));
	assert_true(
	    json_is_text(at(message, "result>protocolVersion"), revision));
	assert_int_equal(json_object_size(at(message, "result")), 4);
	assert_int_equal(
	    json_object_size(at(message, "result>capabilities")), 1);
	assert_int_equal(
	    json_object_size(at(message, "result>capabilities>tools")), 0);
	assert_true(
	    json_is_text(at(message, "result>serverInfo>name"), "breakroom"));
	assert_int_equal(at(message, "result>serverInfo>title") != NULL,
	    strcmp(revision, "2025-06-18") >= 0);
	json_decref(message);
	silence(client);
}

static void
test_handshake_old(void **state)
{
	check_handshake(*state, HANDSHAKE("2024-11-05"), "2024-11-05");
}

static void
test_handshake_newer(void **state)
{
	check_handshake(*state, HANDSHAKE("2025-06-18"), "2025-06-18");
	refuses(*state, HANDSHAKE("2025-06-18"), "\"init\"", -32600);
}

static void
test_handshake_unknown(void **state)
{
	check_handshake(*state, HANDSHAKE("1999-01-01"), "2025-11-25");
}

/* "initialize" never gives the revision that has none. */
static void
test_handshake_modern(void **state)
{
	check_handshake(*state, HANDSHAKE("2026-07-28"), "2025-11-25");
}

static void
test_handshake_bad(void **state)
{
	refuses(*state, OLD("1", "initialize", ""), "1", -32602);
	refuses(
	    *state, OLD("1", "initialize", "'protocolVersion':5"), "1", -32602);
	refuses(*state, MODERN("1", "initialize", ""), "1", -32601);
	/* It is not yet too late. */
	check_handshake(*state, HANDSHAKE("2025-11-25"), "2025-11-25");
}

static void
test_before_the_handshake(void **state)
{
	struct client *client = *state;

	say(client, OLD("1", "ping", ""));
	hears(client, "{'jsonrpc':'2.0','id':1,'result':{}}");
	refuses(client, OLD("1", "tools/list", ""), "1", -32600);
	refuses(client, CALL("1", ""), "1", -32600);
	refuses(client, OLD("1", "no/such", ""), "1", -32600);
	say(client, MODERN("1", "tools/list", ""));
	json_decref(hear(client));
	silence(client);
	assert_int_equal(client->room->submitted, 0);
}

/* ---- both eras ---- */

static void
test_unknown_methods(void **state)
{
	struct client *client = *state;

	handshake(client, HANDSHAKE("2025-11-25"));
	refuses(client, OLD("1", "logging/setLevel", "'level':'info'"), "1",
	    -32601);
	refuses(client, OLD("1", "resources/list", ""), "1", -32601);
	refuses(client, OLD("1", "prompts/list", ""), "1", -32601);
	refuses(client, OLD("1", "rpc.discover", ""), "1", -32601);
	refuses(client, OLD("1", "ping\\u0000", ""), "1", -32601);
	refuses(client, MODERN("1", "ping", ""), "1", -32601);
	refuses(client, MODERN("1", "logging/setLevel", ""), "1", -32601);
	refuses(client, MODERN("1", "resources/read", ""), "1", -32601);
}

static void
test_ids_come_back(void **state)
{
	struct client *client = *state;

	say(client, OLD("'5'", "ping", ""));
	hears(client, "{'jsonrpc':'2.0','id':'5','result':{}}");
	say(client, OLD("''", "ping", ""));
	hears(client, "{'jsonrpc':'2.0','id':'','result':{}}");
	say(client, OLD("-9223372036854775808", "ping", ""));
	hears(
	    client, "{'jsonrpc':'2.0','id':-9223372036854775808,'result':{}}");
	refuses(client, OLD("5.0", "ping", ""), NULL, -32600);
	refuses(client, OLD("null", "ping", ""), NULL, -32600);
	refuses(client, OLD("9223372036854775808", "ping", ""), NULL, -32700);
}

static void
test_discover(void **state)
{
	struct client *client = *state;
	json_t *message, *versions;

	say(client, MODERN("1", "server/discover", ""));
	message = hear(client);
	assert_true(json_is_text(at(message, "result>resultType"), "complete"));
	assert_true(json_is_text(at(message, "result>cacheScope"), "public"));
	assert_true(json_integer_value(at(message, "result>ttlMs")) > 0);
	assert_true(json_is_text(
	    at(message, "result>_meta>io.modelcontextprotocol/serverInfo>name"),
	    "breakroom"));
	versions = at(message, "result>supportedVersions");
	assert_int_equal(json_array_size(versions), 5);
	assert_true(json_is_text(json_array_get(versions, 0), "2026-07-28"));
	assert_true(json_is_text(json_array_get(versions, 4), "2024-11-05"));
	json_decref(message);
	/* After a handshake as well. */
	handshake(client, HANDSHAKE("2024-11-05"));
	say(client, MODERN("1", "server/discover", ""));
	json_decref(hear(client));
	refuses(client, OLD("1", "server/discover", ""), "1", -32602);
}

static void
test_modern_metadata(void **state)
{
	struct client *client = *state;
	json_t *message;

#define V "'io.modelcontextprotocol/protocolVersion':'2026-07-28'"
#define C "'io.modelcontextprotocol/clientCapabilities':{}"
	refuses(client, OLD("1", "tools/list", "'_meta':{" V "}"), "1", -32602);
	refuses(client,
	    OLD("1", "tools/list",
		"'_meta':{" C ",'io.modelcontextprotocol/protocolVersion':5}"),
	    "1", -32602);
	refuses(client,
	    OLD("1", "tools/list",
		"'_meta':{" V
		",'io.modelcontextprotocol/clientCapabilities':[]}"),
	    "1", -32602);
	refuses(client,
	    OLD("1", "tools/list",
		"'_meta':{" V "," C
		",'io.modelcontextprotocol/logLevel':'loud'}"),
	    "1", -32602);
	refuses(client,
	    OLD("1", "tools/list",
		"'_meta':{" V "," C
		",'io.modelcontextprotocol/clientInfo':'me'}"),
	    "1", -32602);
	refuses(client,
	    OLD("1", "tools/list", "'_meta':{" V "," C ",'progressToken':{}}"),
	    "1", -32602);
	refuses(client, OLD("1", "subscriptions/listen", ""), "1", -32602);
	say(client,
	    OLD("1", "tools/list",
		"'_meta':{" C
		",'io.modelcontextprotocol/protocolVersion':'2025-11-25'}"));
	message = hears_error(client, "1", -32022);
	assert_true(
	    json_is_text(at(message, "error>data>requested"), "2025-11-25"));
	assert_int_equal(
	    json_array_size(at(message, "error>data>supported")), 5);
	json_decref(message);
#undef V
#undef C
}

static void
test_stray_messages(void **state)
{
	struct client *client = *state;

	say(client, "{'jsonrpc':'2.0','id':1,'result':{}}");
	say(client, "{'jsonrpc':'2.0','id':1,'error':{'code':1}}");
	say(client, "{'jsonrpc':'2.0','method':'notifications/none'}");
	say(client, "{'jsonrpc':'2.0','method':'tools/call'}");
	say(client, "{'jsonrpc':'2.0','method':'notifications/cancelled'}");
	say(client, "{'jsonrpc':'2.0','method':'notifications/cancelled',"
		    "'params':{'requestId':{}}}");
	say(client, "");
	say(client, " \t\r");
	silence(client);
	assert_int_equal(client->room->submitted, 0);
}

/* An error that can name no request says null, or nothing: by revision. */
static void
test_errors_without_an_id(void **state)
{
	struct client *client = *state;

	refuses(client, "{", NULL, -32700);
	handshake(client, HANDSHAKE("2025-06-18"));
	refuses(client, "{", "null", -32700);
	refuses(client, "[]", "null", -32600);
	refuses(client, "{'id':7,'x':'\\ud800'}", "7", -32700);
	peer_receive_too_long(client->peer);
	json_decref(hears_error(client, "null", -32600));
}

/* ---- tools ---- */

static void
test_list(void **state)
{
	struct client *client = *state;
	json_t *message, *tool;

	handshake(client, HANDSHAKE("2024-11-05"));
	say(client, "{'jsonrpc':'2.0','id':1,'method':'tools/list'}");
	message = hear(client);
	assert_int_equal(json_object_size(at(message, "result")), 1);
	assert_int_equal(json_array_size(at(message, "result>tools")), 1);
	tool = at(message, "result>tools>0");
	assert_int_equal(json_object_size(tool), 3);
	assert_true(json_is_text(at(tool, "name"), "run_python"));
	assert_true(json_is_text(at(tool, "description"), "the description"));
	json_decref(message);
	say(client, MODERN("1", "tools/list", ""));
	message = hear(client);
	assert_true(json_is_text(at(message, "result>resultType"), "complete"));
	assert_true(json_is_text(at(message, "result>cacheScope"), "public"));
	assert_null(at(message, "result>nextCursor"));
	tool = at(message, "result>tools>0");
	assert_true(json_is_false(at(tool, "annotations>openWorldHint")));
	assert_null(at(tool, "outputSchema"));
	json_decref(message);
	client->conf.structured = STRUCTURED_ALWAYS;
	say(client, MODERN("1", "tools/list", ""));
	message = hear(client);
	assert_true(json_is_text(
	    at(message, "result>tools>0>outputSchema>type"), "object"));
	json_decref(message);
	refuses(client, OLD("1", "tools/list", "'cursor':'x'"), "1", -32602);
	refuses(client, OLD("1", "tools/list", "'cursor':''"), "1", -32602);
	refuses(client, OLD("1", "tools/list", "'cursor':5"), "1", -32602);
}

static void
test_bad_calls(void **state)
{
	struct client *client = *state;

	handshake(client, HANDSHAKE("2025-11-25"));
	refuses(client, OLD("1", "tools/call", ""), "1", -32602);
	refuses(client, "{'jsonrpc':'2.0','id':1,'method':'tools/call'}", "1",
	    -32602);
	refuses(client, OLD("1", "tools/call", "'name':5"), "1", -32602);
	refuses(client, OLD("1", "tools/call", "'name':'rm'"), "1", -32602);
	refuses(client, OLD("1", "tools/call", "'name':'run_python\\u0000'"),
	    "1", -32602);
	refuses(client,
	    OLD("1", "tools/call", "'name':'run_python','arguments':[]"), "1",
	    -32602);
	assert_int_equal(client->room->submitted, 0);
}

/* What is wrong with arguments is told to the model, as a result. */
static void
test_bad_arguments(void **state)
{
	struct client *client = *state;
	json_t *message;

	handshake(client, HANDSHAKE("2025-11-25"));
	say(client, OLD("1", "tools/call", "'name':'run_python'"));
	message = hear(client);
	assert_true(json_is_true(at(message, "result>isError")));
	assert_true(json_is_text(at(message, "result>content>0>text"),
	    "code is required: the Python source to run"));
	assert_true(json_is_text(
	    at(message, "result>_meta>breakroom/result>outcome"), "refused"));
	assert_int_equal(
	    json_integer_value(at(message, "result>structuredContent>"
					   "exit_code")),
	    -1);
	json_decref(message);
	say(client, OLD("2", "tools/call",
			"'name':'run_python','arguments':{'code':'','x':1}"));
	message = hear(client);
	assert_true(json_is_true(at(message, "result>isError")));
	json_decref(message);
	silence(client);
	assert_int_equal(client->room->submitted, 0);
	assert_int_equal(peer_busy(client->peer), 0);
}

static void
test_call(void **state)
{
	struct client *client = *state;
	json_t *message;

	handshake(client, HANDSHAKE("2025-11-25"));
	say(client, CALL("1", ""));
	silence(client);
	assert_int_equal(peer_busy(client->peer), 1);
	assert_int_equal(client->room->calls[0]->code.n, 8);
	/* The reader is not blocked by it. */
	say(client, OLD("2", "ping", ""));
	hears(client, "{'jsonrpc':'2.0','id':2,'result':{}}");
	fake_room_finish(client->room, 0, OUTCOME_OK, "1\n", "");
	assert_int_equal(peer_busy(client->peer), 0);
	hears(client,
	    "{'jsonrpc':'2.0','id':1,'result':{'content':[{'type':'text',"
	    "'text':'1\\n'}],'isError':false,'_meta':{'breakroom/result':{"
	    "'exit_code':0,'timed_out':false,'truncated':false,"
	    "'duration_ms':2.3,'queued_ms':1.3,'memory_peak_bytes':4096,"
	    "'room':'wasm','outcome':'ok'}},'structuredContent':{"
	    "'stdout':'1\\n','stderr':'','exit_code':0,'timed_out':false,"
	    "'truncated':false,'duration_ms':2.3,'queued_ms':1.3,"
	    "'memory_peak_bytes':4096,'room':'wasm'}}}");
	say(client, MODERN("1", "tools/call",
			",'name':'run_python','arguments':{'code':''}"));
	fake_room_finish(client->room, 0, OUTCOME_RAISED, "", "Error\n");
	message = hear(client);
	assert_true(json_is_text(at(message, "result>resultType"), "complete"));
	assert_true(json_is_true(at(message, "result>isError")));
	assert_true(json_is_text(at(message, "result>content>0>text"),
	    "[stderr]\nError\n[exit code 1]"));
	assert_non_null(at(message,
	    "result>_meta>io.modelcontextprotocol/serverInfo>version"));
	assert_null(at(message, "result>ttlMs"));
	json_decref(message);
}

static void
test_answers_come_as_calls_end(void **state)
{
	struct client *client = *state;
	json_t *message;

	handshake(client, HANDSHAKE("2025-03-26"));
	say(client, CALL("1", ""));
	say(client, CALL("'1'", "")); /* another id */
	assert_int_equal(peer_busy(client->peer), 2);
	fake_room_finish(client->room, 1, OUTCOME_OK, "two", "");
	message = hear(client);
	assert_true(json_is_text(at(message, "id"), "1"));
	assert_true(json_is_text(at(message, "result>content>0>text"), "two"));
	json_decref(message);
	fake_room_finish(client->room, 0, OUTCOME_OK, "one", "");
	message = hear(client);
	assert_int_equal(json_integer_value(at(message, "id")), 1);
	assert_true(json_is_text(at(message, "result>content>0>text"), "one"));
	json_decref(message);
}

static void
test_an_id_in_flight(void **state)
{
	struct client *client = *state;

	handshake(client, HANDSHAKE("2025-11-25"));
	say(client, CALL("1", ""));
	refuses(client, CALL("1", ""), "1", -32600);
	refuses(client, OLD("1", "ping", ""), "1", -32600);
	assert_int_equal(client->room->submitted, 1);
	fake_room_finish(client->room, 0, OUTCOME_OK, "", "");
	json_decref(hear(client));
	say(client, CALL("1", "")); /* it is free again */
	assert_int_equal(client->room->submitted, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_handshake_old),
		TEST(test_handshake_newer),
		TEST(test_handshake_unknown),
		TEST(test_handshake_modern),
		TEST(test_handshake_bad),
		TEST(test_before_the_handshake),
		TEST(test_unknown_methods),
		TEST(test_ids_come_back),
		TEST(test_discover),
		TEST(test_modern_metadata),
		TEST(test_stray_messages),
		TEST(test_errors_without_an_id),
		TEST(test_list),
		TEST(test_bad_calls),
		TEST(test_bad_arguments),
		TEST(test_call),
		TEST(test_answers_come_as_calls_end),
		TEST(test_an_id_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
