/* rounds.c: the tools that end in a later round.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "mcp/rounds.h"

#include <string.h>

/* ---- questions ---- */

/* A new question to the user for one property. */
static json_t *
question(const char *message, const char *property, const char *type)
{
	return json_pack("{s:s, s:{s:s, s:{s:s, s:{s:{s:s}}, s:[s]}}}",
	    "method", "elicitation/create", "params", "message", message,
	    "requestedSchema", "type", "object", "properties", property, "type",
	    type, "required", property);
}

/* A new question to the client's model. */
static json_t *
sample(const char *prompt, int tokens)
{
	return json_pack("{s:s, s:{s:[{s:s, s:{s:s, s:s}}], s:i}}", "method",
	    "sampling/createMessage", "params", "messages", "role", "user",
	    "content", "type", "text", "text", prompt, "maxTokens", tokens);
}

static json_t *
ask_roots(void)
{
	return json_pack("{s:s, s:{}}", "method", "roots/list", "params");
}

/* ---- answers ---- */

/* What the user said for that property; NULL: nothing. */
static const json_t *
said(const struct round *round, const char *name, const char *property)
{
	const json_t *response = round_response(round, name);

	if (!json_is_text(json_object_get(response, "action"), "accept"))
		return NULL;
	return json_object_get(json_object_get(response, "content"), property);
}

static const char *
said_text(const struct round *round, const char *name, const char *property)
{
	return json_string_value(said(round, name, property));
}

/* True if the state says that much. */
static bool
remembers(const struct round *round, const char *what)
{
	return json_is_text(json_object_get(round->state, "step"), what);
}

static json_t *
state(const char *step)
{
	return json_pack("{s:s}", "step", step);
}

/* ---- the tools: each takes one round ---- */

#define ROUND_TOOL(name)                                           \
	static void name##_round(                                  \
	    struct request *request, const struct round *round);   \
	void call_##name(                                          \
	    void *arg, struct request *request, json_t *arguments) \
	{                                                          \
		struct round round;                                \
                                                                   \
		(void)arg;                                         \
		(void)arguments;                                   \
		if (!rounds_take(request, &round))                 \
			return;                                    \
		name##_round(request, &round);                     \
		round_done(&round);                                \
	}                                                          \
	static void name##_round(                                  \
	    struct request *request, const struct round *round)

ROUND_TOOL(test_input_required_result_elicitation)
{
	const char *name = said_text(round, "user_name", "name");

	if (name)
		answer_text(request, "Hello, %s!", name);
	else
		rounds_ask(request,
		    json_pack("{s:o}", "user_name",
			question("What is your name?", "name", "string")),
		    NULL);
}

ROUND_TOOL(test_streaming_elicitation)
{
	test_input_required_result_elicitation_round(request, round);
}

ROUND_TOOL(test_input_required_result_sampling)
{
	const json_t *response = round_response(round, "capital_question");
	const char *text = json_string_value(
	    json_object_get(json_object_get(response, "content"), "text"));

	if (text)
		answer_text(request, "The model says: %s", text);
	else
		rounds_ask(request,
		    json_pack("{s:o}", "capital_question",
			sample("What is the capital of France?", 100)),
		    NULL);
}

ROUND_TOOL(test_input_required_result_list_roots)
{
	const json_t *response = round_response(round, "client_roots");
	json_t *roots = json_object_get(response, "roots");
	const char *uri =
	    json_string_value(json_object_get(json_array_get(roots, 0), "uri"));

	if (json_is_array(roots))
		answer_text(request, "%zu roots, the first is %s",
		    json_array_size(roots), uri ? uri : "none");
	else
		rounds_ask(request,
		    json_pack("{s:o}", "client_roots", ask_roots()), NULL);
}

ROUND_TOOL(test_input_required_result_request_state)
{
	if (remembers(round, "confirm") && said(round, "confirm", "ok"))
		answer_text(request, "state-ok");
	else
		rounds_ask(request,
		    json_pack("{s:o}", "confirm",
			question("Please confirm", "ok", "boolean")),
		    state("confirm"));
}

ROUND_TOOL(test_input_required_result_tampered_state)
{
	test_input_required_result_request_state_round(request, round);
}

ROUND_TOOL(test_input_required_result_multiple_inputs)
{
	const char *name = said_text(round, "user_name", "name");

	if (remembers(round, "all") && name &&
	    round_response(round, "greeting") &&
	    round_response(round, "client_roots"))
		answer_text(request, "Hello, %s: all is here.", name);
	else
		rounds_ask(request,
		    json_pack("{s:o, s:o, s:o}", "user_name",
			question("What is your name?", "name", "string"),
			"greeting", sample("Generate a greeting", 50),
			"client_roots", ask_roots()),
		    state("all"));
}

ROUND_TOOL(test_input_required_result_multi_round)
{
	const char *name = said_text(round, "step1", "name");
	const char *color = said_text(round, "step2", "color");
	const char *known =
	    json_string_value(json_object_get(round->state, "name"));

	if (remembers(round, "second") && color && known)
		answer_text(request, "%s likes %s.", known, color);
	else if (remembers(round, "first") && name)
		rounds_ask(request,
		    json_pack("{s:o}", "step2",
			question("Step 2: What is your favorite color?",
			    "color", "string")),
		    json_pack("{s:s, s:s}", "step", "second", "name", name));
	else
		rounds_ask(request,
		    json_pack("{s:o}", "step1",
			question(
			    "Step 1: What is your name?", "name", "string")),
		    state("first"));
}

ROUND_TOOL(test_input_required_result_capabilities)
{
	json_t *inputs = json_object();

	if (request_capability(request, "elicitation"))
		(void)json_object_set_new(inputs, "user_name",
		    question("What is your name?", "name", "string"));
	if (request_capability(request, "sampling"))
		(void)json_object_set_new(
		    inputs, "greeting", sample("Generate a greeting", 50));
	if (json_object_size(inputs) > 0 && !round->responses) {
		rounds_ask(request, inputs, NULL);
		return;
	}
	json_decref(inputs);
	answer_text(request, "Nothing more is needed.");
}
