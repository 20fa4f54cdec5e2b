/* mcp.c: messages to methods: what a message is, which revision is in force
 * for it, and whether its method may be called.
 * Hostile input: a client's messages. Fuzzed by fuzz_jsonrpc.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/mcp.h"

#include "base/log.h"
#include "conf/limits.h"
#include "mcp/jsonrpc.h"
#include "mcp/method.h"
#include "mcp/request.h"

#include <string.h>

/* ---- requests ---- */

static bool
is_modern(const struct message *message, const struct method *method)
{
	json_t *meta = json_object_get(message->params, "_meta");

	return json_object_get(meta, META_VERSION) ||
	       (method && method->audience == FOR_MODERN);
}

/* What is wrong with the metadata of a modern request; NULL: nothing. */
static const char *
modern_meta_fault(const json_t *meta)
{
	static const char *const levels[] = { "debug", "info", "notice",
		"warning", "error", "critical", "alert", "emergency" };
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
	if (!level)
		return NULL;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (json_is_text(level, levels[i]))
			return NULL;
	return META_LOG_LEVEL " is not a level";
}

static bool
check_modern(struct request *request)
{
	json_t *meta = json_object_get(request->params, "_meta");
	json_t *version = json_object_get(meta, META_VERSION);
	const struct revision *revision = revision_find(version);
	const char *fault = modern_meta_fault(meta);

	if (fault) {
		request_fail(request, CODE_INVALID_PARAMS, fault, NULL);
		return false;
	}
	if (!revision || !revision->modern) {
		request_fail(request, CODE_UNSUPPORTED_VERSION,
		    "unsupported protocol version",
		    json_pack("{s:o, s:O}", "supported", revision_names(),
			"requested", version));
		return false;
	}
	request->revision = revision;
	if (request->batch) {
		request_fail(request, CODE_INVALID_REQUEST,
		    "this revision has no batches", NULL);
		return false;
	}
	return true;
}

static bool
take_token(struct request *request)
{
	json_t *meta = json_object_get(request->params, "_meta");
	json_t *token = json_object_get(meta, "progressToken");

	if (json_is_null(token))
		return true;
	if (token && !json_is_id(token)) {
		request_fail(request, CODE_INVALID_PARAMS,
		    "progressToken is not a string or an integer", NULL);
		return false;
	}
	request->token = json_incref(token);
	return true;
}

static void
fail_unknown(struct request *request, const json_t *name)
{
	char shown[NAME_SHOWN_SIZE], text[NAME_SHOWN_SIZE + 32];

	(void)snprintf(
	    text, sizeof(text), "unknown method: %s", json_shown(name, shown));
	request_fail(request, CODE_METHOD_NOT_FOUND, text, NULL);
}

static void
dispatch(struct request *request, const struct message *message)
{
	const struct method *method = method_find(message->method);
	struct peer *peer = request->peer;
	unsigned who = peer->revision ? FOR_HANDSHAKE : FOR_NEW;

	if (is_modern(message, method)) {
		who = FOR_MODERN;
		if (!check_modern(request))
			return;
	}
	if (request_find(peer, request->id))
		request_fail(request, CODE_INVALID_REQUEST,
		    "a request with this id is still in flight", NULL);
	else if (who == FOR_NEW && !(method && method->audience & FOR_NEW))
		request_fail(request, CODE_INVALID_REQUEST,
		    "not initialized: initialize first, or name a protocol "
		    "version in _meta",
		    NULL);
	else if (!method || !(method->audience & who))
		fail_unknown(request, message->method);
	else if (take_token(request))
		method->handle(request);
}

/* ---- notifications ---- */

static void
on_notification(struct peer *peer, const struct message *message)
{
	json_t *id = json_object_get(message->params, "requestId");
	struct request *request;

	/* "notifications/initialized" needs nothing, and what is unknown is
	 * ignored, as the protocol wants. */
	if (!json_is_text(message->method, "notifications/cancelled"))
		return;
	request = json_is_id(id) ? request_find(peer, id) : NULL;
	if (request)
		request_cancel(request);
}

/* ---- messages ---- */

static void
on_invalid(
    struct peer *peer, struct batch *batch, const struct message *message)
{
	if (batch)
		batch_add(batch, jsonrpc_error(message->id, true, message->code,
				     message->why, NULL));
	else
		peer_send_error(peer, message->id, message->code, message->why);
}

