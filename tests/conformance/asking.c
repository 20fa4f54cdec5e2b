/* asking.c: the tools that ask a legacy client in the midst of a call.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/own.h"

static const char who_schema[] =
    "{\"type\":\"object\",\"properties\":{\"username\":"
    "{\"type\":\"string\",\"description\":\"User's response\"},\"email\":"
    "{\"type\":\"string\",\"description\":\"User's email address\"}},"
    "\"required\":[\"username\",\"email\"]}";

static const char defaults_schema[] =
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\","
    "\"default\":\"John Doe\"},\"age\":{\"type\":\"integer\",\"default\":30},"
    "\"score\":{\"type\":\"number\",\"default\":95.5},\"status\":{\"type\":"
    "\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],\"default\":"
    "\"active\"},\"verified\":{\"type\":\"boolean\",\"default\":true}}}";

static const char enums_schema[] =
    "{\"type\":\"object\",\"properties\":{\"untitledSingle\":{\"type\":"
    "\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]},"
    "\"titledSingle\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"value1\","
    "\"title\":\"First Option\"},{\"const\":\"value2\",\"title\":"
    "\"Second Option\"},{\"const\":\"value3\",\"title\":\"Third Option\"}]},"
    "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\","
    "\"opt3\"],\"enumNames\":[\"Option One\",\"Option Two\","
    "\"Option Three\"]},\"untitledMulti\":{\"type\":\"array\",\"items\":{"
    "\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]}},"
    "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":"
    "\"value1\",\"title\":\"First Choice\"},{\"const\":\"value2\",\"title\":"
    "\"Second Choice\"},{\"const\":\"value3\",\"title\":\"Third Choice\"}]}}"
    "}}";

/* Asks the client, which has to have declared capability. */
static void
ask(struct request *request, const char *capability, const char *method,
    json_t *params, void (*answered)(struct request *request, json_t *answer))
{
	if (!request_capability(request, capability)) {
		json_decref(params);
		answer_error(request, "the client cannot be asked");
		return;
	}
	/* It is in flight before an answer can come. */
	request_wait(request, NULL, NULL);
	if (request_ask(request, method, params, answered) < 0)
		answer_error(request, "this client cannot be asked");
}

/* ---- sampling ---- */

static void
on_sampled(struct request *request, json_t *answer)
{
	json_t *content = json_object_get(answer, "content");
	const char *text = json_string_value(json_object_get(content, "text"));

	if (text)
		answer_text(request, "LLM response: %s", text);
	else
		answer_error(request, "the client's model gave no text");
}

void
call_test_sampling(void *arg, struct request *request, json_t *arguments)
{
	json_t *prompt = json_object_get(arguments, "prompt");

	(void)arg;
	if (!json_is_string(prompt)) {
		answer_error(request, "prompt is not a string");
		return;
	}
	ask(request, "sampling", "sampling/createMessage",
	    json_pack("{s:[{s:s, s:{s:s, s:O}}], s:i}", "messages", "role",
		"user", "content", "type", "text", "text", prompt, "maxTokens",
		100),
	    on_sampled);
}

/* ---- elicitation ---- */

static void
answer_elicited(struct request *request, json_t *answer, const char *before)
{
	const char *action =
	    json_string_value(json_object_get(answer, "action"));
	json_t *content = json_object_get(answer, "content");
	own_mem char *text = content ? json_dumps(content, JSON_COMPACT) : NULL;

	if (action)
		answer_text(request, "%s: action=%s, content=%s", before,
		    action, text ? text : "{}");
	else
		answer_error(request, "the client did not answer");
}

static void
on_elicited(struct request *request, json_t *answer)
{
	answer_elicited(request, answer, "Elicitation completed");
}

static void
on_user_answered(struct request *request, json_t *answer)
{
	answer_elicited(request, answer, "User response");
}

static void
elicit(struct request *request, const char *message, const char *schema,
    void (*answered)(struct request *request, json_t *answer))
{
	ask(request, "elicitation", "elicitation/create",
	    json_pack("{s:s, s:o}", "message", message, "requestedSchema",
		parse(schema)),
	    answered);
}

void
call_test_elicitation(void *arg, struct request *request, json_t *arguments)
{
	const char *message =
	    json_string_value(json_object_get(arguments, "message"));

	(void)arg;
	if (message)
		elicit(request, message, who_schema, on_user_answered);
	else
		answer_error(request, "message is not a string");
}

void
call_test_elicitation_sep1034_defaults(
    void *arg, struct request *request, json_t *arguments)
{
	(void)arg;
	(void)arguments;
	elicit(request, "Please look at these values", defaults_schema,
	    on_elicited);
}

void
call_test_elicitation_sep1330_enums(
    void *arg, struct request *request, json_t *arguments)
{
	(void)arg;
	(void)arguments;
	elicit(request, "Please choose", enums_schema, on_elicited);
}
