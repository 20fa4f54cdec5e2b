/* protocol_head.c: what the head of a request to the protocol has to be before
 * its body is read: method, token, session, types, size, in this order.
 * Hostile input: headers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/endpoint_impl.h"

#include "base/clock.h"
#include "base/own.h"
#include "front/accept.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ALLOW_POST "Allow: POST\r\n"
#define ALLOW_ALL  "Allow: GET, POST, DELETE\r\n"

#define HEADERS_MAX (AUTH_CHALLENGE_MAX + 128u)

/* ---- who ---- */

static const char *
why_turned_away(unsigned status)
{
	switch (status) {
	case 401:
		return "a valid token is required";
	case 403:
		return "the token does not allow this";
	case 429:
		return "too many requests";
	default:
		return "the Authorization header is malformed";
	}
}

static void
turn_away(struct endpoint *endpoint, struct exchange *exchange,
    const struct auth_verdict *verdict)
{
	struct http_refusal refusal = { verdict->status, verdict->reason,
		why_turned_away(verdict->status), NULL };
	own_buf struct buf headers;

	buf_init(&headers, HEADERS_MAX);
	if (verdict->challenge[0])
		(void)buf_printf(
		    &headers, "WWW-Authenticate: %s\r\n", verdict->challenge);
	if (verdict->status == 429)
		(void)buf_printf(&headers, "Retry-After: %u\r\n",
		    verdict->retry_after_s ? verdict->retry_after_s : 1);
	(void)buf_add(&headers, "", 1);
	refusal.headers = (const char *)headers.p;
	refusal_answer(&endpoint->refusals, exchange, &refusal);
}

struct principal *
endpoint_principal(struct endpoint *endpoint, struct exchange *exchange)
{
	const struct http_head *head = exchange_head(exchange);
	struct auth_verdict verdict;

	auth_check(endpoint->auth, head->headers[HEADER_AUTHORIZATION],
	    exchange_address(exchange), (int64_t)time(NULL), clock_us(),
	    &verdict);
	if (!verdict.principal)
		turn_away(endpoint, exchange, &verdict);
	return verdict.principal;
}

/* ---- what ---- */

/* Whether a request of that method can be one for us at all. */
static bool
method_is_served(const struct endpoint *endpoint, const struct http_head *head)
{
	bool legacy = endpoint->sessions &&
		      !mcp_is_modern(head->headers[HEADER_MCP_VERSION]);

	switch (head->method) {
	case HTTP_POST:
		return true;
	case HTTP_GET:
		return legacy &&
		       accept_parse(head->headers[HEADER_ACCEPT]).events;
	case HTTP_DELETE:
		return legacy;
	case HTTP_HEAD:
	case HTTP_OPTIONS:
	case HTTP_OTHER:
		break;
	}
	return false;
}

/* Finds the session that the request names. False: it was refused. */
static bool
find_session(struct endpoint *endpoint, struct route *route,
    const struct http_head *head)
{
	const struct span id = head->headers[HEADER_MCP_SESSION];
	const struct span version = head->headers[HEADER_MCP_VERSION];
	struct session *session;
	const char *revision;
	int r;

	session = sessions_find(endpoint->sessions, id, route->principal,
	    (int64_t)time(NULL), clock_us(), &r);
	if (!session && r == -ENOENT) {
		endpoint_refuse_route(
		    route, 404, "session", "there is no such session");
		return false;
	}
	if (!session) {
		endpoint_refuse_route(
		    route, 503, "sessions", "too many sessions");
		return false;
	}
	revision = peer_revision(session->peer);
	if (head->method != HTTP_POST && version.p && revision &&
	    !span_is(version, revision)) {
		endpoint_refuse_route(route, 400, "version",
		    "MCP-Protocol-Version is not the session's");
		return false;
	}
	if (session->routes_n >= SESSION_ROUTES_MAX) {
		endpoint_refuse_route(route, 429, "session_requests",
		    "too many requests of this session are in flight");
		return false;
	}
	route_join(route, session);
	return true;
}

