/* test_tasks.c: calls that become tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp_client.h"

#include "mcp/tasks_own.h"

#define EXTENSION "'extensions':{'io.modelcontextprotocol/tasks':{}}"
#define KNOWS                                                              \
	"'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'," \
	"'io.modelcontextprotocol/clientCapabilities':{" EXTENSION "}}"
#define KNOWING(id, method, more)                        \
	"{'jsonrpc':'2.0','id':" id ",'method':'" method \
	"','params':{" KNOWS more "}}"
#define RUN(id)                   \
	KNOWING(id, "tools/call", \
	    ",'name':'run_python','arguments':{'code':'print(1)'}")

/* Says a request about that task. */
static void
ask(struct client *client, const char *method, const char *id, const char *more)
{
	char text[1024];

	(void)snprintf(text, sizeof(text),
	    "{'jsonrpc':'2.0','id':'q','method':'tasks/%s','params':{" KNOWS
	    ",'taskId':'%s'%s}}",
	    method, id, more);
	say(client, text);
}

/* Begins a call that is a task at once; its id. */
static void
begin(struct client *client, char *ret_id)
{
	json_t *message, *result;

	say(client, RUN("1"));
	silence(client);
	assert_true(tasks_begin(LIST_FIRST(&client->peer->requests)));
	message = hear(client);
	result = json_object_get(message, "result");
	assert_true(json_is_text(at(result, "resultType"), "task"));
	assert_true(json_is_text(at(result, "status"), "working"));
	assert_null(at(result, "result"));
	assert_true(json_integer_value(at(result, "ttlMs")) >= 300000);
	assert_true(json_integer_value(at(result, "pollIntervalMs")) > 0);
	assert_int_equal(json_string_length(at(result, "createdAt")), 24);
	assert_int_equal(
	    json_string_length(at(result, "taskId")), TASK_ID_SIZE - 1);
	(void)strcpy(ret_id, json_string_value(at(result, "taskId")));
	json_decref(message);
}

/* Its state as tasks/get says it, which has to be this. */
static json_t *
state(struct client *client, const char *id, const char *status)
{
	json_t *message;

	ask(client, "get", id, "");
	message = hear(client);
	assert_true(json_is_text(at(message, "result>resultType"), "complete"));
	assert_true(json_is_text(at(message, "result>taskId"), id));
	assert_true(json_is_text(at(message, "result>status"), status));
	silence(client);
	return message;
}

static void
acknowledged(struct client *client)
{
	json_t *message = hear(client);

	assert_true(json_is_text(at(message, "result>resultType"), "complete"));
	assert_null(at(message, "result>status"));
	json_decref(message);
	silence(client);
}

static void
unknown(struct client *client, const char *method, const char *id)
{
	ask(client, method, id, ",'inputResponses':{}");
	json_decref(hears_error(client, "\"q\"", -32602));
	silence(client);
}

static void
test_declared(void **state)
{
	struct client *client = *state;
	json_t *message;

	say(client, MODERN("1", "server/discover", ""));
	message = hear(client);
	assert_non_null(at(message,
	    "result>capabilities>extensions>io.modelcontextprotocol/tasks"));
	json_decref(message);
	/* The handshake has no such extension. */
	say(client, HANDSHAKE("2025-11-25"));
	message = hear(client);
	assert_null(at(message, "result>capabilities>extensions"));
	json_decref(message);
	refuses(client, OLD("2", "tasks/get", "'taskId':'x'"), "2", -32602);
}

static void
test_after_a_while(void **state)
{
	struct client *client = *state;
	json_t *message;

	say(client, RUN("1"));
	while (json_array_size(client->got) == 0)
		(void)uv_run(&client->loop, UV_RUN_ONCE);
	message = hear(client);
	assert_true(json_is_text(at(message, "result>resultType"), "task"));
	json_decref(message);
	assert_int_equal(peer_busy(client->peer), 0);
	silence(client);
}

static void
test_short_call(void **state)
{
	struct client *client = *state;
	json_t *message;

	say(client, RUN("1"));
	fake_room_finish(client->room, 0, OUTCOME_OK, "1\n", "");
	message = hear(client);
	assert_true(json_is_text(at(message, "result>resultType"), "complete"));
	json_decref(message);
	assert_true(TAILQ_EMPTY(&client->mcp->tasks->offered));
	assert_true(TAILQ_EMPTY(&client->mcp->tasks->made));
	assert_int_equal(client->mcp->tasks->bytes, 0);
}

