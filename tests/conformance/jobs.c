/* jobs.c: the tools whose calls become tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "mcp/rounds.h"
#include "mcp/tasks.h"

/* Begins a task that goes on by next after ms; only a client that takes one
 * can be served. */
static struct act *
begin(struct request *request, uint64_t ms, void (*next)(struct act *act))
{
	struct act *act;

	if (!tasks_required(request))
		return NULL;
	act = act_begin(request, ms, next);
	(void)tasks_begin(request);
	return act;
}

/* ---- that take their time ---- */

static void
computed(struct act *act)
{
	answer_text(act_end(act), "It was computed.");
}

void
call_slow_compute(void *arg, struct request *request, json_t *arguments)
{
	double seconds =
	    json_number_value(json_object_get(arguments, "seconds"));

	(void)arg;
	if (seconds <= 0) {
		answer_text(request, "It was computed at once.");
		return;
	}
	if (seconds > 3600)
		seconds = 3600;
	(void)act_begin(request, (uint64_t)(seconds * 1000), computed);
	(void)tasks_begin(request);
}

static void
failed(struct act *act)
{
	answer_error(act_end(act), "The job failed.");
}

void
call_failing_job(void *arg, struct request *request, json_t *arguments)
{
	(void)arg;
	(void)arguments;
	(void)begin(request, 1000, failed);
}

static void
broke(struct act *act)
{
	request_fail(act_end(act), CODE_INTERNAL_ERROR, "the job broke", NULL);
}

void
call_protocol_error_job(void *arg, struct request *request, json_t *arguments)
{
	(void)arg;
	(void)arguments;
	(void)begin(request, 200, broke);
}

/* ---- that ask ---- */

static json_t *
confirmation(const char *message)
{
	return json_pack("{s:s, s:{s:s, s:{s:s, s:{s:{s:s}}, s:[s]}}}",
	    "method", "elicitation/create", "params", "message", message,
	    "requestedSchema", "type", "object", "properties", "confirm",
	    "type", "boolean", "required", "confirm");
}

static void
on_confirmed(struct request *request, const json_t *answers)
{
	unsigned yes = 0;
	const char *name;
	json_t *answer;
	struct act *act = request->cancelled_arg;

	json_object_foreach((json_t *)answers, name, answer) yes +=
	    json_is_true(
		json_object_get(json_object_get(answer, "content"), "confirm"));
	answer_text(act_end(act), "%u times yes.", yes);
}

static void
ask_once(struct act *act)
{
	tasks_ask(act->request,
	    json_pack("{s:o}", "confirm-1", confirmation("Delete it?")),
	    on_confirmed);
}

static void
ask_twice(struct act *act)
{
	tasks_ask(act->request,
	    json_pack("{s:o, s:o}", "first", confirmation("The one?"), "second",
		confirmation("The other?")),
	    on_confirmed);
}

void
call_confirm_delete(void *arg, struct request *request, json_t *arguments)
{
	(void)arg;
	(void)arguments;
	(void)begin(request, 50, ask_once);
}

void
call_multi_input(void *arg, struct request *request, json_t *arguments)
{
	(void)arg;
	(void)arguments;
	(void)begin(request, 50, ask_twice);
}

/* ---- that ask first ---- */

static void
greet_later(struct act *act)
{
	json_t *name = json_incref(act->data);

	answer_text(act_end(act), "Hello, %s!", json_string_value(name));
	json_decref(name);
}

static void
take_round(struct request *request, const struct round *round)
{
	const json_t *response = round_response(round, "user_name");
	json_t *name =
	    json_object_get(json_object_get(response, "content"), "name");
	struct act *act;

	if (!json_is_string(name)) {
		rounds_ask(request,
		    parse("{\"user_name\":{\"method\":\"elicitation/create\","
			  "\"params\":{\"message\":\"What is your name?\","
			  "\"requestedSchema\":{\"type\":\"object\","
			  "\"properties\":{\"name\":{\"type\":\"string\"}},"
			  "\"required\":[\"name\"]}}}}"),
		    json_pack("{s:s}", "step", "name"));
		return;
	}
	name = json_incref(name);
	act = begin(request, 200, greet_later);
	if (act)
		act->data = name;
	else
		json_decref(name);
}

void
call_test_tool_with_task(void *arg, struct request *request, json_t *arguments)
{
	struct round round;

	(void)arg;
	(void)arguments;
	if (!rounds_take(request, &round))
		return;
	take_round(request, &round);
	round_done(&round);
}
