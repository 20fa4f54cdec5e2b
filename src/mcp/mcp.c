/* mcp.c: messages to methods: what a message is, which revision is in force
 * for it, and whether its method may be called.
 * Hostile input: a client's messages. Fuzzed by fuzz_jsonrpc.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/mcp.h"

#include "base/log.h"
#include "conf/limits.h"
#include "mcp/era.h"
#include "mcp/jsonrpc.h"
#include "mcp/method.h"
#include "mcp/request.h"
#include "mcp/tasks.h"

#include <string.h>
#include <sys/random.h>

/* A message on its way through the core. */
struct arrival {
	struct peer *peer;
	void *route;
	const struct peer_headers *headers; /* NULL: none */
	struct batch *batch;                /* NULL: it came alone */
	enum received received;
};

/* ---- requests ---- */

static bool
take_token(struct request *request)
{
	json_t *meta = json_object_get(request->params, "_meta");
	json_t *token = json_object_get(meta, "progressToken");

	if (json_is_null(token))
		return true;
	if (token && !json_is_id(token)) {
		/* Modern metadata that is wrong is a request that is wrong. */
		request_refuse(request, request->revision->modern ? 400 : 200,
		    CODE_INVALID_PARAMS,
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

/* The audience that a legacy request belongs to. */
static unsigned
legacy_audience(const struct peer *peer)
{
	if (peer->conf.kind == PEER_STATELESS)
		return FOR_HANDSHAKE | FOR_NEW;
	return peer->revision ? FOR_HANDSHAKE : FOR_NEW;
}

/* The session that a server with sessions wants of a legacy client. */
static bool
lacks_session(const struct peer *peer)
{
	return peer->conf.kind == PEER_STATELESS && peer->mcp->conf->sessions;
}

static bool
check_legacy(struct request *request, const struct method *method)
{
	struct peer *peer = request->peer;
	const struct peer_headers *headers = request->headers;
	const struct revision *revision = era_legacy(peer, headers);
	unsigned who = legacy_audience(peer);
	json_t *shown;

	if (!revision) {
		shown =
		    era_shown(headers ? headers->version : (struct span){ 0 });
		era_refuse(request, shown);
		json_decref(shown);
		return false;
	}
	request->revision = revision;
	if (lacks_session(peer)) {
		request_fail(request, CODE_INVALID_REQUEST,
		    "no session: initialize first, and send its Mcp-Session-Id",
		    NULL);
		return false;
	}
	if (who == FOR_NEW && !(method && method->audience & FOR_NEW)) {
		request_fail(request, CODE_INVALID_REQUEST,
		    "not initialized: initialize first, or name a protocol "
		    "version in _meta",
		    NULL);
		return false;
	}
	return true;
}

static void
dispatch(struct request *request, const struct message *message)
{
	struct peer *peer = request->peer;
	const struct method *method =
	    method_find(peer->mcp->catalog, message->method);
	bool modern = era_is_modern(request->headers, message, method);
	unsigned who = modern ? FOR_MODERN : legacy_audience(peer);
	bool ok = modern ? era_check(request, message, method)
			 : check_legacy(request, method);

	if (!ok)
		return;
	if (request_find(peer, request->id))
		request_fail(request, CODE_INVALID_REQUEST,
		    "a request with this id is still in flight", NULL);
	else if (!method || !(method->audience & who))
		fail_unknown(request, message->method);
	else if (take_token(request))
		method->handle(request);
}

static void
on_request(struct arrival *arrival, const struct message *message)
{
	struct peer *peer = arrival->peer;
	const struct revision *revision =
	    peer->revision ? peer->revision : revision_latest_handshake();
	struct request *request = request_new(
	    peer, arrival->route, arrival->batch, message, revision);

	arrival->received = RECEIVED_REQUEST;
	if (!request) {
		peer_send_error(peer, arrival->route, message->id,
		    CODE_INTERNAL_ERROR, "no memory for the request");
		return;
	}
	request->over_http = arrival->headers != NULL;
	request->headers = arrival->headers;
	dispatch(request, message);
}

/* ---- notifications and responses ---- */

static void
refuse(struct arrival *arrival, const char *why)
{
	arrival->received = RECEIVED_REFUSED;
	peer_send_error(
	    arrival->peer, arrival->route, NULL, CODE_INVALID_REQUEST, why);
}

static void
on_notification(struct arrival *arrival, const struct message *message)
{
	struct peer *peer = arrival->peer;
	json_t *id = json_object_get(message->params, "requestId");
	struct request *request;

	/* "notifications/initialized" needs nothing, and what is unknown is
	 * ignored, as the protocol wants. */
	if (!json_is_text(message->method, "notifications/cancelled")) {
		if (!json_is_text(message->method, "notifications/initialized"))
			peer->mcp->stats.strays++;
		return;
	}
	request = json_is_id(id) ? request_find(peer, id) : NULL;
	if (request)
		request_withdraw(request);
}

static void
on_response(struct arrival *arrival, const json_t *value)
{
	struct peer *peer = arrival->peer;

	if (era_header_is_modern(arrival->headers)) {
		refuse(arrival, "this server asks nothing of its clients");
		return;
	}
	if (!peer_answered(peer, value)) {
		peer->mcp->stats.strays++;
		log_debug("event=stray_response");
	}
}

/* A notification or response of a legacy client, over HTTP, has to belong to a
 * session that is known, where there are any. */
static bool
accepts_notes(struct arrival *arrival)
{
	struct peer *peer = arrival->peer;

	if (!arrival->headers || era_header_is_modern(arrival->headers))
		return true;
	if (!era_legacy(peer, arrival->headers))
		refuse(arrival, "unsupported protocol version");
	else if (lacks_session(peer))
		refuse(arrival, "no session: initialize first");
	else
		return true;
	return false;
}

/* ---- messages ---- */

static void
on_invalid(struct arrival *arrival, const struct message *message)
{
	arrival->received = RECEIVED_REQUEST;
	if (arrival->batch)
		batch_add(
		    arrival->batch, jsonrpc_error(message->id, true,
					message->code, message->why, NULL));
	else
		peer_send_error(arrival->peer, arrival->route, message->id,
		    message->code, message->why);
}

static void
on_value(struct arrival *arrival, const json_t *value)
{
	struct message message;

	jsonrpc_classify(value, &message);
	switch (message.kind) {
	case MESSAGE_INVALID:
		on_invalid(arrival, &message);
		break;
	case MESSAGE_REQUEST:
		on_request(arrival, &message);
		break;
	case MESSAGE_NOTIFICATION:
		if (accepts_notes(arrival))
			on_notification(arrival, &message);
		break;
	case MESSAGE_RESPONSE:
		if (accepts_notes(arrival))
			on_response(arrival, value);
		break;
	}
	message_done(&message);
}

static const char *
batch_fault(const struct arrival *arrival, const json_t *values)
{
	const struct peer *peer = arrival->peer;
	const struct revision *revision = era_legacy(peer, arrival->headers);
	bool begun = peer->revision || peer->conf.kind == PEER_STATELESS;

	if (!begun || !revision || !revision->batches)
		return "batches are not part of the protocol revision in force";
	if (json_array_size(values) == 0)
		return "the batch is empty";
	if (json_array_size(values) > BATCH_MAX)
		return "the batch is too large";
	return NULL;
}

static void
on_batch(struct arrival *arrival, const json_t *values)
{
	const char *why = batch_fault(arrival, values);

	if (why) {
		refuse(arrival, why);
		return;
	}
	arrival->batch =
	    batch_new(arrival->peer, arrival->route, json_array_size(values));
	if (!arrival->batch) {
		log_error("event=no_memory what=batch");
		arrival->received = RECEIVED_REQUEST;
		return;
	}
	for (size_t i = 0; i < json_array_size(values); i++)
		on_value(arrival, json_array_get(values, i));
	batch_release(arrival->batch);
}

static bool
is_blank(struct span text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!strchr(" \t\r", text.p[i]) || text.p[i] == '\0')
			return false;
	return true;
}

enum received
peer_receive(struct peer *peer, void *route, struct span text,
    const struct peer_headers *headers)
{
	struct arrival arrival = { .peer = peer,
		.route = route,
		.headers = headers,
		.received = RECEIVED_NOTHING };
	struct message broken;
	json_t *value;

	/* A line of nothing is no message; a request of nothing is a bad one.
	 */
	if (!headers && is_blank(text))
		return RECEIVED_NOTHING;
	value = jsonrpc_load(text, &broken);
	if (!value) {
		on_invalid(&arrival, &broken);
		message_done(&broken);
	} else if (json_is_array(value)) {
		on_batch(&arrival, value);
	} else {
		on_value(&arrival, value);
	}
	json_decref(value);
	return arrival.received;
}

void
peer_receive_too_long(struct peer *peer)
{
	peer_send_error(peer, NULL, NULL, CODE_INVALID_REQUEST,
	    "message longer than 16 MiB");
}

bool
mcp_is_initialize(struct span text)
{
	struct message message;
	json_t *value = jsonrpc_load(text, &message);
	bool is;

	if (!value) {
		message_done(&message);
		return false;
	}
	jsonrpc_classify(value, &message);
	is = message.kind == MESSAGE_REQUEST &&
	     json_is_text(message.method, "initialize") &&
	     !era_is_modern(NULL, &message, NULL);
	message_done(&message);
	json_decref(value);
	return is;
}

/* ---- peers ---- */

struct peer *
peer_new(struct mcp *mcp, const struct peer_conf *conf)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	peer->mcp = mcp;
	peer->conf = *conf;
	(void)principal_hold(conf->principal);
	LIST_INIT(&peer->requests);
	LIST_INIT(&peer->questions);
	LIST_INSERT_HEAD(&mcp->peers, peer, link);
	return peer;
}

unsigned
peer_busy(const struct peer *peer)
{
	return peer->busy;
}

const char *
peer_revision(const struct peer *peer)
{
	return peer->revision ? peer->revision->name : NULL;
}

bool
peer_restore(struct peer *peer, const char *revision)
{
	json_t *name = json_string(revision);
	const struct revision *found = revision_find(name);

	json_decref(name);
	if (!found || found->modern)
		return false;
	peer->revision = found;
	return true;
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
peer_route_gone(struct peer *peer, void *route)
{
	struct request *request, *next;

	for (request = LIST_FIRST(&peer->requests); request; request = next) {
		next = LIST_NEXT(request, link);
		if (request->route != route)
			continue;
		if (request->batch)
			request->batch->peer = NULL;
		request_cancel(request);
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
	principal_release(peer->conf.principal);
	json_decref(peer->capabilities);
	json_decref(peer->log_level);
	json_decref(peer->watched);
	free(peer);
}

/* ---- the core ---- */

struct mcp *
mcp_new(uv_loop_t *loop, struct room *room, const struct conf *conf,
    const struct catalog *catalog)
{
	return mcp_new_of(loop, &room, conf, 1, conf, catalog);
}

/* True if there is memory for what a core needs. */
static bool
mcp_fill(struct mcp *mcp, uv_loop_t *loop, struct room *const rooms[],
    const struct conf confs[], unsigned n)
{
	bool ok = mcp->tasks && getrandom(mcp->seal_key, sizeof(mcp->seal_key),
				    0) == (ssize_t)sizeof(mcp->seal_key);

	for (unsigned i = 0; ok && i < n; i++)
		ok = mcp_rooms_add(&mcp->rooms, loop, rooms[i], &confs[i]);
	return ok;
}

struct mcp *
mcp_new_of(uv_loop_t *loop, struct room *const rooms[],
    const struct conf confs[], unsigned n, const struct conf *conf,
    const struct catalog *catalog)
{
	struct mcp *mcp = calloc(1, sizeof(*mcp));
	uint32_t max_ms = conf->max_timeout_ms;

	if (!mcp)
		return NULL;
	for (unsigned i = 0; i < n; i++)
		if (confs[i].max_timeout_ms > max_ms)
			max_ms = confs[i].max_timeout_ms;
	/* A task can be asked for as long as what its call left behind. */
	mcp->tasks = tasks_new(loop, (uint64_t)max_ms + conf->keep_ms);
	if (!mcp_fill(mcp, loop, rooms, confs, n)) {
		tasks_close(mcp->tasks);
		mcp_rooms_close(&mcp->rooms);
		free(mcp);
		return NULL;
	}
	mcp->loop = loop;
	mcp->conf = conf;
	mcp->catalog = catalog;
	LIST_INIT(&mcp->peers);
	(void)uv_timer_init(loop, &mcp->progress);
	mcp->progress.data = mcp;
	return mcp;
}

const struct mcp_stats *
mcp_stats(const struct mcp *mcp)
{
	return &mcp->stats;
}

bool
mcp_room_at(const struct mcp *mcp, unsigned i, enum room_id *ret_id,
    const struct room **ret_room, const struct room_sessions **ret_sessions)
{
	const struct mcp_room *one = &mcp->rooms.list[i];

	if (i >= mcp->rooms.n)
		return false;
	*ret_id = one->conf->room;
	*ret_room = one->room;
	*ret_sessions = one->sessions;
	return true;
}

void
mcp_set_admission(struct mcp *mcp,
    bool (*admit)(
	void *arg, struct principal *principal, unsigned *ret_retry_s),
    void *arg)
{
	mcp->admit = admit;
	mcp->admit_arg = arg;
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
	tasks_close(mcp->tasks);
	mcp_rooms_close(&mcp->rooms);
	uv_close((uv_handle_t *)&mcp->progress, on_timer_closed);
}
