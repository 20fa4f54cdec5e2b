/* method.c: the core's methods and their table.
 * Hostile input: a client's parameters. Fuzzed by fuzz_jsonrpc.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/method.h"

#include "conf/limits.h"
#include "conf/paths.h"
#include "mcp/jsonrpc.h"
#include "mcp/param_headers.h"
#include "mcp/tasks.h"

#include <string.h>

/* ---- results ---- */

static json_t *
server_info(const struct catalog *catalog, const struct revision *revision)
{
	json_t *info = json_pack(
	    "{s:s, s:s}", "name", catalog->name, "version", BREAKROOM_VERSION);

	if (revision->structured)
		(void)json_object_set_new(
		    info, "title", json_string(catalog->title));
	return info;
}

/* {"listChanged": true}, or {}. */
static json_t *
changing(bool changes)
{
	return changes ? json_pack("{s:b}", "listChanged", 1) : json_object();
}

/* True if the catalog has a tool whose calls may become tasks. */
static bool
has_tasks(const struct catalog *catalog)
{
	for (size_t i = 0; i < catalog->tools_n; i++)
		if (catalog->tools[i].may_be_task)
			return true;
	return false;
}

static json_t *
capabilities(const struct catalog *catalog, const struct revision *revision)
{
	json_t *all = json_object(), *resources;

	if (catalog->tools_n > 0)
		(void)json_object_set_new(
		    all, "tools", changing(catalog->tools_change));
	if (catalog->resources) {
		resources = changing(catalog->resources_change);
		if (catalog->resources_watched)
			(void)json_object_set_new(
			    resources, "subscribe", json_true());
		(void)json_object_set_new(all, "resources", resources);
	}
	if (revision->modern && has_tasks(catalog))
		tasks_declare(all);
	if (catalog->declare)
		catalog->declare(catalog->arg, all, revision);
	return all;
}

/* Adds what every result of the request's revision has. */
static json_t *
dress(const struct request *request, json_t *result)
{
	json_t *meta = json_object_get(result, "_meta");

	if (!request->revision->modern)
		return result;
	if (!meta) {
		meta = json_object();
		(void)json_object_set_new(result, "_meta", meta);
	}
	(void)json_object_set_new(meta, META_SERVER,
	    server_info(request->mcp->catalog, request->revision));
	if (!json_object_get(result, "resultType"))
		(void)json_object_set_new(
		    result, "resultType", json_string("complete"));
	return result;
}

void
method_answer(struct request *request, json_t *result)
{
	request_answer(request, dress(request, result));
}

void
method_answer_early(struct request *request, json_t *result)
{
	request_answer_early(request, dress(request, result));
}

static void
answer_kept(struct request *request, json_t *result, const char *scope,
    json_int_t ttl_ms)
{
	if (request->revision->modern) {
		(void)json_object_set_new(
		    result, "ttlMs", json_integer(ttl_ms));
		(void)json_object_set_new(
		    result, "cacheScope", json_string(scope));
	}
	method_answer(request, result);
}

void
method_answer_cacheable(struct request *request, json_t *result)
{
	answer_kept(request, result, "public", LIST_TTL_MS);
}

/* A result that is its principal's, and may change at once. */
static void
answer_private(struct request *request, json_t *result)
{
	answer_kept(request, result, "private", 0);
}

/* ---- the handshake ---- */

