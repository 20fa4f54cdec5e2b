/* era.c: the revision in force for a message, and its headers.
 * Hostile input: a client's metadata and headers. Fuzzed by fuzz_jsonrpc.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/era.h"

#include "conf/limits.h"
#include "mcp/header_value.h"
#include "mcp/jsonrpc.h"

#include <stdio.h>
#include <string.h>

/* ---- which era ---- */

#define DATE_LENGTH 10u /* of "2026-07-28" */

static bool
is_date(struct span text)
{
	static const char shape[] = "dddd-dd-dd";

	if (!text.p || text.n != DATE_LENGTH)
		return false;
	for (size_t i = 0; i < DATE_LENGTH; i++)
		if (shape[i] == 'd' ? text.p[i] < '0' || text.p[i] > '9'
				    : text.p[i] != '-')
			return false;
	return true;
}

bool
mcp_is_modern(struct span version)
{
	/* Revisions are dates. */
	return is_date(version) &&
	       memcmp(version.p, revision_oldest_modern(), DATE_LENGTH) >= 0;
}

bool
era_header_is_modern(const struct peer_headers *headers)
{
	return headers && mcp_is_modern(headers->version);
}

bool
era_is_modern(const struct peer_headers *headers, const struct message *message,
    const struct method *method)
{
	json_t *meta = json_object_get(message->params, "_meta");

	return json_object_get(meta, META_VERSION) ||
	       era_header_is_modern(headers) ||
	       (method && method->audience == FOR_MODERN);
}

json_t *
era_shown(struct span header)
{
	char text[NAME_SHOWN_MAX];
	size_t n = header.n < sizeof(text) ? header.n : sizeof(text);

	for (size_t i = 0; i < n; i++)
		text[i] =
		    (char)(header.p[i] > ' ' && header.p[i] < 0x7f ? header.p[i]
								   : '?');
	return json_stringn(text, n);
}

const struct revision *
era_legacy(const struct peer *peer, const struct peer_headers *headers)
{
	const struct revision *named, *force = peer->revision;
	json_t *name;

	if (!force)
		force = peer->conf.kind == PEER_STATELESS
			    ? revision_without_header()
			    : revision_latest_handshake();
	if (!headers || !headers->version.p)
		return force;
	name = era_shown(headers->version);
	named = revision_find(name);
	json_decref(name);
	if (!named || named->modern)
		return NULL;
	/* What was agreed on holds for the whole session. */
	return peer->revision && named != peer->revision ? NULL : named;
}

/* {"supported": [...], "requested": asked}; asked is borrowed. */
static json_t *
era_supported(json_t *asked)
{
	return json_pack(
	    "{s:o, s:O}", "supported", revision_names(), "requested", asked);
}

void
era_refuse(struct request *request, json_t *asked)
{
	request_fail(request, CODE_UNSUPPORTED_VERSION,
	    "unsupported protocol version", era_supported(asked));
}

/* ---- metadata ---- */

/* What is wrong with the metadata of a modern request; NULL: nothing. */
static const char *
meta_fault(const json_t *meta)
{
	json_t *version = json_object_get(meta, META_VERSION);
	json_t *client = json_object_get(meta, META_CLIENT);
	json_t *level = json_object_get(meta, META_LOG_LEVEL);

	if (!json_is_object(meta))
		return "_meta is required";
	if (!json_is_string(version))
		return META_VERSION " is required in _meta";
	if (json_string_length(version) > NAME_SHOWN_MAX)
		return META_VERSION " is too long";
	if (!json_is_object(json_object_get(meta, META_CAPABILITIES)))
		return META_CAPABILITIES " is required in _meta";
	if (client && !json_is_object(client))
		return META_CLIENT " is not an object";
	if (level && log_level_rank(level) < 0)
		return META_LOG_LEVEL " is not a level";
	return NULL;
}

/* ---- headers ---- */

static bool
refuse_header(struct request *request, const char *name, const char *why)
{
	char text[128];

	(void)snprintf(text, sizeof(text), "the header %s %s", name, why);
	request_fail(request, CODE_HEADER_MISMATCH, text, NULL);
	return false;
}

static bool
check_version_header(struct request *request, const json_t *version)
{
	const struct span header = request->headers->version;

	if (!header.p)
		return refuse_header(
		    request, "MCP-Protocol-Version", "is missing");
	if (!header_equals(header, version))
		return refuse_header(request, "MCP-Protocol-Version",
		    "is not the version in _meta");
	return true;
}

/* The parameter that a header repeats is judged by its method: a header is
 * wrong only where it does not say the same. */
static bool
check_name_header(struct request *request, const struct method *method)
{
	const struct span header = request->headers->name;
	json_t *value;

	if (!method || !method->named_by)
		return true;
	value = json_object_get(request->params, method->named_by);
	if (!header.p && !json_is_string(value))
		return true;
	if (!header.p)
		return refuse_header(request, "Mcp-Name", "is missing");
	if (!header_encodes(header, value))
		return refuse_header(
		    request, "Mcp-Name", "does not name what the body names");
	return true;
}

static bool
check_headers(struct request *request, const struct message *message,
    const struct method *method)
{
	const struct span named = request->headers->method;

	if (!named.p)
		return refuse_header(request, "Mcp-Method", "is missing");
	if (!header_equals(named, message->method))
		return refuse_header(
		    request, "Mcp-Method", "is not the body's method");
	return check_name_header(request, method);
}

bool
era_check(struct request *request, const struct message *message,
    const struct method *method)
{
	json_t *meta = json_object_get(request->params, "_meta");
	json_t *version = json_object_get(meta, META_VERSION);
	const struct revision *revision = revision_find(version);
	const char *fault = meta_fault(meta);

	request->revision = revision_latest();
	if (fault) {
		request_refuse(request, 400, CODE_INVALID_PARAMS, fault, NULL);
		return false;
	}
	if (request->headers && !check_version_header(request, version))
		return false;
	if (!revision || !revision->modern) {
		era_refuse(request, version);
		return false;
	}
	request->revision = revision;
	if (request->batch) {
		request_fail(request, CODE_INVALID_REQUEST,
		    "this revision has no batches", NULL);
		return false;
	}
	return !request->headers || check_headers(request, message, method);
}
