/* fuzz_http.c: a client's bytes on a connection, in pieces that the input
 * chooses, to an app that answers now, later, in a stream or not at all.
 * Whatever comes, only whole answers go out, in order, never more than there
 * were requests, and none behind a refusal.
 *
 * The first bytes say how the rest is cut and how the app answers; a byte of
 * 0x80 and more in that plan ends the client's side.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/own.h"
#include "front/conn.h"
#include "front/listeners.h"
#include "fuzz_input.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PLAN_BYTES 8
#define TURNS_MAX  64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	struct exchange_app app;
	uint8_t plan;
	struct exchange *waiting; /* to be answered later */
	unsigned requests, answers, refusals;
	bool ended;
};

static bool
printable(struct span text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '\r' || text.p[i] == '\n' || text.p[i] == 0)
			return false;
	return true;
}

static void
check_request(const struct http_head *head)
{
	unsigned hosts = head->headers[HEADER_HOST].n > 0;

	check(hosts == 1, "a host");
	check(head->path.n > 0 && head->path.p[0] == '/', "a path");
	check(head->path.n <= HTTP_TARGET_MAX, "a short path");
	check(printable(head->path) && printable(head->query), "a target");
	check(!head->chunked || !head->has_length, "one length");
	for (int i = 0; i < HEADERS; i++)
		check(printable(head->headers[i]), "a value");
	check(head->params_n <= PARAM_HEADERS_MAX, "few parameters");
	for (unsigned i = 0; i < head->params_n; i++)
		check(printable(head->params[i].name) &&
			  printable(head->params[i].value),
		    "a parameter");
}

static void
on_head(void *arg, struct exchange *exchange)
{
	struct world *world = arg;
	const struct http_head *head = exchange_head(exchange);

	check_request(head);
	check(!world->waiting, "one request at a time");
	world->requests++;
	if ((world->plan & 3) == 3 && head->path.n > 2) {
		world->answers++;
		exchange_answer(exchange, 403, NULL, NULL, NULL);
	} else if (!exchange_limit_body(exchange, 300)) {
		world->answers++;
		exchange_answer(exchange, 413, NULL, NULL, NULL);
	}
}

static void
answer(struct world *world, struct exchange *exchange)
{
	world->answers++;
	world->waiting = NULL;
	if (world->plan & 4) {
		exchange_stream_begin(exchange, "X-A: b\r\n");
		if (exchange_stream_write(exchange, span_of("data: x\n\n")))
			exchange_stream_end(exchange);
	} else if (world->plan & 8) {
		exchange_abort(exchange);
	} else {
		exchange_answer(
		    exchange, 200, NULL, "text/plain", exchange_body(exchange));
	}
}

static void
on_request(void *arg, struct exchange *exchange)
{
	struct world *world = arg;
	const struct http_head *head = exchange_head(exchange);
	struct buf *body = exchange_body(exchange);

	check_request(head);
	check(body->n <= 300, "a short body");
	check(!head->has_length || body->n == head->length, "a whole body");
	check(head->chunked || head->has_length || body->n == 0, "a body");
	if (world->plan & 1) {
		world->waiting = exchange;
		exchange_set_owner(exchange, world);
	} else {
		answer(world, exchange);
	}
}

static void
on_gone(void *owner)
{
	struct world *world = owner;

	check(world->waiting != NULL, "gone once");
	world->waiting = NULL;
}

static void
on_refused(void *arg, unsigned status, const char *reason)
{
	struct world *world = arg;

	check(reason != NULL, "a reason");
	if (status > 0)
		world->refusals++;
	check(world->refusals <= 1, "one refusal");
}

static void
on_bytes(void *arg, size_t in, size_t out)
{
	(void)arg;
	(void)in;
	(void)out;
}

static void
on_ended(void *arg)
{
	struct world *world = arg;

	world->ended = true;
}

/* What came back: heads of answers, counted. A body is what the client sent,
 * and may look like one: it is skipped by its length. */