static void
test_unknowing(void **state)
{
	struct client *client = *state;

	say(client, MODERN("1", "tools/call",
			",'name':'run_python','arguments':{'code':'1'}"));
	assert_null(LIST_FIRST(&client->peer->requests)->task);
	assert_false(tasks_begin(LIST_FIRST(&client->peer->requests)));
	silence(client);
}

static void
test_result(void **state_)
{
	struct client *client = *state_;
	char id[TASK_ID_SIZE];
	json_t *message;

	begin(client, id);
	json_decref(state(client, id, "working"));
	/* Its name is free again. */
	say(client, KNOWING("1", "tools/list", ""));
	json_decref(hear(client));
	fake_room_finish(client->room, 0, OUTCOME_RAISED, "out", "wrong");
	silence(client);
	for (unsigned i = 0; i < 2; i++) {
		/* A program that failed is a task that did not. */
		message = state(client, id, "completed");
		assert_true(json_is_true(at(message, "result>result>isError")));
		assert_null(at(message, "result>error"));
		assert_true(json_string_length(at(
				message, "result>result>content>0>text")) > 0);
		json_decref(message);
	}
	assert_true(client->mcp->tasks->bytes > 0);
	assert_true(client->mcp->tasks->bytes < 4096);
	ask(client, "cancel", id, "");
	acknowledged(client);
	json_decref(state(client, id, "completed"));
	ask(client, "update", id, ",'inputResponses':{'x':{}}");
	acknowledged(client);
}

static void
test_cancel(void **state_)
{
	struct client *client = *state_;
	char id[TASK_ID_SIZE];

	begin(client, id);
	ask(client, "cancel", id, "");
	acknowledged(client);
	assert_int_equal(client->room->cancelled, 1);
	json_decref(state(client, id, "cancelled"));
	fake_room_finish(client->room, 0, OUTCOME_KILLED, "", "");
	json_decref(state(client, id, "cancelled"));
	ask(client, "cancel", id, "");
	acknowledged(client);
	assert_int_equal(client->room->cancelled, 1);
	assert_int_equal(client->mcp->tasks->bytes, 0);
}

static void
test_notification_cancels_no_task(void **state_)
{
	struct client *client = *state_;
	char id[TASK_ID_SIZE];

	begin(client, id);
	say(client,
	    "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
	    "'requestId':1}}");
	assert_int_equal(client->room->cancelled, 0);
	json_decref(state(client, id, "working"));
}

/* A new peer of that principal, in the place of the old one, which is gone. */
static void
change_peer(struct client *client, struct principal *principal)
{
	peer_close(client->peer);
	client->peer =
	    peer_new(client->mcp, &(struct peer_conf){ .kind = PEER_STATELESS,
				      .principal = principal,
				      .send = on_message,
				      .arg = client });
}

static void
test_owner(void **state_)
{
	struct client *client = *state_;
	struct principal *alice = principal_new("token", "alice");
	struct principal *again = principal_new("token", "alice");
	struct principal *bob = principal_new("token", "bob");
	char id[TASK_ID_SIZE];

	change_peer(client, alice);
	begin(client, id);
	change_peer(client, bob);
	unknown(client, "get", id);
	unknown(client, "update", id);
	unknown(client, "cancel", id);
	change_peer(client, NULL);
	unknown(client, "get", id);
	assert_int_equal(client->room->cancelled, 0);
	/* It outlives the connection that it came by. */
	change_peer(client, again);
	json_decref(state(client, id, "working"));
	fake_room_finish(client->room, 0, OUTCOME_OK, "", "");
	json_decref(state(client, id, "completed"));
	principal_release(alice);
	principal_release(again);
	principal_release(bob);
}

