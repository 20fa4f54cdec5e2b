/* method.c: the methods and their table.
 * Hostile input: a client's parameters. Fuzzed by fuzz_jsonrpc.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/method.h"

#include "base/clock.h"
#include "base/log.h"
#include "conf/limits.h"
#include "conf/paths.h"
#include "mcp/jsonrpc.h"
#include "mcp/tool_run.h"

#include <errno.h>
#include <inttypes.h>

static const char instructions[] =
    "run_python runs Python code in a fresh, isolated room with the "
    "scientific stack already imported. Print what you want to see; nothing "
    "persists between calls; there is no network.";

/* ---- results ---- */

static json_t *
server_info(const struct revision *revision)
{
	json_t *info = json_pack(
	    "{s:s, s:s}", "name", "breakroom", "version", BREAKROOM_VERSION);

	if (revision->structured)
		(void)json_object_set_new(
		    info, "title", json_string("Breakroom"));
	return info;
}

static json_t *
capabilities(void)
{
	return json_pack("{s:{}}", "tools");
}

/* Adds what every result of a modern revision has, and answers. */
static void
answer(struct request *request, json_t *result)
{
	json_t *meta = json_object_get(result, "_meta");

	if (request->revision->modern) {
		if (!meta) {
			meta = json_object();
			(void)json_object_set_new(result, "_meta", meta);
		}
		(void)json_object_set_new(
		    meta, META_SERVER, server_info(request->revision));
		(void)json_object_set_new(
		    result, "resultType", json_string("complete"));
	}
	request_answer(request, result);
}

/* The same for a result that a client may keep: ours depend on nothing. */
static void
answer_cacheable(struct request *request, json_t *result)
{
	if (request->revision->modern) {
		(void)json_object_set_new(
		    result, "ttlMs", json_integer(LIST_TTL_MS));
		(void)json_object_set_new(
		    result, "cacheScope", json_string("public"));
	}
	answer(request, result);
}

/* ---- methods ---- */

static void
on_initialize(struct request *request)
{
	json_t *asked = json_object_get(request->params, "protocolVersion");
	const struct revision *revision = revision_find(asked);

	if (request->batch) {
		request_fail(request, CODE_INVALID_REQUEST,
		    "initialize must not be part of a batch", NULL);
		return;
	}
	if (request->peer->revision) {
		request_fail(
		    request, CODE_INVALID_REQUEST, "already initialized", NULL);
		return;
	}
	if (!json_is_string(asked)) {
		request_fail(request, CODE_INVALID_PARAMS,
		    "protocolVersion is not a string", NULL);
		return;
	}
	if (!revision || revision->modern)
		revision = revision_latest_handshake();
	request->revision = revision;
	request->peer->revision = revision;
	answer(request,
	    json_pack("{s:s, s:o, s:o, s:s}", "protocolVersion", revision->name,
		"capabilities", capabilities(), "serverInfo",
		server_info(revision), "instructions", instructions));
}

static void
on_ping(struct request *request)
{
	answer(request, json_object());
}

static void
on_discover(struct request *request)
{
	answer_cacheable(request,
	    json_pack("{s:o, s:o, s:s}", "supportedVersions", revision_names(),
		"capabilities", capabilities(), "instructions", instructions));
}

static void
on_tools_list(struct request *request)
{
	struct mcp *mcp = request->mcp;
	json_t *cursor = json_object_get(request->params, "cursor");

	/* All fits one page: no cursor is ours. */
	if (cursor && !json_is_null(cursor)) {
		request_fail(
		    request, CODE_INVALID_PARAMS, "unknown cursor", NULL);
		return;
	}
	answer_cacheable(request,
	    json_pack("{s:[o]}", "tools",
		tool_run_describe(mcp->text, mcp->conf, request->revision)));
}

/* What a subscription may ask for has to be well formed, though nothing of it
 * ever changes here. */
static bool
filter_is_valid(const json_t *filter)
{
	static const char *const flags[] = { "toolsListChanged",
		"promptsListChanged", "resourcesListChanged" };
	json_t *uris = json_object_get(filter, "resourceSubscriptions");
	size_t i;

	if (!json_is_object(filter) || (uris && !json_is_array(uris)))
		return false;
	for (i = 0; i < json_array_size(uris); i++)
		if (!json_is_string(json_array_get(uris, i)))
			return false;
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		json_t *flag = json_object_get(filter, flags[i]);

		if (flag && !json_is_boolean(flag))
			return false;
	}
	return true;
}

static json_t *
subscription_meta(json_t *id)
{
	return json_pack("{s:O}", META_SUBSCRIPTION, id);
}

static void
on_listen(struct request *request)
{
	struct peer *peer = request->peer;
	json_t *params;

	if (!filter_is_valid(
		json_object_get(request->params, "notifications"))) {
		request_fail(request, CODE_INVALID_PARAMS,
		    "notifications is not a filter", NULL);
		return;
	}
	if (peer->subscriptions >= LISTEN_MAX) {
		request_fail(request, CODE_INVALID_REQUEST,
		    "too many open subscriptions", NULL);
		return;
	}
	request_keep(request, REQUEST_LISTEN);
	/* None of it is honoured: the list of tools is fixed. */
	params = json_pack("{s:o, s:{}}", "_meta",
	    subscription_meta(request->id), "notifications");
	peer_send(
	    peer, jsonrpc_notification(
		      "notifications/subscriptions/acknowledged", params));
}

