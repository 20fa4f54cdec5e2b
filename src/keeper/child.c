/* child.c: one call, from fork to kill. Every failure here is said to the
 * keeper and ends the process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/child.h"

#include "base/fd.h"
#include "conf/limits.h"
#include "walls/walls.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Exit statuses of a child, for the keeper's log. */
#define CHILD_SPENT 0
#define CHILD_LOST  1

#define JOB_USUAL 8192u /* bytes of most jobs: a program and its input */

static void
say(int fd, enum frame_type type, const void *record, size_t n)
{
	struct wire_header header = { .n = (uint32_t)n, .type = (uint8_t)type };
	uint8_t bytes[CHILD_FRAME_MAX];

	_Static_assert(
	    sizeof(struct wire_done) + sizeof(header) <= CHILD_FRAME_MAX,
	    "a child's frames fit its channel");
	memcpy(bytes, &header, sizeof(header));
	if (n > 0)
		memcpy(bytes + sizeof(header), record, n);
	if (fd_send_all(fd, bytes, sizeof(header) + n) < 0)
		_exit(CHILD_LOST);
}

static _Noreturn void
die(int fd, const struct err *err)
{
	say(fd, FRAME_FAILED, err, sizeof(*err));
	_exit(CHILD_LOST);
}

static bool
job_waits(void *arg)
{
	struct pollfd socket = { .fd = *(const int *)arg, .events = POLLIN };

	return poll(&socket, 1, 0) > 0;
}

static int
raise_walls(const struct child_start *start, int keep, struct err *err)
{
	sigset_t none;
	int r = wall_parent(start->zygote, err);

	(void)prctl(PR_SET_NAME, "child");

	if (r == 0)
		r = wall_fds(&keep, 1, err);
	if (r == 0)
		r = wall_rlimits(0, err);
	if (r == 0)
		r = wall_privileges(err);
	/* The zygote blocks what its signalfd reads; a child has default
	 * signals only. */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	return r;
}

/* Reads until n bytes are in buf; what comes after a job is nothing. */
static void
read_until(int fd, struct buf *buf, size_t n)
{
	while (buf->n < n) {
		ssize_t got;

		if (buf_reserve(buf, n - buf->n) < 0)
			_exit(CHILD_LOST);
		got = read(fd, buf->p + buf->n, buf->cap - buf->n);
		if (got == 0)
			_exit(CHILD_SPENT); /* the keeper had no use for it */
		if (got < 0 && errno != EINTR)
			_exit(CHILD_LOST);
		if (got > 0)
			buf->n += (size_t)got;
	}
}

/* Reads the job into buf, in one system call if it is a short one. */
static struct room_job
job_read(int fd, struct buf *buf)
{
	const size_t head =
	    sizeof(struct wire_header) + sizeof(struct wire_job);
	struct wire_header header;
	struct wire_job record;

	read_until(fd, buf, head);
	memcpy(&header, buf->p, sizeof(header));
	memcpy(&record, buf->p + sizeof(header), sizeof(record));
	if (header.type != FRAME_JOB || header.n > FRAME_MAX - sizeof(header) ||
	    (uint64_t)record.code_n + record.stdin_n + sizeof(record) !=
		header.n)
		_exit(CHILD_LOST);
	read_until(fd, buf, sizeof(header) + header.n);
	return (struct room_job){
		.code = { buf->p + head, record.code_n },
		.stdin_bytes = { buf->p + head + record.code_n,
		    record.stdin_n },
	};
}

void
child_main(const struct child_start *start)
{
	int fd = start->socket_fd;
	struct err err = { 0 };
	struct wire_done done = { 0 };
	struct room_job job;
	struct output *output;
	struct buf job_bytes;

	output = output_map(start->region_fd, start->conf->output_chars);
	if (!output) {
		(void)fail_errno(&err, "map output region");
		die(fd, &err);
	}
	if (raise_walls(start, fd, &err) < 0)
		die(fd, &err);
	if (start->kind->prepare(start->state, output, job_waits, &fd, &err) <
	    0)
		die(fd, &err);
	/* Before the wait: room for a short job, with its page touched. */
	buf_init(&job_bytes, FRAME_MAX);
	if (buf_reserve(&job_bytes, JOB_USUAL) < 0)
		_exit(CHILD_LOST);
	job_bytes.p[0] = 0;
	say(fd, FRAME_READY, NULL, 0);
	job = job_read(fd, &job_bytes);
	start->kind->run(start->state, &job, &done);
	say(fd, FRAME_DONE, &done, sizeof(done));
	/* Stay until killed: the teardown of the guest's memory must not take
	 * the processor from those who carry the answer. */
	(void)fd_read_all(fd, &(char){ 0 }, 1);
	_exit(CHILD_SPENT);
}
