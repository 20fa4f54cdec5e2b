/* request.c: requests in flight, and what goes back to their peer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/request.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "conf/limits.h"
#include "mcp/jsonrpc.h"
#include "mcp/tasks.h"

#include <math.h>

/* What an envelope costs beside its id. */
#define ENVELOPE_FIXED 64u
/* The most that one costs: with an id escaped in full. */
#define ENVELOPE_MAX (ID_BYTES_MAX * 6 + ENVELOPE_FIXED)

/* ---- sending ---- */

void
peer_send(
    struct peer *peer, void *route, json_t *value, const struct sent *sent)
{
	own_buf struct buf message;

	/* A batch has as many envelopes as messages. */
	buf_init(&message, MESSAGE_OUT_MAX + BATCH_MAX * ENVELOPE_MAX);
	if (!value || jsonrpc_dump(value, &message) < 0)
		log_error("event=no_memory what=answer");
	else
		peer->conf.send(peer->conf.arg, route, &message, sent);
	json_decref(value);
}

void
peer_send_error(struct peer *peer, void *route, json_t *id,
    enum message_code code, const char *text)
{
	const struct revision *revision =
	    peer->revision ? peer->revision : revision_latest();
	const struct sent sent = { .kind = SENT_ANSWER, .status = 400 };

	peer->mcp->stats.errors++;
	peer_send(peer, route,
	    jsonrpc_error(id, revision->null_id, code, text, NULL), &sent);
}

/* There will be no answer by that route. */
static void
peer_send_over(struct peer *peer, void *route)
{
	const struct sent sent = { .kind = SENT_OVER };
	struct buf nothing;

	buf_init(&nothing, 0);
	if (route)
		peer->conf.send(peer->conf.arg, route, &nothing, &sent);
}

/* ---- batches ---- */

struct batch *
batch_new(struct peer *peer, void *route, size_t n)
{
	struct batch *batch = calloc(1, sizeof(*batch));

	if (!batch)
		return NULL;
	batch->peer = peer;
	batch->route = route;
	batch->answers = json_array();
	batch->pending = 1;
	batch->share = MESSAGE_OUT_MAX / n;
	return batch;
}

void
batch_add(struct batch *batch, json_t *answer)
{
	(void)json_array_append_new(batch->answers, answer);
}

void
batch_release(struct batch *batch)
{
	const struct sent sent = { .kind = SENT_ANSWER, .status = 200 };

	if (--batch->pending > 0)
		return;
	if (batch->peer && json_array_size(batch->answers) > 0)
		peer_send(batch->peer, batch->route,
		    json_incref(batch->answers), &sent);
	else if (batch->peer && batch->asked)
		peer_send_over(batch->peer, batch->route);
	json_decref(batch->answers);
	free(batch);
}

/* ---- life of a request ---- */

struct request *
request_new(struct peer *peer, void *route, struct batch *batch,
    const struct message *message, const struct revision *revision)
{
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->mcp = peer->mcp;
	request->peer = peer;
	request->route = route;
	request->revision = revision;
	request->room = peer->mcp->conf->room;
	request->id = json_incref(message->id);
	request->params = json_incref(message->params);
	request->batch = batch;
	request->principal = principal_hold(peer->conf.principal);
	request->progress = -1;
	buf_init(&request->news[0].text, 2u * PROGRESS_TEXT_MAX);
	buf_init(&request->news[1].text, 2u * PROGRESS_TEXT_MAX);
	if (batch) {
		batch->pending++;
		batch->asked = true;
	}
	return request;
}

static bool
is_busy(const struct request *request)
{
	return request->state == REQUEST_CALL || request->state == REQUEST_WAIT;
}

/* Takes the request from its peer; the batch is held for the caller. */
static struct batch *
detach(struct request *request)
{
	struct batch *batch = request->batch;

	if (!request->peer) /* it was answered early */
		return NULL;
	if (request->state != REQUEST_NEW)
		LIST_REMOVE(request, link);
	if (is_busy(request))
		request->peer->busy--;
	if (request->state == REQUEST_LISTEN)
		request->peer->subscriptions--;
	request_forget_questions(request);
	request->peer = NULL;
	request->route = NULL;
	request->batch = NULL;
	return batch;
}

static void
request_free(struct request *request)
{
	tasks_forget(request);
	json_decref(request->id);
	json_decref(request->params);
	json_decref(request->token);
	buf_done(&request->news[0].text);
	buf_done(&request->news[1].text);
	principal_release(request->principal);
	free(request);
}

static void
request_reply(struct request *request, unsigned status, json_t *envelope)
{
	struct peer *peer = request->peer;
	void *route = request->route;
	const struct sent sent = { .kind = SENT_ANSWER,
		.status = status,
		.retry_s = request->retry_s,
		.modern = request->revision->modern };
	struct batch *batch = detach(request);

	request_free(request);
	if (!batch) {
		peer_send(peer, route, envelope, &sent);
		return;
	}
	batch_add(batch, envelope);
	batch_release(batch);
}