static void
on_initialize(struct request *request)
{
	struct peer *peer = request->peer;
	const struct catalog *catalog = request->mcp->catalog;
	json_t *asked = json_object_get(request->params, "protocolVersion");
	const struct revision *revision = revision_find(asked);

	if (request->batch) {
		request_fail(request, CODE_INVALID_REQUEST,
		    "initialize must not be part of a batch", NULL);
		return;
	}
	if (peer->revision) {
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
	peer->revision = revision;
	peer->capabilities =
	    capabilities_kept(json_object_get(request->params, "capabilities"));
	method_answer(request,
	    json_pack("{s:s, s:o, s:o, s:s}", "protocolVersion", revision->name,
		"capabilities", capabilities(catalog, revision), "serverInfo",
		server_info(catalog, revision), "instructions",
		catalog->instructions));
}

static void
on_ping(struct request *request)
{
	method_answer(request, json_object());
}

static void
on_discover(struct request *request)
{
	const struct catalog *catalog = request->mcp->catalog;

	method_answer_cacheable(request,
	    json_pack("{s:o, s:o, s:s}", "supportedVersions", revision_names(),
		"capabilities", capabilities(catalog, request->revision),
		"instructions", catalog->instructions));
}

/* ---- tools ---- */

bool
method_first_page(struct request *request)
{
	json_t *cursor = json_object_get(request->params, "cursor");

	/* All fits one page: no cursor is ours. */
	if (!cursor || json_is_null(cursor))
		return true;
	request_fail(request, CODE_INVALID_PARAMS, "unknown cursor", NULL);
	return false;
}

static void
on_tools_list(struct request *request)
{
	const struct catalog *catalog = request->mcp->catalog;
	json_t *tools;

	if (!method_first_page(request))
		return;
	tools = json_array();
	for (size_t i = 0; i < catalog->tools_n; i++) {
		json_t *tool =
		    catalog->tools[i].describe(catalog->arg, request->revision);

		if (tool)
			(void)json_array_append_new(tools, tool);
	}
	method_answer_cacheable(request, json_pack("{s:o}", "tools", tools));
}

static const struct tool *
tool_find(const struct catalog *catalog, const json_t *name)
{
	for (size_t i = 0; i < catalog->tools_n; i++)
		if (json_is_text(name, catalog->tools[i].name))
			return &catalog->tools[i];
	return NULL;
}

/* False: the headers of a call do not repeat its arguments, and it was
 * refused. */
static bool
check_param_headers(
    struct request *request, const struct tool *tool, json_t *arguments)
{
	struct param_header_fault fault;
	json_t *described;
	char text[128];
	bool agree;

	if (!tool->has_param_headers || !request->headers ||
	    !request->revision->modern)
		return true;
	described =
	    tool->describe(request->mcp->catalog->arg, request->revision);
	agree = param_headers_agree(request->headers,
	    json_object_get(described, "inputSchema"), arguments, &fault);
	json_decref(described);
	if (agree)
		return true;
	(void)snprintf(text, sizeof(text), "the header Mcp-Param-%s %s",
	    fault.name, fault.why);
	request_fail(request, CODE_HEADER_MISMATCH, text, NULL);
	return false;
}

static void
call_tool(struct request *request, const struct tool *tool, json_t *arguments)
{
	if (tool->may_be_task)
		tasks_offer(request);
	tool->call(request->mcp->catalog->arg, request, arguments);
}

static void
on_tools_call(struct request *request)
{
	const struct catalog *catalog = request->mcp->catalog;
	json_t *name = json_object_get(request->params, "name");
	json_t *arguments = json_object_get(request->params, "arguments");
	const struct tool *tool = tool_find(catalog, name);
	char shown[NAME_SHOWN_SIZE], text[NAME_SHOWN_SIZE + 32];

	if (!json_is_string(name)) {
		request_fail(
		    request, CODE_INVALID_PARAMS, "name is not a string", NULL);
		return;
	}
	if (!tool) {
		(void)snprintf(text, sizeof(text), "unknown tool: %s",
		    json_shown(name, shown));
		request_fail(request, CODE_INVALID_PARAMS, text, NULL);
		return;
	}
	if (json_is_null(arguments))
		arguments = NULL;
	if (arguments && !json_is_object(arguments))
		request_fail(request, CODE_INVALID_PARAMS,
		    "arguments is not an object", NULL);
	else if (check_param_headers(request, tool, arguments))
		call_tool(request, tool, arguments);
}

/* ---- resources ---- */

static void
on_resources_list(struct request *request)
{
	const struct catalog *catalog = request->mcp->catalog;
	json_t *cursor = json_object_get(request->params, "cursor");
	struct resource_page page = { 0 };
	const char *at = "";
	json_t *result;

	if (json_is_string(cursor))
		at = json_string_value(cursor);
	if ((cursor && !json_is_null(cursor) && !json_is_string(cursor)) ||
	    json_string_length(cursor) >= sizeof(page.next) ||
	    json_string_length(cursor) != strlen(at) || /* a NUL in it */
	    !catalog->resources->list(
		catalog->resources_arg, request, at, &page)) {
		request_fail(
		    request, CODE_INVALID_PARAMS, "unknown cursor", NULL);
		return;
	}
	result = json_pack("{s:o}", "resources", page.resources);
	if (page.next[0])
		(void)json_object_set_new(
		    result, "nextCursor", json_string(page.next));
	answer_private(request, result);
}

static void
on_templates_list(struct request *request)
{
	const struct catalog *catalog = request->mcp->catalog;

	if (!method_first_page(request))
		return;
	method_answer_cacheable(
	    request, json_pack("{s:o}", "resourceTemplates",
			 catalog->resources->templates(
			     catalog->resources_arg, request->revision)));
}

static void
on_resources_read(struct request *request)
{
	const struct catalog *catalog = request->mcp->catalog;
	json_t *uri = json_object_get(request->params, "uri");
	const char *text = json_string_value(uri);
	json_t *contents = NULL;

	if (!text) {
		request_fail(
		    request, CODE_INVALID_PARAMS, "uri is not a string", NULL);
		return;
	}
	if (json_string_length(uri) <= RESOURCE_URI_MAX &&
	    strlen(text) == json_string_length(uri))
		contents = catalog->resources->read(
		    catalog->resources_arg, request, text);
	if (contents)
		answer_private(
		    request, json_pack("{s:o}", "contents", contents));
	else
		request_fail(request,
		    request->revision->modern ? CODE_INVALID_PARAMS
					      : CODE_RESOURCE_NOT_FOUND,
		    "no such resource: it never was, its time is over, or it "
		    "belongs to somebody else",
		    json_string_length(uri) <= RESOURCE_URI_MAX
			? json_pack("{s:O}", "uri", uri)
			: NULL);
}

/* ---- the table ---- */

static const struct method methods[] = {
	{ "initialize", FOR_HANDSHAKE | FOR_NEW, on_initialize, NULL },
	{ "ping", FOR_HANDSHAKE | FOR_NEW, on_ping, NULL },
	{ "server/discover", FOR_MODERN, on_discover, NULL },
	{ "subscriptions/listen", FOR_MODERN, method_listen, NULL },
	{ "tools/call", FOR_MODERN | FOR_HANDSHAKE, on_tools_call, "name" },
	{ "tools/list", FOR_MODERN | FOR_HANDSHAKE, on_tools_list, NULL },
};

static const struct method resource_methods[] = {
	{ "resources/list", FOR_MODERN | FOR_HANDSHAKE, on_resources_list,
	    NULL },
	{ "resources/read", FOR_MODERN | FOR_HANDSHAKE, on_resources_read,
	    "uri" },
	{ "resources/templates/list", FOR_MODERN | FOR_HANDSHAKE,
	    on_templates_list, NULL },
};

static const struct method *
find_among(const struct method *table, size_t n, const json_t *name)
{
	for (size_t i = 0; i < n; i++)
		if (json_is_text(name, table[i].name))
			return &table[i];
	return NULL;
}

const struct method *
method_find(const struct catalog *catalog, const json_t *name)
{
	const struct method *found =
	    find_among(methods, sizeof(methods) / sizeof(methods[0]), name);

	if (!found && catalog->resources)
		found = find_among(resource_methods,
		    sizeof(resource_methods) / sizeof(resource_methods[0]),
		    name);
	if (!found && has_tasks(catalog))
		found = find_among(tasks_methods, tasks_methods_n, name);
	if (!found)
		found = find_among(catalog->methods, catalog->methods_n, name);
	return found;
}
