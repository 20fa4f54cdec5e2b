/* http_echo.c: an app of its own on the front for many clients, so that
 * connections can be tried alone.
 *
 * http_echo ADDRESS [NAME=VALUE...]   see read_setting()
 *
 * Writes the bound address to standard output. SIGTERM ends it.
 *   /          what was posted, or "ok"
 *   /MARK      "MARK"
 *   /headers   the headers that the front keeps, a line each
 *   /slow?N    "slow" after N ms
 *   /big?N     N bytes
 *   /stream?N  an event every N ms, for ever
 *   /flood     events as fast as they are taken
 *   /deny      403 before the body
 *   /small     bodies of at most 10 bytes
 *   /counts    what was counted
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/own.h"
#include "conf/conf.h"
#include "front/http.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct echo {
	struct exchange_app app;
	struct http *http;
	uv_signal_t term;
	unsigned gone, refused, handled, running;
	char reason[64]; /* of the last refusal */
	size_t in, out;
};

/* An answer that takes its time. */
struct later {
	uv_timer_t timer;
	struct echo *echo;
	struct exchange *exchange; /* NULL: gone */
	bool streams, floods;
};

static unsigned
number_of(struct span query)
{
	unsigned n = 0;

	for (size_t i = 0; i < query.n && i < 9; i++)
		n = n * 10 + (unsigned)(query.p[i] - '0');
	return n;
}

static void
on_later_closed(uv_handle_t *handle)
{
	struct later *later = handle->data;

	later->echo->running--;
	free(later);
}

static void
later_end(struct later *later)
{
	uv_close((uv_handle_t *)&later->timer, on_later_closed);
}

static void
answer(struct exchange *exchange, const char *text)
{
	own_buf struct buf body;

	buf_init(&body, MIB);
	(void)buf_add_text(&body, text);
	exchange_answer(exchange, 200, NULL, "text/plain", &body);
}

static void
on_tick(uv_timer_t *timer)
{
	struct later *later = timer->data;
	static const char event[] = "data: tick\n\n";
	static char much[4096];

	if (!later->streams) {
		answer(later->exchange, "slow\n");
		later_end(later);
		return;
	}
	if (!later->floods) {
		(void)exchange_stream_write(later->exchange, span_of(event));
		return;
	}
	memset(much, 'x', sizeof(much));
	for (unsigned i = 0; i < 16; i++)
		if (!exchange_stream_write(later->exchange,
			(struct span){ (uint8_t *)much, sizeof(much) })) {
			(void)uv_timer_stop(timer);
			return;
		}
}

static void
on_gone(void *owner)
{
	struct later *later = owner;

	later->echo->gone++;
	later->exchange = NULL;
	later_end(later);
}

static void
begin_later(struct echo *echo, struct exchange *exchange, bool streams)
{
	struct later *later = calloc(1, sizeof(*later));
	unsigned ms = number_of(exchange_head(exchange)->query);

	if (!later)
		BUG("no memory");
	later->echo = echo;
	later->exchange = exchange;
	later->streams = streams;
	later->floods = streams && ms == 0;
	(void)uv_timer_init(exchange_loop(exchange), &later->timer);
	later->timer.data = later;
	echo->running++;
	exchange_set_owner(exchange, later);
	if (streams)
		exchange_stream_begin(exchange, "X-Accel-Buffering: no\r\n");
	(void)uv_timer_start(&later->timer, on_tick, ms, streams ? ms : 0);
	if (later->floods)
		(void)uv_timer_start(&later->timer, on_tick, 1, 1);
}

static bool
path_is(struct span path, const char *wanted)
{
	return path.n == strlen(wanted) && memcmp(path.p, wanted, path.n) == 0;
}

static void
on_head(void *arg, struct exchange *exchange)
{
	const struct http_head *head = exchange_head(exchange);

	(void)arg;
	if (path_is(head->path, "/deny"))
		exchange_answer(exchange, 403, NULL, NULL, NULL);
	else if (path_is(head->path, "/small") &&
		 !exchange_limit_body(exchange, 10))
		exchange_answer(exchange, 413, NULL, NULL, NULL);
}

static void
answer_counts(struct echo *echo, struct exchange *exchange)
{
	own_buf struct buf text;
	size_t rss = 0;

	buf_init(&text, 4096);
	(void)uv_resident_set_memory(&rss);
	(void)buf_printf(&text,
	    "gone=%u refused=%u reason=%s handled=%u running=%u open=%u "
	    "rss=%zu\n",
	    echo->gone, echo->refused, echo->reason, echo->handled,
	    echo->running, http_connections(echo->http), rss);
	exchange_answer(exchange, 200, NULL, "text/plain", &text);
}

