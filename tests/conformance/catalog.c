/* catalog.c: what the fixture offers: the table of its tools, its resources,
 * and the methods that the product has no use for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "mcp/rounds.h"

#include <stdio.h>
#include <string.h>

/* ---- tools ---- */

static json_t *
describe(const char *name, const char *description, const char *schema)
{
	return json_pack("{s:s, s:s, s:o}", "name", name, "description",
	    description, "inputSchema", parse(schema));
}

#define TOOL(name, description, schema, flags)               \
	static json_t *describe_##name(                      \
	    void *arg, const struct revision *revision)      \
	{                                                    \
		(void)arg;                                   \
		(void)revision;                              \
		return describe(#name, description, schema); \
	}
#include "tools.def"
#undef TOOL

#define HAS_PARAM_HEADERS 1
#define MAY_BE_TASK       2

#define TOOL(name, description, schema, flags)                            \
	{ #name, describe_##name, call_##name, (flags)&HAS_PARAM_HEADERS, \
		((flags)&MAY_BE_TASK) != 0 },
const struct tool fixture_tools[] = {
#include "tools.def"
};
#undef TOOL

const size_t fixture_tools_n = sizeof(fixture_tools) / sizeof(fixture_tools[0]);

/* ---- resources ---- */

static bool
list(void *arg, const struct request *request, const char *cursor,
    struct resource_page *ret_page)
{
	(void)arg;
	(void)request;
	if (cursor[0])
		return false;
	*ret_page = (struct resource_page){
		.resources = json_pack("[{s:s, s:s, s:s, s:s}, {s:s, s:s, s:s, "
				       "s:s}, {s:s, s:s, s:s, "
				       "s:s}]",
		    "uri", "test://static-text", "name", "text", "description",
		    "A text", "mimeType", "text/plain", "uri",
		    "test://static-binary", "name", "binary", "description",
		    "An image", "mimeType", "image/png", "uri", WATCHED_URI,
		    "name", "watched", "description", "A resource that changes",
		    "mimeType", "text/plain")
	};
	return true;
}

static json_t *
templates(void *arg, const struct revision *revision)
{
	(void)arg;
	(void)revision;
	return json_pack("[{s:s, s:s, s:s, s:s}]", "uriTemplate",
	    "test://template/{id}/data", "name", "template", "description",
	    "Data of an id", "mimeType", "application/json");
}

static json_t *
contents(const char *uri, const char *type, const char *as, const char *what)
{
	return json_pack(
	    "[{s:s, s:s, s:s}]", "uri", uri, "mimeType", type, as, what);
}

static json_t *
read_template(const char *uri)
{
	char id[64], rest[16] = "", text[256];

	if (sscanf(uri, "test://template/%63[A-Za-z0-9_-]%15s", id, rest) !=
		2 ||
	    strcmp(rest, "/data") != 0)
		return NULL;
	(void)snprintf(text, sizeof(text),
	    "{\"id\":\"%s\",\"templateTest\":true,\"data\":\"Data for ID: "
	    "%s\"}",
	    id, id);
	return contents(uri, "application/json", "text", text);
}

static json_t *
read_uri(void *arg, const struct request *request, const char *uri)
{
	(void)arg;
	(void)request;
	if (strcmp(uri, "test://static-text") == 0)
		return contents(uri, "text/plain", "text",
		    "This is the content of the static text resource.");
	if (strcmp(uri, "test://static-binary") == 0)
		return contents(uri, "image/png", "blob", PNG);
	if (strcmp(uri, WATCHED_URI) == 0)
		return contents(uri, "text/plain", "text", "It may change.");
	return read_template(uri);
}

const struct resource_source fixture_resources = { list, templates, read_uri };

/* ---- prompts ---- */

static const char prompt_list[] =
    "{\"prompts\":[{\"name\":\"test_simple_prompt\",\"description\":"
    "\"A text\"},{\"name\":\"test_prompt_with_arguments\",\"description\":"
    "\"Repeats its arguments\",\"arguments\":[{\"name\":\"arg1\","
    "\"description\":\"The one\",\"required\":true},{\"name\":\"arg2\","
    "\"description\":\"The other\",\"required\":true}]},{\"name\":"
    "\"test_prompt_with_embedded_resource\",\"description\":"
    "\"Has a resource\",\"arguments\":[{\"name\":\"resourceUri\","
    "\"description\":\"Of the resource\",\"required\":true}]},{\"name\":"
    "\"test_prompt_with_image\",\"description\":\"Has an image\"},"
    "{\"name\":\"test_input_required_result_prompt\",\"description\":"
    "\"Asks first\"}]}";

static void
on_prompts_list(struct request *request)
{
	if (method_first_page(request))
		method_answer_cacheable(request, parse(prompt_list));
}

/* A message of the user's with that content, which is taken. */
static json_t *
says(json_t *content)
{
	return json_pack("{s:s, s:o}", "role", "user", "content", content);
}

static json_t *
text(const char *what)
{
	return json_pack("{s:s, s:s}", "type", "text", "text", what);
}

static void
answer_messages(struct request *request, json_t *first, json_t *second)
{
	method_answer(
	    request, json_pack("{s:[o, o*]}", "messages", first, second));
}

/* An argument that has to be given; NULL: it was not, and the request was
 * refused. */
static const char *
argument(struct request *request, const char *name)
{
	const char *value = json_string_value(json_object_get(
	    json_object_get(request->params, "arguments"), name));

	if (!value)
		request_fail(request, CODE_INVALID_PARAMS,
		    "an argument of the prompt is missing", NULL);
	return value;
}

static void
get_simple(struct request *request)
{
	answer_messages(
	    request, says(text("This is a simple prompt for testing.")), NULL);
}

static void
get_with_arguments(struct request *request)
{
	char what[512];
	const char *one = argument(request, "arg1"), *other;

	if (!one)
		return;
	other = argument(request, "arg2");
	if (!other)
		return;
	(void)snprintf(what, sizeof(what),
	    "Prompt with arguments: arg1='%s', arg2='%s'", one, other);
	answer_messages(request, says(text(what)), NULL);
}

static void
get_with_resource(struct request *request)
{
	const char *uri = argument(request, "resourceUri");

	if (!uri)
		return;
	answer_messages(request,
	    says(json_pack("{s:s, s:{s:s, s:s, s:s}}", "type", "resource",
		"resource", "uri", uri, "mimeType", "text/plain", "text",
		"Embedded resource content for testing.")),
	    says(text("Please process the embedded resource above.")));
}

static void
get_with_image(struct request *request)
{
	answer_messages(request,
	    says(json_pack("{s:s, s:s, s:s}", "type", "image", "data", PNG,
		"mimeType", "image/png")),
	    says(text("Please analyze the image above.")));
}

static void
get_in_rounds(struct request *request)
{
	struct round round;
	const json_t *response;
	const char *context;

	if (!rounds_take(request, &round))
		return;
	response = round_response(&round, "user_context");
	context = json_string_value(
	    json_object_get(json_object_get(response, "content"), "context"));
	if (context)
		answer_messages(request, says(text(context)), NULL);
	else
		rounds_ask(request,
		    parse("{\"user_context\":{\"method\":"
			  "\"elicitation/create\",\"params\":{\"message\":"
			  "\"What context should the prompt use?\","
			  "\"requestedSchema\":{\"type\":\"object\","
			  "\"properties\":{\"context\":{\"type\":\"string\"}},"
			  "\"required\":[\"context\"]}}}}"),
		    NULL);
	round_done(&round);
}

static void
on_prompts_get(struct request *request)
{
	static const struct {
		const char *name;
		void (*get)(struct request *request);
	} prompts[] = {
		{ "test_simple_prompt", get_simple },
		{ "test_prompt_with_arguments", get_with_arguments },
		{ "test_prompt_with_embedded_resource", get_with_resource },
		{ "test_prompt_with_image", get_with_image },
		{ "test_input_required_result_prompt", get_in_rounds },
	};
	json_t *name = json_object_get(request->params, "name");

	for (size_t i = 0; i < sizeof(prompts) / sizeof(prompts[0]); i++)
		if (json_is_text(name, prompts[i].name)) {
			prompts[i].get(request);
			return;
		}
	request_fail(request, CODE_INVALID_PARAMS, "unknown prompt", NULL);
}

/* ---- other methods ---- */

static void
on_complete(struct request *request)
{
	json_t *argument = json_object_get(request->params, "argument");

	if (!json_is_object(json_object_get(request->params, "ref")) ||
	    !json_is_string(json_object_get(argument, "name")) ||
	    !json_is_string(json_object_get(argument, "value")))
		request_fail(request, CODE_INVALID_PARAMS,
		    "ref or argument is missing", NULL);
	else
		answer_json(request,
		    "{\"completion\":{\"values\":[\"paris\",\"park\","
		    "\"party\"],\"total\":3,\"hasMore\":false}}");
}

static void
on_set_level(struct request *request)
{
	json_t *level = json_object_get(request->params, "level");
	struct peer *peer = request->peer;

	if (log_level_rank(level) < 0) {
		request_fail(
		    request, CODE_INVALID_PARAMS, "level is none", NULL);
		return;
	}
	json_decref(peer->log_level);
	peer->log_level = json_incref(level);
	method_answer(request, json_object());
}

static void
watch(struct request *request, bool on)
{
	json_t *uri = json_object_get(request->params, "uri");
	struct peer *peer = request->peer;

	if (!json_is_string(uri)) {
		request_fail(
		    request, CODE_INVALID_PARAMS, "uri is not a string", NULL);
		return;
	}
	if (!peer->watched)
		peer->watched = json_object();
	if (on)
		(void)json_object_set_new(
		    peer->watched, json_string_value(uri), json_true());
	else
		(void)json_object_del(peer->watched, json_string_value(uri));
	method_answer(request, json_object());
}

static void
on_subscribe(struct request *request)
{
	watch(request, true);
}

static void
on_unsubscribe(struct request *request)
{
	watch(request, false);
}

const struct method fixture_methods[] = {
	{ "completion/complete", FOR_MODERN | FOR_HANDSHAKE, on_complete,
	    NULL },
	{ "logging/setLevel", FOR_HANDSHAKE, on_set_level, NULL },
	{ "prompts/get", FOR_MODERN | FOR_HANDSHAKE, on_prompts_get, "name" },
	{ "prompts/list", FOR_MODERN | FOR_HANDSHAKE, on_prompts_list, NULL },
	{ "resources/subscribe", FOR_HANDSHAKE, on_subscribe, NULL },
	{ "resources/unsubscribe", FOR_HANDSHAKE, on_unsubscribe, NULL },
};
const size_t fixture_methods_n =
    sizeof(fixture_methods) / sizeof(fixture_methods[0]);

void
fixture_declare(
    void *arg, json_t *capabilities, const struct revision *revision)
{
	(void)arg;
	(void)revision;
	(void)json_object_set_new(capabilities, "logging", json_object());
	(void)json_object_set_new(capabilities, "completions", json_object());
	(void)json_object_set_new(
	    capabilities, "prompts", json_pack("{s:b}", "listChanged", 1));
}