static void
on_value(struct peer *peer, struct batch *batch, const json_t *value)
{
	const struct revision *revision =
	    peer->revision ? peer->revision : revision_latest_handshake();
	struct message message;
	struct request *request;

	jsonrpc_classify(value, &message);
	switch (message.kind) {
	case MESSAGE_INVALID:
		on_invalid(peer, batch, &message);
		break;
	case MESSAGE_REQUEST:
		request = request_new(peer, batch, &message, revision);
		if (request) {
			dispatch(request, &message);
		} else {
			message.code = CODE_INTERNAL_ERROR;
			message.why = "no memory for the request";
			on_invalid(peer, batch, &message);
		}
		break;
	case MESSAGE_NOTIFICATION:
		on_notification(peer, &message);
		break;
	case MESSAGE_RESPONSE:
		log_debug("event=stray_response");
		break;
	}
	message_done(&message);
}

static void
on_batch(struct peer *peer, const json_t *values)
{
	struct batch *batch;
	const char *why = NULL;

	if (!peer->revision || !peer->revision->batches)
		why = "batches are not part of the protocol revision in force";
	else if (json_array_size(values) == 0)
		why = "the batch is empty";
	else if (json_array_size(values) > BATCH_MAX)
		why = "the batch is too large";
	if (why) {
		peer_send_error(peer, NULL, CODE_INVALID_REQUEST, why);
		return;
	}
	batch = batch_new(peer, json_array_size(values));
	if (!batch) {
		log_error("event=no_memory what=batch");
		return;
	}
	for (size_t i = 0; i < json_array_size(values); i++)
		on_value(peer, batch, json_array_get(values, i));
	batch_release(batch);
}

static bool
is_blank(struct span text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!strchr(" \t\r", text.p[i]) || text.p[i] == '\0')
			return false;
	return true;
}

void
peer_receive(struct peer *peer, struct span text)
{
	struct message broken;
	json_t *value;

	if (is_blank(text))
		return;
	value = jsonrpc_load(text, &broken);
	if (!value) {
		on_invalid(peer, NULL, &broken);
		message_done(&broken);
	} else if (json_is_array(value)) {
		on_batch(peer, value);
	} else {
		on_value(peer, NULL, value);
	}
	json_decref(value);
}

void
peer_receive_too_long(struct peer *peer)
{
	peer_send_error(
	    peer, NULL, CODE_INVALID_REQUEST, "message longer than 16 MiB");
}

/* ---- peers and the core ---- */

struct peer *
peer_new(
    struct mcp *mcp, void (*send)(void *arg, struct buf *message), void *arg)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	peer->mcp = mcp;
	peer->send = send;
	peer->arg = arg;
	LIST_INIT(&peer->requests);
	LIST_INSERT_HEAD(&mcp->peers, peer, link);
	return peer;
}

unsigned
peer_busy(const struct peer *peer)
{
	return peer->busy;
}

void
peer_end_subscriptions(struct peer *peer)
{
	struct request *request, *next;

	for (request = LIST_FIRST(&peer->requests); request; request = next) {
		next = LIST_NEXT(request, link);
		if (request->state == REQUEST_LISTEN)
			method_end_subscription(request);
	}
}

void
peer_close(struct peer *peer)
{
	struct request *request;

	if (!peer)
		return;
	while ((request = LIST_FIRST(&peer->requests))) {
		if (request->batch)
			request->batch->peer = NULL;
		request_cancel(request);
	}
	LIST_REMOVE(peer, link);
	free(peer);
}

struct mcp *
mcp_new(uv_loop_t *loop, struct room *room, const struct conf *conf,
    const char *text)
{
	struct mcp *mcp = calloc(1, sizeof(*mcp));

	if (!mcp)
		return NULL;
	mcp->room = room;
	mcp->conf = conf;
	mcp->text = text;
	LIST_INIT(&mcp->peers);
	(void)uv_timer_init(loop, &mcp->progress);
	mcp->progress.data = mcp;
	return mcp;
}

static void
on_timer_closed(uv_handle_t *handle)
{
	struct mcp *mcp = handle->data;

	mcp->closed = true;
	mcp_release(mcp);
}

void
mcp_release(struct mcp *mcp)
{
	if (mcp->closed && mcp->calls == 0)
		free(mcp);
}

void
mcp_close(struct mcp *mcp)
{
	if (!mcp)
		return;
	uv_close((uv_handle_t *)&mcp->progress, on_timer_closed);
}