void
request_answer(struct request *request, json_t *result)
{
	if (tasks_take(request, result, NULL))
		request_free(request);
	else
		request_reply(
		    request, 200, jsonrpc_result(request->id, result));
}

void
request_answer_early(struct request *request, json_t *result)
{
	struct peer *peer = request->peer;
	void *route = request->route;
	const struct sent sent = { .kind = SENT_ANSWER,
		.status = 200,
		.modern = request->revision->modern };

	/* Tasks are of a revision that has no batches. */
	(void)detach(request);
	peer_send(peer, route, jsonrpc_result(request->id, result), &sent);
}

void
request_refuse(struct request *request, unsigned status, enum message_code code,
    const char *text, json_t *data)
{
	json_t *envelope = jsonrpc_error(request->id, false, code, text, data);
	json_t *error = json_incref(json_object_get(envelope, "error"));

	request->mcp->stats.errors++;
	if (tasks_take(request, NULL, error)) {
		json_decref(envelope);
		request_free(request);
		return;
	}
	json_decref(error);
	request_reply(request, status, envelope);
}

/* What HTTP says of an error. Legacy clients look into the body of a 200, and
 * take most others for a broken transport. */
static unsigned
http_status(const struct request *request, enum message_code code)
{
	switch (code) {
	case CODE_PARSE_ERROR:
	case CODE_INVALID_REQUEST:
	case CODE_HEADER_MISMATCH:
	case CODE_MISSING_CAPABILITY:
	case CODE_UNSUPPORTED_VERSION:
		return 400;
	case CODE_METHOD_NOT_FOUND:
		return request->revision->modern ? 404 : 200;
	case CODE_INTERNAL_ERROR:
		return request->revision->modern ? 500 : 200;
	case CODE_INVALID_PARAMS:
	case CODE_RESOURCE_NOT_FOUND:
		return 200;
	}
	BUG("an error of no code");
}

void
request_fail(struct request *request, enum message_code code, const char *text,
    json_t *data)
{
	request_refuse(request, http_status(request, code), code, text, data);
}

bool
request_defer(
    struct request *request, enum busy busy, unsigned retry_s, const char *text)
{
	if (!request->peer || !request->over_http || !request->revision->modern)
		return false;
	request->retry_s = retry_s;
	request_refuse(request, busy == BUSY_CALLER ? 429 : 503,
	    CODE_INVALID_REQUEST, text, NULL);
	return true;
}

void
request_keep(struct request *request, enum request_state state)
{
	request->state = state;
	request->headers = NULL;
	LIST_INSERT_HEAD(&request->peer->requests, request, link);
	if (is_busy(request))
		request->peer->busy++;
	else
		request->peer->subscriptions++;
}

void
request_wait(struct request *request,
    void (*cancelled)(struct request *request, void *arg), void *arg)
{
	request->cancelled = cancelled;
	request->cancelled_arg = arg;
	request->began_us = clock_us();
	request_keep(request, REQUEST_WAIT);
}

struct request *
request_find(struct peer *peer, const json_t *id)
{
	struct request *request = LIST_FIRST(&peer->requests);

	while (request && !json_equal(request->id, id))
		request = LIST_NEXT(request, link);
	return request;
}

struct mcp_room *
request_room(const struct request *request)
{
	return mcp_rooms_find(&request->mcp->rooms, request->room);
}

void
request_cancel(struct request *request)
{
	struct batch *batch = detach(request);

	if (request->state == REQUEST_CALL) {
		/* Nobody is left to hear of a task. */
		tasks_forget(request);
		room_sessions_cancel(
		    request_room(request)->sessions, request->call);
	} else {
		if (request->cancelled)
			request->cancelled(request, request->cancelled_arg);
		request_free(request);
	}
	if (batch)
		batch_release(batch);
}

void
request_withdraw(struct request *request)
{
	struct peer *peer = request->peer;
	void *route = request->route;
	bool alone = !request->batch;

	request_cancel(request);
	if (alone)
		peer_send_over(peer, route);
}

bool
request_call_ended(struct request *request)
{
	struct mcp *mcp = request->mcp;
	bool waited_for = request->peer || request->task;

	mcp->calls--;
	mcp->calls_bytes -= request->call_bytes;
	if (request->principal)
		request->principal->calls_bytes -= request->call_bytes;
	if (!waited_for) {
		request_free(request);
		mcp_release(mcp);
	}
	return waited_for;
}

static size_t
id_cost(const json_t *id)
{
	struct span text = { (const uint8_t *)json_string_value(id),
		json_string_length(id) };

	return json_is_string(id) ? jsonrpc_text_cost(text) : 20;
}