static void
answer_headers(struct exchange *exchange)
{
	const struct http_head *head = exchange_head(exchange);
	own_buf struct buf text;

	buf_init(&text, MIB);
	for (int i = 0; i < HEADERS; i++)
		if (head->headers[i].p)
			(void)buf_printf(&text, "%d=%.*s\n", i,
			    (int)head->headers[i].n, head->headers[i].p);
	for (unsigned i = 0; i < head->params_n; i++)
		(void)buf_printf(&text, "%.*s=%.*s\n",
		    (int)head->params[i].name.n, head->params[i].name.p,
		    (int)head->params[i].value.n, head->params[i].value.p);
	exchange_answer(exchange, 200, NULL, "text/plain", &text);
}

static void
answer_big(struct exchange *exchange, unsigned n)
{
	own_buf struct buf body;

	buf_init(&body, 64 * MIB);
	if (buf_reserve(&body, n) < 0)
		BUG("no memory");
	memset(body.p, 'x', n);
	body.n = n;
	exchange_answer(exchange, 200, NULL, "text/plain", &body);
}

static void
on_request(void *arg, struct exchange *exchange)
{
	struct echo *echo = arg;
	const struct http_head *head = exchange_head(exchange);
	struct span path = head->path;

	echo->handled++;
	if (path_is(path, "/slow"))
		begin_later(echo, exchange, false);
	else if (path_is(path, "/stream") || path_is(path, "/flood"))
		begin_later(echo, exchange, true);
	else if (path_is(path, "/MARK"))
		answer(exchange, "MARK\n");
	else if (path_is(path, "/counts"))
		answer_counts(echo, exchange);
	else if (path_is(path, "/headers"))
		answer_headers(exchange);
	else if (path_is(path, "/big"))
		answer_big(exchange, number_of(head->query));
	else if (head->method == HTTP_POST)
		exchange_answer(
		    exchange, 200, NULL, "text/plain", exchange_body(exchange));
	else
		answer(exchange, "ok\n");
}

static void
on_refused(void *arg, unsigned status, const char *reason)
{
	struct echo *echo = arg;

	(void)status;
	echo->refused++;
	(void)snprintf(echo->reason, sizeof(echo->reason), "%s", reason);
}

static void
on_bytes(void *arg, size_t in, size_t out)
{
	struct echo *echo = arg;

	echo->in += in;
	echo->out += out;
}

static void
on_ended(void *arg)
{
	struct echo *echo = arg;

	uv_close((uv_handle_t *)&echo->term, NULL);
}

static void
on_term(uv_signal_t *term, int number)
{
	struct echo *echo = term->data;

	(void)number;
	http_end(echo->http);
}

static void
read_setting(struct conf *conf, const char *text)
{
	const struct {
		const char *name;
		uint32_t *value;
	} numbers[] = {
		{ "head=", &conf->head_ms },
		{ "body=", &conf->body_ms },
		{ "idle=", &conf->idle_ms },
		{ "write=", &conf->write_ms },
		{ "connections=", &conf->connections },
	};

	for (unsigned i = 0; i < 5; i++) {
		size_t n = strlen(numbers[i].name);

		if (strncmp(text, numbers[i].name, n) == 0)
			*numbers[i].value = (uint32_t)atoi(text + n);
	}
	if (strncmp(text, "bytes=", 6) == 0)
		conf->body_bytes = (uint64_t)atoll(text + 6);
	else if (strncmp(text, "admin=", 6) == 0)
		conf->admin_http = text + 6;
}

int
main(int argc, char **argv)
{
	static struct echo echo;
	struct conf conf = {
		.http = argc > 1 ? argv[1] : "127.0.0.1:0",
		.connections = CONNECTIONS_DEFAULT,
		.body_bytes = MIB,
		.head_ms = HEAD_MS_DEFAULT,
		.body_ms = BODY_MS_DEFAULT,
		.idle_ms = IDLE_MS_DEFAULT,
		.write_ms = WRITE_MS_DEFAULT,
	};
	struct listeners *listeners;
	struct err err = { 0 };
	uv_loop_t loop;

	for (int i = 2; i < argc; i++)
		read_setting(&conf, argv[i]);
	if (uv_loop_init(&loop) < 0)
		return 1;
	if (listeners_open(&conf, &listeners, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		(void)uv_loop_close(&loop);
		return 1;
	}
	(void)printf("%s\n", listeners_name(listeners));
	(void)fflush(stdout);
	echo.app = (struct exchange_app){ .arg = &echo,
		.on_head = on_head,
		.on_request = on_request,
		.on_gone = on_gone,
		.on_refused = on_refused,
		.on_bytes = on_bytes };
	echo.term.data = &echo;
	(void)uv_signal_init(&loop, &echo.term);
	(void)uv_signal_start(&echo.term, on_term, SIGTERM);
	echo.http =
	    http_open(&loop, &conf, listeners, &echo.app, on_ended, &echo);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	return uv_loop_close(&loop) < 0;
}
