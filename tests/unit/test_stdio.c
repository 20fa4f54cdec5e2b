/* test_stdio.c: the front on pipes and files, over a fake room.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/own.h"
#include "fake_room.h"
#include "front/stdio.h"
#include "mcp/run_catalog.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define PONG(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}\n"
#define INIT                                                       \
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"," \
	"\"params\":{\"protocolVersion\":\"2024-11-05\"}}\n"
#define CALL                                                       \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"," \
	"\"params\":{\"name\":\"run_python\",\"arguments\":{"      \
	"\"code\":\"\"}}}\n"

struct world {
	uv_loop_t loop;
	struct conf conf;
	struct room *room;
	struct run_catalog *catalog;
	struct mcp *mcp;
	struct stdio *stdio;
	int to, from; /* our ends; -1 where closed */
	int in, out;  /* the front's */
	bool ended;
	unsigned cancelled; /* calls, by the end */
	struct buf got;
};

static void
on_ended(void *arg)
{
	struct world *world = arg;

	assert_false(world->ended);
	world->ended = true;
	world->cancelled = world->room->cancelled;
	mcp_close(world->mcp);
	room_close(world->room);
}

static void
open_on(struct world *world, int in, int out)
{
	world->in = in;
	world->out = out;
	world->stdio =
	    stdio_open(&world->loop, world->mcp, in, out, on_ended, world);
	assert_non_null(world->stdio);
}

static void
open_pipes(struct world *world)
{
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	world->to = in[1];
	world->from = out[0];
	(void)fcntl(world->from, F_SETFL, O_NONBLOCK);
	(void)fcntl(world->to, F_SETFL, O_NONBLOCK);
	open_on(world, in[0], out[1]);
}

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	(void)signal(SIGPIPE, SIG_IGN);
	world->conf.timeout_ms = world->conf.max_timeout_ms = 30000;
	world->conf.output_chars = 50000;
	world->to = world->from = world->in = world->out = -1;
	buf_init(&world->got, 64u * MIB);
	(void)uv_loop_init(&world->loop);
	(void)room_open(&world->loop, NULL, NULL, NULL, &world->room, NULL);
	world->catalog = run_catalog_new(&world->conf, "text");
	world->mcp = mcp_new(&world->loop, world->room, &world->conf,
	    run_catalog_face(world->catalog));
	*state = world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	if (!world->ended)
		stdio_end(world->stdio);
	if (!world->ended)
		stdio_end(world->stdio);
	assert_true(world->ended);
	(void)uv_run(&world->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&world->loop), 0);
	run_catalog_free(world->catalog);
	fd_close(world->to);
	fd_close(world->from);
	fd_close(world->in);
	fd_close(world->out);
	buf_done(&world->got);
	free(world);
	return 0;
}

/* Reads what there is. */
static void
take(struct world *world)
{
	ssize_t n;

	do {
		assert_int_equal(buf_reserve(&world->got, 65536), 0);
		n = read(world->from, world->got.p + world->got.n, 65536);
		if (n > 0)
			world->got.n += (size_t)n;
	} while (n > 0);
}

static void
turn(struct world *world)
{
	for (int i = 0; i < 4; i++)
		(void)uv_run(&world->loop, UV_RUN_NOWAIT);
}

/* Writes all, and lets the front read it. */
static void
say(struct world *world, const char *text, size_t n)
{
	while (n > 0) {
		ssize_t put = write(world->to, text, n);

		if (put > 0) {
			text += put;
			n -= (size_t)put;
		}
		turn(world);
	}
}

static void
hears(struct world *world, const char *text)
{
	turn(world);
	take(world);
	assert_int_equal(world->got.n, strlen(text));
	assert_memory_equal(world->got.p, text, world->got.n);
	world->got.n = 0;
}

static void
close_input(struct world *world)
{
	fd_close(world->to);
	world->to = -1;
}

static void
test_lines(void **state)
{
	struct world *world = *state;
	static const char two[] = PING("1") "\r\n\n\r\n" PING("2") "\n";

	open_pipes(world);
	say(world, two, strlen(two));
	hears(world, PONG("1") PONG("2"));
	for (size_t i = 0; i < strlen(two); i++)
		say(world, two + i, 1);
	hears(world, PONG("1") PONG("2"));
}

/* The last line needs no end, and the end of input is one. */
static void
test_end_of_input(void **state)
{
	struct world *world = *state;

	open_pipes(world);
	say(world, PING("1") "\n" PING("2"), 2 * strlen(PING("1")) + 1);
	close_input(world);
	(void)uv_run(&world->loop, UV_RUN_DEFAULT);
	assert_true(world->ended);
	hears(world, PONG("1") PONG("2"));
}

static void
test_long_lines(void **state)
{
	struct world *world = *state;
	size_t n = LINE_MAX_BYTES + 1;
	own_mem char *line = malloc(n);
	static const char error[] =
	    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,"
	    "\"message\":\"message longer than 16 MiB\"}}\n";

	memset(line, ' ', n);
	open_pipes(world);
	say(world, line, n - 1); /* just short enough, and blank */
	say(world, "\n", 1);
	hears(world, "");
	say(world, line, n);
	say(world, line, n); /* the same line goes on: no second error */
	hears(world, error);
	say(world, "\n" PING("1") "\n", strlen(PING("1")) + 2);
	hears(world, PONG("1"));
}

