/* test_channel.c: frames and descriptors over a socket, whole and broken.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "call/channel.h"
#include "conf/limits.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ALL ((1u << FRAME_TYPES) - 2)

struct ends {
	struct channel a, b;
};

static int
ends_open(void **state)
{
	struct ends *ends = calloc(1, sizeof(*ends));
	int fds[2];

	if (!ends || fd_pair(fds) < 0)
		return -1;
	channel_init(&ends->a, fds[0], ALL, FRAME_MAX, FRAME_MAX * 2);
	channel_init(&ends->b, fds[1], ALL, FRAME_MAX, FRAME_MAX * 2);
	*state = ends;
	return 0;
}

static int
ends_close(void **state)
{
	struct ends *ends = *state;

	channel_done(&ends->a);
	channel_done(&ends->b);
	free(ends);
	return 0;
}

static struct frame
next(struct channel *channel, int fds[WIRE_FDS_MAX])
{
	struct frame frame = { 0 };
	struct err err = { 0 };

	assert_int_equal(channel_read(channel, &err), 0);
	assert_int_equal(channel_next(channel, &frame, fds, &err), 1);
	return frame;
}

static void
carries_a_frame(void **state)
{
	struct ends *ends = *state;
	struct wire_cancel sent = { 77 }, got = { 0 };
	int fds[WIRE_FDS_MAX];
	struct frame frame;
	struct err err;

	assert_int_equal(
	    channel_say(&ends->a, FRAME_CANCEL, &sent, sizeof(sent)), 0);
	frame = next(&ends->b, fds);
	assert_int_equal(frame.type, FRAME_CANCEL);
	assert_int_equal(wire_take(&frame, &got, sizeof(got), NULL, &err), 0);
	assert_int_equal(got.id, 77);
	channel_pop(&ends->b, &frame);
	assert_int_equal(channel_next(&ends->b, &frame, fds, &err), 0);
}

/* Two frames with descriptors: each gets its own, in order. */
static void
carries_descriptors(void **state)
{
	struct ends *ends = *state;
	struct wire_fork record = { 1 };
	int pipes[2][2], fds[WIRE_FDS_MAX];
	struct frame frame;

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(pipe(pipes[i]), 0);
		record.child = i;
		struct cargo cargo = { .fds_n = 3,
			.fds = { pipes[i][0], pipes[i][1], dup(pipes[i][1]) } };
		assert_int_equal(channel_put(&ends->a, FRAME_FORK, &record,
				     sizeof(record), &cargo),
		    0);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct wire_fork got;
		char byte = 0;

		frame = next(&ends->b, fds);
		assert_int_equal(frame.fds, 3);
		memcpy(&got, frame.payload.p, sizeof(got));
		assert_int_equal(got.child, i);
		channel_pop(&ends->b, &frame);
		assert_int_equal(write(fds[1], "x", 1), 1);
		assert_int_equal(read(fds[0], &byte, 1), 1);
		fd_close(fds[0]);
		fd_close(fds[1]);
		fd_close(fds[2]);
	}
}

/* Whoever writes is named by the kernel, not by what it says; descriptors that
 * come along have no place. */