static unsigned
count_answers(int fd)
{
	static uint8_t bytes[1 << 20];
	ssize_t n = recv(fd, bytes, sizeof(bytes) - 1, MSG_DONTWAIT);
	const char *p = (const char *)bytes;
	unsigned answers = 0;

	if (n <= 0)
		return 0;
	bytes[n] = 0;
	while (p < (const char *)bytes + n) {
		const char *end = memmem(
		    p, (size_t)((const char *)bytes + n - p), "\r\n\r\n", 4);
		const char *length = strstr(p, "Content-Length: ");
		bool more = strncmp(p, "HTTP/1.1 100 ", 13) == 0;

		check(strncmp(p, "HTTP/1.1 ", 9) == 0, "an answer");
		check(end != NULL, "a whole head");
		answers += more ? 0 : 1;
		p = end + 4;
		if (!more && length && length < end)
			p += atoi(length + strlen("Content-Length: "));
		else if (!more)
			p += strcspn(p, "H"); /* the stream of answer() */
		check(p <= (const char *)bytes + n, "a whole body");
	}
	return answers;
}

/* Each request names its version once. */
static unsigned
count_versions(const uint8_t *p, size_t n)
{
	const char version[] = "HTTP/1.1\r\n";
	const uint8_t *end = p + n;
	unsigned count = 0;

	while ((p = memmem(p, (size_t)(end - p), version, 10)) != NULL) {
		p += 10;
		count++;
	}
	return count;
}

static void
talk(struct world *world, uv_loop_t *loop, int fd, struct input plan,
    struct span rest)
{
	for (unsigned turn = 0; rest.n > 0 && turn < TURNS_MAX; turn++) {
		uint8_t how = plan.n > 0 ? plan.p[turn % plan.n] : 0;
		size_t n = turn + 1 < TURNS_MAX ? how % 128u + 1 : rest.n;

		world->plan = (uint8_t)(how ^ turn);
		n = n < rest.n ? n : rest.n;
		if (send(fd, rest.p, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			return;
		rest.p += n;
		rest.n -= n;
		(void)uv_run(loop, UV_RUN_NOWAIT);
		if (world->waiting && (how & 2))
			answer(world, world->waiting);
		if (how >= 0xf0)
			(void)shutdown(fd, SHUT_WR);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uv_loop_t loop;
	static bool made;
	static const uint8_t nowhere[16];
	const struct conf conf = { .connections = 1,
		.body_bytes = 1000,
		.head_ms = 60000,
		.body_ms = 60000,
		.idle_ms = 60000,
		.write_ms = 60000 };
	struct world world = { .app = { .arg = &world,
				   .on_head = on_head,
				   .on_request = on_request,
				   .on_gone = on_gone,
				   .on_refused = on_refused,
				   .on_bytes = on_bytes } };
	struct input plan = { data, size < PLAN_BYTES ? size : PLAN_BYTES };
	struct listeners *none = calloc(1, sizeof(*none));
	struct http *http;
	unsigned answers;
	int fds[2];

	if (!made)
		made = uv_loop_init(&loop) == 0;
	check(none != NULL, "memory");
	none->items[0].fd = none->items[1].fd = -1;
	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0,
	    "a pair");
	http = http_open(&loop, &conf, none, &world.app, on_ended, &world);
	conn_open(http, fds[0], DOOR_MAIN, nowhere);
	talk(&world, &loop, fds[1], plan,
	    (struct span){ data + plan.n, size - plan.n });
	for (int i = 0; i < 8; i++) {
		(void)uv_run(&loop, UV_RUN_NOWAIT);
		if (world.waiting)
			answer(&world, world.waiting);
	}
	answers = count_answers(fds[1]);
	check(answers <= world.answers + world.refusals, "none twice");
	check(world.answers <= world.requests, "none unasked");
	check(world.requests <= count_versions(data, size), "none read twice");
	http_end(http);
	http_end(http);
	check(http_connections(http) == 0, "all closed");
	while (!world.ended)
		(void)uv_run(&loop, UV_RUN_ONCE);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	(void)close(fds[1]);
	return 0;
}