static void
test_refused(void **state_)
{
	struct client *client = *state_;
	json_t *message;

	unknown(client, "get", "nothing");
	unknown(client, "get", "");
	refuses(client, KNOWING("1", "tasks/get", ""), "1", -32602);
	refuses(client, KNOWING("1", "tasks/get", ",'taskId':5"), "1", -32602);
	refuses(client, KNOWING("1", "tasks/list", ""), "1", -32601);
	refuses(client, KNOWING("1", "tasks/result", ""), "1", -32601);
	say(client, MODERN("1", "tasks/get", ",'taskId':'x'"));
	message = hears_error(client, "1", -32021);
	assert_non_null(at(message, "error>data>requiredCapabilities>"
				    "extensions>io.modelcontextprotocol/"
				    "tasks"));
	json_decref(message);
	refuses(client,
	    MODERN(
		"1", "subscriptions/listen", ",'notifications':{'taskIds':[]}"),
	    "1", -32021);
}

static void
test_bad_update(void **state_)
{
	struct client *client = *state_;
	char id[TASK_ID_SIZE];

	begin(client, id);
	ask(client, "update", id, "");
	json_decref(hears_error(client, "\"q\"", -32602));
	ask(client, "update", id, ",'inputResponses':[]");
	json_decref(hears_error(client, "\"q\"", -32602));
	ask(client, "update", id, ",'inputResponses':{'x':1}");
	acknowledged(client);
	json_decref(state(client, id, "working"));
}

/* ---- questions ---- */

static unsigned answers_n;

static void
on_answers(struct request *request, const json_t *answers)
{
	answers_n += (unsigned)json_object_size(answers);
	assert_non_null(request->task);
}

static void
test_questions(void **state_)
{
	struct client *client = *state_;
	char id[TASK_ID_SIZE];
	json_t *message;

	begin(client, id);
	answers_n = 0;
	tasks_ask(TAILQ_FIRST(&client->mcp->tasks->made)->request,
	    json_pack("{s:{s:s}, s:{s:s}}", "a", "method", "elicitation/create",
		"b", "method", "roots/list"),
	    on_answers);
	message = state(client, id, "input_required");
	assert_int_equal(
	    json_object_size(at(message, "result>inputRequests")), 2);
	json_decref(message);
	ask(client, "update", id, ",'inputResponses':{'c':{},'a':{}}");
	acknowledged(client);
	message = state(client, id, "input_required");
	assert_null(at(message, "result>inputRequests>a"));
	assert_non_null(at(message, "result>inputRequests>b"));
	json_decref(message);
	assert_int_equal(answers_n, 0);
	/* One that was answered is asked no more. */
	ask(client, "update", id, ",'inputResponses':{'a':{'x':1},'b':{}}");
	acknowledged(client);
	assert_int_equal(answers_n, 2);
	json_decref(state(client, id, "working"));
}

/* ---- bounds ---- */

static void
test_number(void **state_)
{
	struct client *client = *state_;
	struct principal *bob = principal_new("token", "bob");
	char id[TASK_ID_SIZE];

	for (unsigned i = 0; i < TASKS_OF_ONE_MAX; i++)
		begin(client, id);
	/* No more tasks: the client waits, as one that knows none. */
	say(client, RUN("1"));
	assert_null(LIST_FIRST(&client->peer->requests)->task);
	change_peer(client, bob);
	begin(client, id);
	principal_release(bob);
}

static void
test_life(void **state_)
{
	struct client *client = *state_;
	struct tasks *tasks = client->mcp->tasks;
	char first[TASK_ID_SIZE], second[TASK_ID_SIZE];

	begin(client, first);
	TAILQ_FIRST(&tasks->made)->due_us = 0;
	begin(client, second);
	while (client->room->cancelled == 0)
		(void)uv_run(&client->loop, UV_RUN_NOWAIT);
	unknown(client, "get", first);
	json_decref(state(client, second, "working"));
}

static void
test_ids_differ(void **state_)
{
	struct client *client = *state_;
	char first[TASK_ID_SIZE], second[TASK_ID_SIZE];

	begin(client, first);
	begin(client, second);
	assert_string_not_equal(first, second);
	json_decref(state(client, first, "working"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_declared),
		TEST(test_after_a_while),
		TEST(test_short_call),
		TEST(test_unknowing),
		TEST(test_result),
		TEST(test_cancel),
		TEST(test_notification_cancels_no_task),
		TEST(test_owner),
		TEST(test_refused),
		TEST(test_bad_update),
		TEST(test_questions),
		TEST(test_number),
		TEST(test_life),
		TEST(test_ids_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