void
method_end_subscription(struct request *request)
{
	struct peer *peer = request->peer;
	json_t *id = json_incref(request->id);

	answer(request, json_pack("{s:o}", "_meta", subscription_meta(id)));
	/* On a channel that all requests share, this closes the stream. */
	peer_send(peer, jsonrpc_notification("notifications/cancelled",
			    json_pack("{s:o}", "requestId", id)));
}

/* One line for each call, without a byte of its code or output. */
static void
log_call(const struct request *request, const struct call *call,
    const struct result *result)
{
	char id[NAME_SHOWN_SIZE];

	if (json_is_string(request->id))
		(void)json_shown(request->id, id);
	else
		(void)snprintf(id, sizeof(id), "%" JSON_INTEGER_FORMAT,
		    json_integer_value(request->id));
	/* A quote in it would end the value early. */
	for (char *p = id; *p; p++)
		if (*p == '"' || *p == '\\')
			*p = '?';
	log_info("event=call call=%u id=\"%s\" outcome=%s exit=%d "
		 "queued_us=%" PRIu64 " wall_us=%" PRIu64 " cpu_us=%" PRIu64
		 " out_bytes=%zu err_bytes=%zu answered=%s",
	    call->id, id, outcome_name(result->outcome), result->exit_code,
	    result->usage.queued_us, result->usage.wall_us,
	    result->usage.cpu_us, result->out.text.n, result->err.text.n,
	    request->peer ? "yes" : "no");
}

static void
on_call_done(struct call *call, struct result *result)
{
	struct request *request = call->owner;
	struct answer_form form;
	json_t *object;

	log_call(request, call, result);
	if (request_call_ended(request)) {
		form = request_form(request);
		object = answer_result(result, call->wall_ms, &form);
		if (object)
			answer(request, object);
		else
			request_fail(request, CODE_INTERNAL_ERROR,
			    "no memory for the answer", NULL);
	}
	call_free(call);
}

static void
refuse(struct request *request, const char *text)
{
	struct answer_form form = request_form(request);

	answer(request, answer_refused(text, &form));
}

static void
submit(struct request *request, struct call *call)
{
	struct mcp *mcp = request->mcp;
	size_t bytes = call->code.n + call->stdin_bytes.n;

	call->owner = request;
	call->done = on_call_done;
	if (bytes > CALLS_BYTES_MAX - mcp->calls_bytes) {
		call_free(call);
		refuse(request,
		    "the server holds too much code of calls that have not "
		    "ended; try again when some have");
		return;
	}
	/* done is never called from within room_submit. */
	if (room_submit(mcp->room, call) < 0) {
		call_free(call);
		refuse(request, "the server has no memory for the call");
		return;
	}
	request->call_bytes = bytes;
	mcp->calls_bytes += bytes;
	mcp->calls++;
	request->began_us = clock_us();
	request->due_us = request->began_us + PROGRESS_FIRST_MS * 1000u;
	request_keep(request, REQUEST_CALL);
	request->call = call->id;
	/* The arguments are in the call now. */
	json_decref(request->params);
	request->params = NULL;
	if (request->token)
		mcp_progress(mcp, request->began_us);
}

static void
on_tools_call(struct request *request)
{
	json_t *name = json_object_get(request->params, "name");
	json_t *arguments = json_object_get(request->params, "arguments");
	char shown[NAME_SHOWN_SIZE], text[NAME_SHOWN_SIZE + 32];
	struct call *call;
	struct err err;
	int r;

	if (!json_is_string(name)) {
		request_fail(
		    request, CODE_INVALID_PARAMS, "name is not a string", NULL);
		return;
	}
	if (!json_is_text(name, TOOL_RUN_NAME)) {
		(void)snprintf(text, sizeof(text), "unknown tool: %s",
		    json_shown(name, shown));
		request_fail(request, CODE_INVALID_PARAMS, text, NULL);
		return;
	}
	if (arguments && !json_is_object(arguments) &&
	    !json_is_null(arguments)) {
		request_fail(request, CODE_INVALID_PARAMS,
		    "arguments is not an object", NULL);
		return;
	}
	r = tool_run_call(arguments, request->mcp->conf, &call, &err);
	if (r == -EINVAL)
		refuse(request, err.text);
	else if (r < 0)
		request_fail(request, CODE_INTERNAL_ERROR, err.text, NULL);
	else
		submit(request, call);
}

/* ---- the table ---- */

static const struct method methods[] = {
	{ "initialize", FOR_HANDSHAKE | FOR_NEW, on_initialize },
	{ "ping", FOR_HANDSHAKE | FOR_NEW, on_ping },
	{ "server/discover", FOR_MODERN, on_discover },
	{ "subscriptions/listen", FOR_MODERN, on_listen },
	{ "tools/call", FOR_MODERN | FOR_HANDSHAKE, on_tools_call },
	{ "tools/list", FOR_MODERN | FOR_HANDSHAKE, on_tools_list },
};

const struct method *
method_find(const json_t *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (json_is_text(name, methods[i].name))
			return &methods[i];
	return NULL;
}
