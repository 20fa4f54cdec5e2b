/* tools.c: the tools that answer by themselves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#define UNUSED(arg, arguments) ((void)(arg), (void)(arguments))

/* A tool that always answers the same. */
#define CONSTANT(name, text)                                       \
	void call_##name(                                          \
	    void *arg, struct request *request, json_t *arguments) \
	{                                                          \
		UNUSED(arg, arguments);                            \
		answer_json(request, "{\"content\":[" text "]"     \
				     "}");                         \
	}

#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define IMAGE \
	"{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"" PNG "\"}"
#define AUDIO \
	"{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"" WAV "\"}"
#define RESOURCE(uri, type, text)                             \
	"{\"type\":\"resource\",\"resource\":{\"uri\":\"" uri \
	"\",\"mimeType\":\"" type "\",\"text\":\"" text "\"}}"

/* clang-format off */
CONSTANT(test_simple_text,
    TEXT("This is a simple text response for testing."))
CONSTANT(test_image_content, IMAGE)
CONSTANT(test_audio_content, AUDIO)
CONSTANT(test_embedded_resource,
    RESOURCE("test://embedded-resource", "text/plain",
	"This is an embedded resource content."))
CONSTANT(test_multiple_content_types,
    TEXT("Multiple content types test:") "," IMAGE ","
    RESOURCE("test://mixed-content-resource", "application/json",
	"{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}"))
CONSTANT(test_header_parameters, TEXT("The headers were right."))
CONSTANT(json_schema_2020_12_tool, TEXT("The schema was kept."))
/* clang-format on */

void
call_test_error_handling(void *arg, struct request *request, json_t *arguments)
{
	UNUSED(arg, arguments);
	answer_error(
	    request, "This tool intentionally returns an error for testing");
}

void
call_greet(void *arg, struct request *request, json_t *arguments)
{
	const char *name =
	    json_string_value(json_object_get(arguments, "name"));

	(void)arg;
	if (name)
		answer_text(request, "Hello, %s!", name);
	else
		answer_error(request, "name is not a string");
}

void
call_test_missing_capability(
    void *arg, struct request *request, json_t *arguments)
{
	UNUSED(arg, arguments);
	if (request_capability(request, "sampling"))
		answer_text(request, "The client can be asked.");
	else
		request_fail_capability(
		    request, json_pack("{s:{}}", "sampling"));
}

/* ---- changes ---- */

static void
announce(struct request *request, const char *list, const char *uri)
{
	mcp_announce(request->mcp, list, uri);
	answer_text(request, "It was announced.");
}

void
call_test_trigger_tool_change(
    void *arg, struct request *request, json_t *arguments)
{
	UNUSED(arg, arguments);
	announce(request, "toolsListChanged", NULL);
}

void
call_test_trigger_prompt_change(
    void *arg, struct request *request, json_t *arguments)
{
	UNUSED(arg, arguments);
	announce(request, "promptsListChanged", NULL);
}

void
call_test_trigger_resource_change(
    void *arg, struct request *request, json_t *arguments)
{
	UNUSED(arg, arguments);
	announce(request, NULL, WATCHED_URI);
}

/* ---- step by step ---- */

static void
log_step(struct act *act)
{
	static const char *const lines[] = { "Tool execution started",
		"Tool processing data", "Tool execution completed" };

	request_log(act->request, "info", json_string(lines[act->step]));
	if (++act->step < 3)
		act_again(act, 50);
	else
		answer_text(act_end(act), "Three lines were logged.");
}

void
call_test_tool_with_logging(
    void *arg, struct request *request, json_t *arguments)
{
	UNUSED(arg, arguments);
	(void)act_begin(request, 0, log_step);
}

void
call_test_logging_tool(void *arg, struct request *request, json_t *arguments)
{
	UNUSED(arg, arguments);
	request_log(request, "info", json_string("One line"));
	answer_text(request, "One line was logged.");
}

static void
progress_step(struct act *act)
{
	request_progress(act->request, act->step * 50.0, 100, NULL);
	if (++act->step < 3)
		act_again(act, 50);
	else
		answer_text(act_end(act), "All of it is done.");
}

void
call_test_tool_with_progress(
    void *arg, struct request *request, json_t *arguments)
{
	UNUSED(arg, arguments);
	(void)act_begin(request, 0, progress_step);
}

static void
drop_step(struct act *act)
{
	if (act->step++ > 0) {
		answer_text(act_end(act), "The client came back.");
		return;
	}
	/* Without a word nothing is a stream yet. */
	request_log(act->request, "info", json_string("The stream breaks"));
	request_drop_stream(act->request);
	act_again(act, 100);
}

void
call_test_reconnection(void *arg, struct request *request, json_t *arguments)
{
	UNUSED(arg, arguments);
	(void)act_begin(request, 50, drop_step);
}