struct answer_form
request_form(const struct request *request)
{
	const struct conf *own = request_room(request)->conf;
	size_t share = request->batch ? request->batch->share : MESSAGE_OUT_MAX;
	size_t envelope = ENVELOPE_FIXED + id_cost(request->id);

	return (struct answer_form){
		.revision = request->revision,
		.structured =
		    request->structured &&
			    request->mcp->conf->structured == STRUCTURED_AUTO
			? STRUCTURED_ALWAYS
			: request->mcp->conf->structured,
		.room = request->room,
		.conf = own,
		.output_chars = own->output_chars,
		.bytes_max = share > envelope ? share - envelope : 0,
		.inline_files = request->inline_files,
		.max_wall_ms = own->max_timeout_ms,
		.memory_bytes = own->memory_bytes,
	};
}

/* ---- progress ---- */

/* Adds what is new under its name, and forgets it. */
static void
news_take(struct news *news, const char *name, struct buf *into)
{
	if (news->text.n == 0)
		return;
	if (into->n > 0 && into->p[into->n - 1] != '\n')
		(void)buf_add_text(into, "\n");
	(void)buf_add_text(into, name);
	if (news->cut)
		(void)buf_add_text(into, "...\n");
	(void)buf_add(into, news->text.p, news->text.n);
	buf_done(&news->text);
	news->cut = false;
}

/* What is told of a call that runs: its new output, or that it runs. */
static void
progress_send(struct request *request, uint64_t now_us)
{
	double hundredths = floor((double)(now_us - request->began_us) / 1e4);
	own_buf struct buf text;

	buf_init(&text, 4u * PROGRESS_TEXT_MAX);
	news_take(&request->news[0], "", &text);
	news_take(&request->news[1], "[stderr]\n", &text);
	if (text.n == 0) {
		hundredths = floor(hundredths / 10) * 10;
		(void)buf_printf(&text, "%.0f s so far", hundredths / 100);
	}
	if (buf_add(&text, "", 1) == 0)
		request_progress(
		    request, hundredths / 100, 0, (const char *)text.p);
	request->said_us = now_us;
	request->due_us = now_us + PROGRESS_EVERY_MS * 1000u;
}

/* Sends what is due to a peer; when it has to be asked again. */
static uint64_t
peer_progress(struct peer *peer, uint64_t now_us)
{
	uint64_t due_us = UINT64_MAX;
	struct request *request = LIST_FIRST(&peer->requests);

	for (; request; request = LIST_NEXT(request, link)) {
		if (!request->token || request->state != REQUEST_CALL)
			continue;
		if (request->due_us <= now_us)
			progress_send(request, now_us);
		if (request->due_us < due_us)
			due_us = request->due_us;
	}
	return due_us;
}

static void
on_progress_due(uv_timer_t *timer)
{
	mcp_progress(timer->data, clock_us());
}

void
mcp_progress(struct mcp *mcp, uint64_t now_us)
{
	uint64_t first_us = UINT64_MAX;
	struct peer *peer = LIST_FIRST(&mcp->peers);

	for (; peer; peer = LIST_NEXT(peer, link)) {
		uint64_t due_us = peer_progress(peer, now_us);

		if (due_us < first_us)
			first_us = due_us;
	}
	if (first_us == UINT64_MAX)
		(void)uv_timer_stop(&mcp->progress);
	else
		(void)uv_timer_start(&mcp->progress, on_progress_due,
		    (first_us - now_us) / 1000 + 1, 0);
}

/* A message's string ends at a NUL. */
static void
replace_nul(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] == '\0')
			p[i] = '?';
}

/* Leaves the last characters, at most PROGRESS_TEXT_MAX bytes. */
static void
news_trim(struct news *news)
{
	struct buf *text = &news->text;
	size_t n;

	if (text->n <= PROGRESS_TEXT_MAX)
		return;
	n = text->n - PROGRESS_TEXT_MAX;
	while (n < text->n && (text->p[n] & 0xc0) == 0x80)
		n++;
	buf_drop(text, n);
	news->cut = true;
}

void
request_say(struct request *request, bool err, struct span text)
{
	struct news *news = &request->news[err];
	uint64_t now_us = clock_us();
	uint64_t due_us = request->said_us + PROGRESS_TEXT_MS * 1000u;

	if (!request->peer || !request->token || text.n == 0)
		return;
	if (text.n > PROGRESS_TEXT_MAX) {
		text.p += text.n - PROGRESS_TEXT_MAX;
		text.n = PROGRESS_TEXT_MAX;
		news->text.n = 0;
		news->cut = true;
	}
	while (news->cut && text.n > 0 && (*text.p & 0xc0) == 0x80) {
		text.p++; /* not within a character */
		text.n--;
	}
	if (buf_add(&news->text, text.p, text.n) < 0)
		return;
	replace_nul(news->text.p + news->text.n - text.n, text.n);
	news_trim(news);
	request->due_us = due_us > now_us ? due_us : now_us;
	mcp_progress(request->mcp, now_us);
}
