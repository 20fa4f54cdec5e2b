/* endpoint.c: every request, from whichever listener, on its way to the
 * protocol or to a page.
 * Hostile input: paths and headers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/endpoint.h"

#include "base/clock.h"
#include "front/endpoint_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK_MS 500u /* how late a sign of life may be */

/* ---- refusals ---- */

static struct http_refusal
refusal_of(unsigned status, const char *reason, const char *text)
{
	bool busy = status == 503 || status == 429;

	return (struct http_refusal){ status, reason, text,
		busy ? "Retry-After: 1\r\n" : NULL };
}

void
endpoint_refuse(struct endpoint *endpoint, struct exchange *exchange,
    unsigned status, const char *reason, const char *text)
{
	const struct http_refusal refusal = refusal_of(status, reason, text);

	refusal_answer(&endpoint->refusals, exchange, &refusal);
}

void
endpoint_refuse_route(
    struct route *route, unsigned status, const char *reason, const char *text)
{
	const struct http_refusal refusal = refusal_of(status, reason, text);

	route_refuse(route, &refusal);
}

/* ---- every request ---- */

static bool
check_guard(struct endpoint *endpoint, struct exchange *exchange, bool open)
{
	const struct http_head *head = exchange_head(exchange);
	const struct guard *guard = exchange_is_admin(exchange)
					? &endpoint->admin_guard
					: &endpoint->guard;

	if (!guard_host(guard, head->headers[HEADER_HOST])) {
		endpoint_refuse(endpoint, exchange, 403, "host",
		    "this Host is not served here");
		return false;
	}
	if (!open && !guard_origin(guard, head->headers[HEADER_ORIGIN])) {
		endpoint_refuse(endpoint, exchange, 403, "origin",
		    "this Origin may not ask");
		return false;
	}
	return true;
}

static bool
is_protocol(struct exchange *exchange)
{
	return !exchange_is_admin(exchange) &&
	       span_is(exchange_head(exchange)->path, "/mcp");
}

static const struct page *
page_of(const struct endpoint *endpoint, struct exchange *exchange)
{
	return page_find(endpoint, exchange_head(exchange)->path,
	    exchange_is_admin(exchange));
}

static void
on_head(void *arg, struct exchange *exchange)
{
	struct endpoint *endpoint = arg;
	const struct page *page = page_of(endpoint, exchange);

	endpoint->requests++;
	if (!check_guard(endpoint, exchange, page && page->open))
		return;
	if (is_protocol(exchange))
		protocol_head(endpoint, exchange);
	else if (page)
		page_head(endpoint, exchange, page);
	else
		endpoint_refuse(
		    endpoint, exchange, 404, "path", "there is nothing here");
}

static void
on_turn(void *arg, struct route *route)
{
	protocol_request(arg, route);
}

static void
on_request(void *arg, struct exchange *exchange)
{
	struct endpoint *endpoint = arg;
	struct route *route = exchange_owner(exchange);
	const struct page *page;

	if (route) {
		turns_take(&endpoint->turns, route);
		return;
	}
	page = page_of(endpoint, exchange);
	if (page)
		page->answer(endpoint, exchange);
	else
		exchange_abort(exchange);
}

static void
on_gone(void *owner)
{
	route_gone(owner);
}

static void
on_refused(void *arg, unsigned status, const char *reason)
{
	struct endpoint *endpoint = arg;

	refusals_count(&endpoint->refusals, status, reason, NULL);
}

static void
on_bytes(void *arg, size_t in, size_t out)
{
	struct endpoint *endpoint = arg;

	endpoint->bytes_in += in;
	endpoint->bytes_out += out;
}

/* ---- life ---- */

static void
on_tick(uv_timer_t *timer)
{
	struct endpoint *endpoint = timer->data;
	uint64_t now_us = clock_us();
	struct route *route, *next;

	for (route = TAILQ_FIRST(&endpoint->routes.all); route; route = next) {
		next = TAILQ_NEXT(route, link);
		route_tick(route, now_us);
	}
	if (endpoint->store)
		store_expire(endpoint->store, now_us);
	if (endpoint->sessions)
		sessions_expire(
		    endpoint->sessions, (int64_t)time(NULL), now_us);
}

