/* ask.c: what goes to a client beside an answer: notifications, and requests
 * of ours to a legacy client.
 * Hostile input: a client's answers and capabilities.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "conf/limits.h"
#include "mcp/jsonrpc.h"
#include "mcp/method.h"
#include "mcp/request.h"

#include <errno.h>
#include <stdlib.h>

/* ---- notifications ---- */

static void
send_along(struct request *request, json_t *value)
{
	const struct sent sent = { .kind = SENT_NOTE,
		.modern = request->revision->modern };

	if (request->peer)
		peer_send(request->peer, request->route, value, &sent);
	else
		json_decref(value);
}

void
request_note(struct request *request, const char *method, json_t *params)
{
	send_along(request, jsonrpc_notification(method, params));
}

void
request_progress(
    struct request *request, double progress, double total, const char *text)
{
	json_t *params;

	if (!request->token || progress <= request->progress)
		return;
	request->progress = progress;
	params = json_pack("{s:O, s:f}", "progressToken", request->token,
	    "progress", progress);
	if (total > 0)
		(void)json_object_set_new(params, "total", json_real(total));
	if (text && request->revision->progress_message)
		(void)json_object_set_new(params, "message", json_string(text));
	request_note(request, "notifications/progress", params);
}

/* The least level that the client wants; NULL: none at all. */
static const json_t *
log_threshold(const struct request *request)
{
	json_t *meta = json_object_get(request->params, "_meta");

	return request->revision->modern ? json_object_get(meta, META_LOG_LEVEL)
					 : request->peer->log_level;
}

void
request_log(struct request *request, const char *level, json_t *data)
{
	const json_t *least = request->peer ? log_threshold(request) : NULL;
	json_t *name = json_string(level);
	bool wanted = least ? log_level_rank(name) >= log_level_rank(least)
			    : !request->revision->modern;

	json_decref(name);
	if (wanted && request->peer)
		request_note(request, "notifications/message",
		    json_pack("{s:s, s:o}", "level", level, "data", data));
	else
		json_decref(data);
}

void
request_drop_stream(struct request *request)
{
	const struct sent sent = { .kind = SENT_DROP };
	struct buf nothing;

	buf_init(&nothing, 0);
	if (request->peer && request->peer->conf.kind == PEER_SESSION)
		request->peer->conf.send(
		    request->peer->conf.arg, request->route, &nothing, &sent);
}

/* ---- requests of ours ---- */

int
request_ask(struct request *request, const char *method, json_t *params,
    void (*answered)(struct request *request, json_t *answer))
{
	struct peer *peer = request->peer;
	struct question *question;

	if (!peer || peer->conf.kind == PEER_STATELESS ||
	    request->revision->modern) {
		json_decref(params);
		return -ENOTSUP;
	}
	question = calloc(1, sizeof(*question));
	if (!question) {
		json_decref(params);
		return -ENOMEM;
	}
	question->number = ++peer->last_question;
	question->request = request;
	question->answered = answered;
	LIST_INSERT_HEAD(&peer->questions, question, link);
	send_along(request, json_pack("{s:s, s:I, s:s, s:o}", "jsonrpc", "2.0",
				"id", (json_int_t)question->number, "method",
				method, "params", params));
	return 0;
}

bool
peer_answered(struct peer *peer, const json_t *response)
{
	json_t *id = json_object_get(response, "id");
	struct question *question = LIST_FIRST(&peer->questions);
	struct request *request;
	void (*answered)(struct request *, json_t *);

	while (question &&
	       !(json_is_integer(id) &&
		   json_integer_value(id) == (json_int_t)question->number))
		question = LIST_NEXT(question, link);
	if (!question)
		return false;
	request = question->request;
	answered = question->answered;
	LIST_REMOVE(question, link);
	free(question);
	answered(request, json_object_get(response, "result"));
	return true;
}

void
request_forget_questions(struct request *request)
{
	struct question *question, *next;

	if (!request->peer)
		return;
	question = LIST_FIRST(&request->peer->questions);
	for (; question; question = next) {
		next = LIST_NEXT(question, link);
		if (question->request != request)
			continue;
		LIST_REMOVE(question, link);
		free(question);
	}
}

/* ---- capabilities ---- */

json_t *
capabilities_kept(const json_t *capabilities)
{
	static const char *const names[] = { "sampling", "elicitation",
		"roots" };
	static const char *const parts[] = { "form", "url", "tools",
		"context" };
	json_t *kept = json_object();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_t *had = json_object_get(capabilities, names[i]);
		json_t *copy;

		if (!json_is_object(had))
			continue;
		copy = json_object();
		for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
			if (json_is_object(json_object_get(had, parts[k])))
				(void)json_object_set_new(
				    copy, parts[k], json_object());
		(void)json_object_set_new(kept, names[i], copy);
	}
	return kept;
}

const json_t *
request_capability(const struct request *request, const char *name)
{
	json_t *meta = json_object_get(request->params, "_meta");
	const json_t *all = request->revision->modern
				? json_object_get(meta, META_CAPABILITIES)
			    : request->peer ? request->peer->capabilities
					    : NULL;

	return json_object_get(all, name);
}

void
request_fail_capability(struct request *request, json_t *required)
{
	request_fail(request, CODE_MISSING_CAPABILITY,
	    "the client lacks a capability that this needs",
	    json_pack("{s:o}", "requiredCapabilities", required));
}
