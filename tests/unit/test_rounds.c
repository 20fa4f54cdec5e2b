/* test_rounds.c: calls of several rounds, and the state between them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp_client.h"

#include "mcp/method.h"
#include "mcp/rounds.h"

#define ASKS                                                               \
	"'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'," \
	"'io.modelcontextprotocol/clientCapabilities':{'elicitation':{}}}"
#define ROUND(name, more)                                               \
	"{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{" ASKS \
	",'name':'" name "'" more "}}"

/* Asks once, and then says what it remembers and was told. */
static void
call(void *arg, struct request *request, json_t *arguments)
{
	struct round round;

	(void)arg;
	(void)arguments;
	if (!rounds_take(request, &round))
		return;
	if (round_response(&round, "q"))
		method_answer(
		    request, json_pack("{s:O?, s:O}", "state", round.state,
				 "said", round_response(&round, "q")));
	else
		rounds_ask(request,
		    json_pack("{s:{s:s, s:{}}}", "q", "method",
			"elicitation/create", "params"),
		    json_pack("{s:s}", "k", "v"));
	round_done(&round);
}

static json_t *
describe(void *arg, const struct revision *revision)
{
	(void)arg;
	(void)revision;
	return json_object();
}

static const struct tool tools[] = {
	{ .name = "one", .describe = describe, .call = call },
	{ .name = "two", .describe = describe, .call = call },
};

static const struct catalog catalog = { .name = "test",
	.title = "Test",
	.instructions = "",
	.tools = tools,
	.tools_n = 2 };

/* A client of that catalog. */
static int
setup_rounds(void **state)
{
	struct client *client;

	(void)setup(state);
	client = *state;
	client->mcp->catalog = &catalog;
	return 0;
}

/* The sealed state of a first round. */
static void
first(struct client *client, char *ret_sealed, size_t size)
{
	json_t *message;

	say(client, ROUND("one", ""));
	message = hear(client);
	assert_true(
	    json_is_text(at(message, "result>resultType"), "input_required"));
	assert_non_null(at(message, "result>inputRequests>q>method"));
	assert_true(
	    json_string_length(at(message, "result>requestState")) < size);
	(void)strcpy(
	    ret_sealed, json_string_value(at(message, "result>requestState")));
	json_decref(message);
}

/* The next round of tool with that sealed state. */
static void
again(struct client *client, const char *tool, const char *sealed)
{
	json_t *message = json_pack(
	    "{s:s, s:i, s:s, s:{s:{s:s, s:{s:{}}}, s:s, s:s, s:{s:{}}}}",
	    "jsonrpc", "2.0", "id", 1, "method", "tools/call", "params",
	    "_meta", META_VERSION, "2026-07-28", META_CAPABILITIES,
	    "elicitation", "name", tool, "requestState", sealed,
	    "inputResponses", "q");
	own_mem char *text = json_dumps(message, JSON_COMPACT);

	json_decref(message);
	(void)peer_receive(client->peer, NULL, span_of(text), NULL);
}

static void
refused(struct client *client, const char *tool, const char *sealed)
{
	again(client, tool, sealed);
	json_decref(hears_error(client, "1", -32602));
	silence(client);
}

static void
test_two_rounds(void **state)
{
	struct client *client = *state;
	char sealed[1024];
	json_t *message;

	first(client, sealed, sizeof(sealed));
	again(client, "one", sealed);
	message = hear(client);
	assert_true(json_is_text(at(message, "result>resultType"), "complete"));
	assert_true(json_is_text(at(message, "result>state>k"), "v"));
	json_decref(message);
}

static void
test_tampered(void **state)
{
	struct client *client = *state;
	char sealed[1024], longer[1100];
	size_t n;

	first(client, sealed, sizeof(sealed));
	n = strlen(sealed);
	(void)snprintf(longer, sizeof(longer), "%s-TAMPERED", sealed);
	refused(client, "one", longer);
	refused(client, "one", "");
	refused(client, "one", "x");
	for (size_t i = 0; i < n; i++) {
		sealed[i] ^= 1;
		refused(client, "one", sealed);
		sealed[i] ^= 1;
	}
	sealed[n - 1] = '\0';
	refused(client, "one", sealed);
	sealed[64] = '\0';
	refused(client, "one", sealed);
}

static void
test_of_another(void **state)
{
	struct client *client = *state;
	struct principal *bob = principal_new("token", "bob");
	char sealed[1024];

	first(client, sealed, sizeof(sealed));
	refused(client, "two", sealed);
	peer_close(client->peer);
	client->peer = peer_new(client->mcp,
	    &(struct peer_conf){
		.principal = bob, .send = on_message, .arg = client });
	refused(client, "one", sealed);
	principal_release(bob);
}

static void
test_of_another_server(void **state)
{
	struct client *client = *state;
	char sealed[1024];

	first(client, sealed, sizeof(sealed));
	client->mcp->seal_key[31] ^= 1;
	refused(client, "one", sealed);
}

static void
test_bad_responses(void **state)
{
	struct client *client = *state;

	refuses(client, ROUND("one", ",'inputResponses':null"), "1", -32602);
	refuses(client, ROUND("one", ",'inputResponses':[]"), "1", -32602);
	refuses(client, ROUND("one", ",'inputResponses':{'q':1}"), "1", -32602);
	refuses(client, ROUND("one", ",'requestState':5"), "1", -32602);
	refuses(client, ROUND("one", ",'requestState':null"), "1", -32602);
}

/* Others are asked for again; what nobody asked for is nothing. */
static void
test_other_responses(void **state)
{
	struct client *client = *state;
	json_t *message;

	say(client, ROUND("one", ",'inputResponses':{'x':{}}"));
	message = hear(client);
	assert_true(
	    json_is_text(at(message, "result>resultType"), "input_required"));
	json_decref(message);
	say(client, ROUND("one", ",'inputResponses':{'x':{},'q':{'a':1}}"));
	message = hear(client);
	assert_int_equal(json_integer_value(at(message, "result>said>a")), 1);
	json_decref(message);
}

static void
test_lacking(void **state)
{
	struct client *client = *state;
	json_t *message;

	say(client, MODERN("1", "tools/call", ",'name':'one'"));
	message = hears_error(client, "1", -32021);
	assert_non_null(
	    at(message, "error>data>requiredCapabilities>elicitation"));
	json_decref(message);
}

#define ROUND_TEST(name) \
	cmocka_unit_test_setup_teardown(name, setup_rounds, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ROUND_TEST(test_two_rounds),
		ROUND_TEST(test_tampered),
		ROUND_TEST(test_of_another),
		ROUND_TEST(test_of_another_server),
		ROUND_TEST(test_bad_responses),
		ROUND_TEST(test_other_responses),
		ROUND_TEST(test_lacking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