static int
make_sessions(struct endpoint *endpoint, const uint8_t *key)
{
	struct sessions_conf conf = { .mcp = endpoint->mcp,
		.idle_ms = endpoint->conf->session_idle_ms,
		.send = route_session_send };

	memcpy(conf.key, key, sizeof(conf.key));
	endpoint->sessions = sessions_new(&conf);
	explicit_bzero(conf.key, sizeof(conf.key));
	return endpoint->sessions ? 0 : -ENOMEM;
}

int
endpoint_new(const struct endpoint_parts *parts, struct endpoint **ret_endpoint,
    struct err *err)
{
	const struct conf *conf = parts->conf;
	struct endpoint *endpoint = calloc(1, sizeof(*endpoint));

	if (!endpoint)
		return fail(err, ENOMEM, "no memory");
	*endpoint = (struct endpoint){ .conf = conf,
		.mcp = parts->mcp,
		.room = parts->room,
		.auth = parts->auth,
		.store = parts->store,
		.app = { endpoint, on_head, on_request, on_gone, on_refused,
		    on_bytes } };
	if (conf->sessions && make_sessions(endpoint, parts->key) < 0) {
		free(endpoint);
		return fail(err, ENOMEM, "no memory");
	}
	(void)snprintf(
	    endpoint->name, sizeof(endpoint->name), "%s", parts->name);
	guard_init(&endpoint->guard, endpoint->name, &conf->allow_hosts,
	    &conf->allow_origins);
	guard_init_pages(&endpoint->admin_guard,
	    conf->admin_http ? conf->admin_http : "", &conf->allow_hosts);
	routes_init(&endpoint->routes, parts->loop, &endpoint->refusals);
	turns_init(&endpoint->turns, parts->loop, on_turn, endpoint);
	(void)uv_timer_init(parts->loop, &endpoint->tick);
	endpoint->tick.data = endpoint;
	(void)uv_timer_start(&endpoint->tick, on_tick, TICK_MS, TICK_MS);
	endpoint->handles = 4;
	*ret_endpoint = endpoint;
	return 0;
}

const struct exchange_app *
endpoint_app(const struct endpoint *endpoint)
{
	return &endpoint->app;
}

void
endpoint_set_http(struct endpoint *endpoint, const struct http *http)
{
	endpoint->http = http;
}

void
endpoint_end(struct endpoint *endpoint)
{
	struct route *route, *next;
	struct session *session;

	endpoint->ended = true;
	for (route = TAILQ_FIRST(&endpoint->routes.all); route; route = next) {
		next = TAILQ_NEXT(route, link);
		if (route->kind == ROUTE_NOTES)
			route_end_notes(route);
		else if (route->peer)
			peer_end_subscriptions(route->peer);
	}
	if (!endpoint->sessions)
		return;
	for (session = sessions_first(endpoint->sessions); session;
	     session = session_next(session))
		peer_end_subscriptions(session->peer);
}

static void
on_closed(uv_handle_t *handle)
{
	struct endpoint *endpoint = handle->data;

	if (--endpoint->handles == 0)
		free(endpoint);
}

void
endpoint_close(struct endpoint *endpoint)
{
	if (!endpoint)
		return;
	routes_done(&endpoint->routes);
	sessions_free(endpoint->sessions);
	endpoint->sessions = NULL;
	endpoint->routes.reaper.data = endpoint;
	endpoint->turns.check.data = endpoint->turns.idle.data = endpoint;
	uv_close((uv_handle_t *)&endpoint->turns.check, on_closed);
	uv_close((uv_handle_t *)&endpoint->turns.idle, on_closed);
	uv_close((uv_handle_t *)&endpoint->routes.reaper, on_closed);
	uv_close((uv_handle_t *)&endpoint->tick, on_closed);
}