/* The same, if it has to name one. */
static bool
check_session(struct endpoint *endpoint, struct route *route,
    const struct http_head *head)
{
	if (!endpoint->sessions ||
	    mcp_is_modern(head->headers[HEADER_MCP_VERSION]))
		return true;
	if (head->headers[HEADER_MCP_SESSION].p)
		return find_session(endpoint, route, head);
	if (head->method == HTTP_POST)
		return true; /* its body may ask for one */
	endpoint_refuse_route(
	    route, 400, "no_session", "the header Mcp-Session-Id is missing");
	return false;
}

/* What a POST says of its body and of the answer. False: it was refused. */
static bool
check_types(struct route *route, const struct http_head *head)
{
	if (!content_type_is_json(head->headers[HEADER_CONTENT_TYPE])) {
		endpoint_refuse_route(route, 415, "content_type",
		    "Content-Type must be application/json");
		return false;
	}
	route->accept = accept_parse(head->headers[HEADER_ACCEPT]);
	if (!route->accept.json && !route->accept.events) {
		endpoint_refuse_route(route, 406, "accept",
		    "answers are application/json or text/event-stream");
		return false;
	}
	if (!route->accept.events &&
	    span_is(head->headers[HEADER_MCP_METHOD], "subscriptions/listen")) {
		endpoint_refuse_route(route, 406, "accept",
		    "subscriptions are text/event-stream");
		return false;
	}
	return true;
}

static bool
check_size(struct endpoint *endpoint, struct route *route,
    const struct http_head *head)
{
	size_t max =
	    head->method == HTTP_POST ? (size_t)endpoint->conf->body_bytes : 0;

	if (!exchange_limit_body(route->exchange, max)) {
		endpoint_refuse_route(
		    route, 413, "too_large", "the body is too large");
		return false;
	}
	if (!route_reserve(route, head->chunked ? max : (size_t)head->length)) {
		endpoint_refuse_route(route, 429, "bodies",
		    "too many large requests are on their way");
		return false;
	}
	return true;
}

/* Where there are several principals, none takes the connections of all. */
static bool
check_connections(struct endpoint *endpoint, struct route *route)
{
	const struct conf *conf = endpoint->conf;
	unsigned max = conf->connections - conf->connections / 2;

	if ((!conf->tokens_path && !conf->jwks_path) ||
	    route->principal->connections <= max)
		return true;
	endpoint_refuse_route(route, 429, "token_connections",
	    "too many requests of this token are in flight");
	return false;
}

/* By the minute: false: it was refused. */
static bool
check_rate(struct endpoint *endpoint, struct exchange *exchange,
    struct principal *principal)
{
	struct http_refusal refusal = { .reason = "rate",
		.text = "too many requests in a minute" };
	char retry[64];
	unsigned retry_s = 1;

	refusal.status =
	    auth_admit_request(endpoint->auth, principal, clock_us(), &retry_s);
	if (refusal.status == 0)
		return true;
	(void)snprintf(retry, sizeof(retry), "Retry-After: %u\r\n", retry_s);
	refusal.headers = retry;
	refusal_answer(&endpoint->refusals, exchange, &refusal);
	return false;
}

void
protocol_head(struct endpoint *endpoint, struct exchange *exchange)
{
	const struct http_refusal wrong_method = { 405, "method",
		"this method is not served here",
		endpoint->sessions ? ALLOW_ALL : ALLOW_POST };
	const struct http_head *head = exchange_head(exchange);
	struct principal *principal;
	struct route *route;

	if (!method_is_served(endpoint, head)) {
		refusal_answer(&endpoint->refusals, exchange, &wrong_method);
		return;
	}
	principal = endpoint_principal(endpoint, exchange);
	if (!principal)
		return;
	if (!check_rate(endpoint, exchange, principal)) {
		principal_release(principal);
		return;
	}
	route = route_new(&endpoint->routes, exchange, principal);
	if (!route) {
		principal_release(principal);
		endpoint_refuse(endpoint, exchange, 503, "memory", "no memory");
		return;
	}
	if (!check_connections(endpoint, route) ||
	    !check_session(endpoint, route, head))
		return;
	if (head->method == HTTP_POST && !check_types(route, head))
		return;
	(void)check_size(endpoint, route, head);
}