static void
names_the_peer(void **state)
{
	struct ends *ends = *state;
	struct channel named;
	struct wire_header ready = { 0, FRAME_READY, 0, 0 };
	int fds[2], status = 0;
	struct err err;
	pid_t pid;

	(void)ends;
	assert_int_equal(fd_pair(fds), 0);
	channel_init(&named, fds[0], 1u << FRAME_READY, FRAME_MAX, FRAME_MAX);
	assert_int_equal(channel_name_peer(&named), 0);
	pid = fork();
	if (pid == 0)
		_exit(fd_send_all(fds[1], &ready, sizeof(ready)) < 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(channel_read(&named, &err), 0);
	assert_int_equal(named.peer, pid);
	fd_close(fds[1]);
	channel_done(&named);
}

/* A frame larger than the socket's buffer goes in pieces, as it is read. */
static void
carries_large_frames(void **state)
{
	struct ends *ends = *state;
	size_t n = CODE_MAX;
	uint8_t *code = malloc(n);
	struct wire_job record = { .parts = { .code_n = (uint32_t)n } };
	struct cargo cargo = { .tails = { { code, n } } };
	int fds[WIRE_FDS_MAX];
	struct frame frame;
	struct err err;
	int r;

	memset(code, 'c', n);
	assert_int_equal(
	    channel_put(&ends->a, FRAME_JOB, &record, sizeof(record), &cargo),
	    0);
	assert_true(channel_waiting(&ends->a));
	do {
		assert_int_equal(channel_flush(&ends->a), 0);
		assert_int_equal(channel_read(&ends->b, &err), 0);
		r = channel_next(&ends->b, &frame, fds, &err);
		assert_true(r >= 0);
	} while (r == 0);
	assert_int_equal(frame.payload.n, sizeof(record) + n);
	free(code);
}

static void
refuses_what_is_not_allowed(void **state)
{
	struct ends *ends = *state;
	int fds[WIRE_FDS_MAX];
	struct frame frame;
	struct err err;

	ends->b.allowed = 1u << FRAME_READY;
	assert_int_equal(channel_say(&ends->a, FRAME_WARM, NULL, 0), 0);
	assert_int_equal(channel_read(&ends->b, &err), 0);
	assert_int_equal(channel_next(&ends->b, &frame, fds, &err), -EPROTO);
}

/* Headers that no honest peer sends. */
static void
refuses_bad_headers(void **state)
{
	static const struct wire_header bad[] = {
		{ 0, 0, 0, 0 },
		{ 0, FRAME_TYPES, 0, 0 },
		{ 0, 255, 0, 0 },
		{ 1, FRAME_READY, 0, 0 },
		{ UINT32_MAX, FRAME_DONE, 0, 0 },
		{ sizeof(struct wire_done) - 1, FRAME_DONE, 0, 0 },
		{ sizeof(struct wire_done) + 1, FRAME_DONE, 0, 0 },
		{ sizeof(struct wire_done), FRAME_DONE, 1, 0 },
		{ 0, FRAME_READY, 0, 1 },
		{ UINT32_MAX, FRAME_JOB, 0, 0 },
		{ sizeof(struct wire_fork), FRAME_FORK, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct span bytes = { (const uint8_t *)&bad[i],
			sizeof(bad[i]) };
		struct frame frame;
		struct err err = { 0 };
		size_t n;

		assert_int_equal(
		    wire_next(bytes, ALL, &frame, &n, &err), -EPROTO);
		assert_true(err.text[0] != '\0');
	}
}

/* A descriptor that did not come, as when this process has no number left for
 * it: the frame says so, and the next frame keeps its own. */
static void
missing_descriptors_are_negative(void **state)
{
	struct ends *ends = *state;
	struct wire_header header = { sizeof(struct wire_child), FRAME_CHILD, 1,
		0 };
	struct wire_child record = { 1, 1 };
	struct cargo cargo = { .fds_n = 1 };
	int fds[WIRE_FDS_MAX];
	struct frame frame;

	assert_int_equal(fd_send_all(ends->a.fd, &header, sizeof(header)), 0);
	assert_int_equal(fd_send_all(ends->a.fd, &record, sizeof(record)), 0);
	cargo.fds[0] = dup(STDERR_FILENO);
	assert_int_equal(
	    channel_put(&ends->a, FRAME_CHILD, &record, sizeof(record), &cargo),
	    0);
	frame = next(&ends->b, fds);
	assert_int_equal(fds[0], -1);
	channel_pop(&ends->b, &frame);
	frame = next(&ends->b, fds);
	assert_true(fds[0] >= 0);
	fd_close(fds[0]);
}

/* Descriptors towards an end whose peer has none to give: they are never
 * taken, and the peer is found out. */
static void
unwanted_descriptors_are_a_breach(void **state)
{
	struct ends *ends = *state;
	struct wire_child record = { 1, 1 };
	struct cargo cargo = { .fds_n = 1 };
	int number = dup(STDERR_FILENO);
	struct channel taker;
	struct err err;

	channel_init(&taker, dup(ends->b.fd), 1u << FRAME_READY, 512, 512);
	cargo.fds[0] = number;
	assert_int_equal(
	    channel_put(&ends->a, FRAME_CHILD, &record, sizeof(record), &cargo),
	    0);
	assert_int_equal(channel_read(&taker, &err), -EPROTO);
	assert_int_equal(dup(STDERR_FILENO), number);
	fd_close(number);
	channel_done(&taker);
}

static void
sees_the_end(void **state)
{
	struct ends *ends = *state;
	int fds[WIRE_FDS_MAX];
	struct frame frame;
	struct err err;

	assert_int_equal(channel_say(&ends->a, FRAME_READY, NULL, 0), 0);
	channel_done(&ends->a);
	assert_int_equal(channel_read(&ends->b, &err), 0);
	assert_int_equal(channel_read(&ends->b, &err), -EPIPE);
	/* What came before the end is still there. */
	assert_int_equal(channel_next(&ends->b, &frame, fds, &err), 1);
	assert_int_equal(frame.type, FRAME_READY);
	assert_int_equal(channel_say(&ends->b, FRAME_READY, NULL, 0), -EPIPE);
}

static void
bounds_what_waits(void **state)
{
	struct ends *ends = *state;
	size_t n = CODE_MAX;
	uint8_t *code = calloc(1, n);
	struct wire_job record = { .parts = { .code_n = (uint32_t)n } };
	struct cargo cargo = { .tails = { { code, n } } };
	int r = 0;

	for (unsigned i = 0; i < 100 && r == 0; i++)
		r = channel_put(
		    &ends->a, FRAME_JOB, &record, sizeof(record), &cargo);
	assert_int_equal(r, -ENOBUFS);
	assert_true(ends->a.out.n <= ends->a.out.max);
	free(code);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ends_open, ends_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(carries_a_frame),
		TEST(carries_descriptors),
		TEST(names_the_peer),
		TEST(carries_large_frames),
		TEST(refuses_what_is_not_allowed),
		TEST(refuses_bad_headers),
		TEST(missing_descriptors_are_negative),
		TEST(unwanted_descriptors_are_a_breach),
		TEST(sees_the_end),
		TEST(bounds_what_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
