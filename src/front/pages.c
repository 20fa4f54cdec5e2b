/* pages.c: the pages for operators, the one that tells clients where to get a
 * token, and the playground.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/endpoint_impl.h"

#include "base/own.h"
#include "front/http.h"
#include "front/metrics.h"
#include "front/ui.h"

#include <string.h>

#define METRICS_MAX ((size_t)64 * KIB)
#define TEXT_TYPE   "text/plain; charset=utf-8"
#define METADATA    "/.well-known/oauth-protected-resource"

static void
answer_text(struct exchange *exchange, unsigned status, const char *text)
{
	own_buf struct buf body;

	buf_init(&body, 64);
	(void)buf_add_text(&body, text);
	exchange_answer(exchange, status, NULL, TEXT_TYPE, &body);
}

static void
answer_health(struct endpoint *endpoint, struct exchange *exchange)
{
	(void)endpoint;
	answer_text(exchange, 200, "ok\n");
}

static void
answer_ready(struct endpoint *endpoint, struct exchange *exchange)
{
	if (endpoint->ended)
		answer_text(exchange, 503, "ending\n");
	else if (!endpoint->room || room_ready(endpoint->room))
		answer_text(exchange, 200, "ready\n");
	else
		answer_text(exchange, 503, "the room is not warm\n");
}

static void
look_at_rooms(const struct mcp *mcp, struct metrics *metrics)
{
	const struct room_sessions *sessions;
	const struct room *room;
	enum room_id id;

	while (mcp_room_at(mcp, metrics->rooms_n, &id, &room, &sessions)) {
		struct metrics_room *one = &metrics->rooms[metrics->rooms_n++];

		one->id = id;
		if (room)
			room_stats(room, &one->stats);
		room_sessions_stats(sessions, &one->sessions);
	}
}

static void
answer_metrics(struct endpoint *endpoint, struct exchange *exchange)
{
	struct metrics metrics = { .mcp = mcp_stats(endpoint->mcp),
		.refusals = &endpoint->refusals,
		.requests = endpoint->requests,
		.bytes_in = endpoint->bytes_in,
		.bytes_out = endpoint->bytes_out,
		.streams = endpoint->routes.streams,
		.store_bytes =
		    endpoint->store ? store_bytes(endpoint->store) : 0 };
	own_buf struct buf body;

	look_at_rooms(endpoint->mcp, &metrics);
	if (endpoint->http)
		metrics.connections = http_connections(endpoint->http);
	if (endpoint->sessions) {
		metrics.sessions = sessions_count(endpoint->sessions);
		metrics.session_events_bytes =
		    sessions_events_bytes(endpoint->sessions);
	}
	buf_init(&body, METRICS_MAX);
	if (metrics_write(&metrics, &body) < 0)
		endpoint_refuse(endpoint, exchange, 500, "memory",
		    "no memory for the page");
	else
		exchange_answer(exchange, 200, NULL, METRICS_TYPE, &body);
}

static void
answer_metadata(struct endpoint *endpoint, struct exchange *exchange)
{
	const char *text = auth_metadata(endpoint->auth);
	own_buf struct buf body;

	buf_init(&body, strlen(text));
	(void)buf_add_text(&body, text);
	exchange_answer(exchange, 200, "Access-Control-Allow-Origin: *\r\n",
	    "application/json", &body);
}

static void
answer_ui(struct endpoint *endpoint, struct exchange *exchange)
{
	const struct ui_file *file = ui_find(exchange_head(exchange)->path);

	(void)endpoint;
	if (file)
		ui_answer(exchange, file);
	else
		BUG("a page of no file");
}

/* ---- which there are ---- */

static bool
is_shown(enum where where, bool admin)
{
	return where == WHERE_MAIN || (where == WHERE_ADMIN && admin);
}

static bool
health_shown(const struct endpoint *endpoint, bool admin)
{
	(void)endpoint;
	(void)admin;
	return true;
}

static bool
ready_shown(const struct endpoint *endpoint, bool admin)
{
	return is_shown(endpoint->conf->readyz, admin);
}

static bool
metrics_shown(const struct endpoint *endpoint, bool admin)
{
	return is_shown(endpoint->conf->metrics, admin);
}

static bool
metadata_shown(const struct endpoint *endpoint, bool admin)
{
	return !admin && auth_metadata(endpoint->auth);
}

static bool
ui_shown(const struct endpoint *endpoint, bool admin)
{
	return endpoint->conf->ui && !admin;
}

static const struct page pages[] = {
	{ "/healthz", health_shown, false, false, answer_health },
	{ "/readyz", ready_shown, false, false, answer_ready },
	{ "/metrics", metrics_shown, true, false, answer_metrics },
	{ METADATA, metadata_shown, false, true, answer_metadata },
};

/* All files of the playground. Whoever has the page has no more than it: it
 * asks for a token itself where the endpoint wants one. */
static const struct page ui_page = { NULL, ui_shown, false, false, answer_ui };

static bool
is_metadata(const struct endpoint *endpoint, struct span path)
{
	const char *other = auth_metadata_path(endpoint->auth);

	return other && span_is(path, other);
}

const struct page *
page_find(const struct endpoint *endpoint, struct span path, bool admin)
{
	const struct page *page = NULL;

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (span_is(path, pages[i].path) ||
		    (pages[i].answer == answer_metadata &&
			is_metadata(endpoint, path)))
			page = &pages[i];
	if (!page && ui_find(path))
		page = &ui_page;
	return page && page->shown(endpoint, admin) ? page : NULL;
}

void
page_head(struct endpoint *endpoint, struct exchange *exchange,
    const struct page *page)
{
	static const struct http_refusal wrong_method = { 405, "method",
		"this page is only read", "Allow: GET, HEAD\r\n" };
	const struct http_head *head = exchange_head(exchange);
	struct principal *principal;

	if (head->method != HTTP_GET && head->method != HTTP_HEAD) {
		refusal_answer(&endpoint->refusals, exchange, &wrong_method);
		return;
	}
	if (page->guarded && !exchange_is_admin(exchange)) {
		principal = endpoint_principal(endpoint, exchange);
		if (!principal)
			return;
		principal_release(principal);
	}
	if (!exchange_limit_body(exchange, 0))
		endpoint_refuse(endpoint, exchange, 413, "too_large",
		    "this page takes no body");
}