static void
test_file(void **state)
{
	struct world *world = *state;
	FILE *in = tmpfile(), *out = tmpfile();
	static const char text[] = PING("1") "\n" PING("2");
	static const char answer[] = PONG("1") PONG("2");
	char got[sizeof(answer) + 1];

	(void)fwrite(text, 1, strlen(text), in);
	(void)fflush(in);
	rewind(in);
	open_on(world, dup(fileno(in)), dup(fileno(out)));
	(void)uv_run(&world->loop, UV_RUN_DEFAULT);
	assert_true(world->ended);
	rewind(out);
	assert_int_equal(fread(got, 1, sizeof(got), out), strlen(answer));
	assert_memory_equal(got, answer, strlen(answer));
	(void)fclose(in);
	(void)fclose(out);
}

static void
test_null_device(void **state)
{
	struct world *world = *state;

	open_on(world, open("/dev/null", O_RDONLY | O_CLOEXEC),
	    open("/dev/null", O_WRONLY | O_CLOEXEC));
	(void)uv_run(&world->loop, UV_RUN_DEFAULT);
	assert_true(world->ended);
}

/* A call that ends within the grace is still answered. */
static void
test_grace_used(void **state)
{
	struct world *world = *state;

	open_pipes(world);
	say(world, INIT CALL, strlen(INIT CALL));
	take(world);
	world->got.n = 0;
	close_input(world);
	turn(world);
	assert_false(world->ended);
	fake_room_finish(world->room, 0, OUTCOME_OK, "x", "");
	turn(world);
	assert_true(world->ended);
	take(world);
	assert_true(world->got.n > 0);
	assert_int_equal(world->got.p[world->got.n - 1], '\n');
	assert_int_equal(world->cancelled, 0);
}

/* One that does not is cancelled, and nothing is said of it. */
static void
test_grace_over(void **state)
{
	struct world *world = *state;
	uint64_t before;

	open_pipes(world);
	say(world, INIT CALL, strlen(INIT CALL));
	take(world);
	world->got.n = 0;
	close_input(world);
	before = clock_us();
	while (!world->ended)
		(void)uv_run(&world->loop, UV_RUN_ONCE);
	before = clock_us() - before;
	assert_true(before > (END_GRACE_MS - 100) * 1000u);
	assert_true(before < (END_GRACE_MS + 900) * 1000u);
	assert_int_equal(world->cancelled, 1);
	hears(world, "");
}

/* A client that does not read makes the front stop reading, and loses
 * nothing. */
static void
test_back_pressure(void **state)
{
	struct world *world = *state;
	size_t sent = 0, answers = 0;
	ssize_t put;

	open_pipes(world);
	do {
		put = write(world->to, PING("1") "\n", strlen(PING("1")) + 1);
		sent += put > 0;
		turn(world);
	} while (put > 0 && sent < 10000000);
	assert_true(sent > OUT_QUEUED_MAX / 2 / strlen(PONG("1")));
	assert_true(sent < 4 * OUT_QUEUED_MAX / strlen(PONG("1")));
	close_input(world);
	for (int i = 0; i < 100000 && !world->ended; i++) {
		take(world);
		(void)uv_run(&world->loop, UV_RUN_NOWAIT);
	}
	take(world);
	assert_true(world->ended);
	for (size_t i = 0; i < world->got.n; i++)
		answers += world->got.p[i] == '\n';
	assert_int_equal(answers, sent);
	assert_int_equal(world->got.n, sent * strlen(PONG("1")));
}

/* A client that neither reads nor stays costs a bounded time. */
static void
test_flush_is_bounded(void **state)
{
	struct world *world = *state;
	uint64_t before;

	open_pipes(world);
	for (int i = 0; i < 5000; i++)
		say(world, PING("1") "\n", strlen(PING("1")) + 1);
	close_input(world);
	before = clock_us();
	while (!world->ended)
		(void)uv_run(&world->loop, UV_RUN_ONCE);
	before = clock_us() - before;
	assert_true(before < (END_GRACE_MS + END_FLUSH_MS + 400) * 1000u);
}

static void
test_reader_gone(void **state)
{
	struct world *world = *state;

	open_pipes(world);
	fd_close(world->from);
	world->from = -1;
	say(world, PING("1") "\n", strlen(PING("1")) + 1);
	turn(world);
	assert_true(world->ended);
}

static void
test_end(void **state)
{
	struct world *world = *state;

	open_pipes(world);
	say(world, INIT CALL, strlen(INIT CALL));
	take(world);
	world->got.n = 0;
	stdio_end(world->stdio);
	assert_true(world->ended);
	assert_int_equal(world->cancelled, 1);
	hears(world, "");
}

static void
test_flags_are_restored(void **state)
{
	struct world *world = *state;

	open_pipes(world);
	assert_true(fcntl(world->out, F_GETFL) & O_NONBLOCK);
	close_input(world);
	(void)uv_run(&world->loop, UV_RUN_DEFAULT);
	assert_true(world->ended);
	assert_false(fcntl(world->in, F_GETFL) & O_NONBLOCK);
	assert_false(fcntl(world->out, F_GETFL) & O_NONBLOCK);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_lines),
		TEST(test_end_of_input),
		TEST(test_long_lines),
		TEST(test_file),
		TEST(test_null_device),
		TEST(test_grace_used),
		TEST(test_grace_over),
		TEST(test_back_pressure),
		TEST(test_flush_is_bounded),
		TEST(test_reader_gone),
		TEST(test_end),
		TEST(test_flags_are_restored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
