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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exit statuses of a child, for the keeper's log. */
#define CHILD_SPENT 0
#define CHILD_LOST  1

static void
say(int fd, enum frame_type type, const void *record, size_t n)
{
	struct wire_header header = { .n = (uint32_t)n, .type = (uint8_t)type };
	uint8_t bytes[CHILD_FRAME_MAX];

	_Static_assert(sizeof(struct wire_done) + sizeof(header) <=
	    CHILD_FRAME_MAX, "a child's frames fit its channel");
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

/* Reads the job; its bytes are never freed, the process ends with them. */
static struct room_job
job_read(int fd)
{
	struct wire_header header;
	struct wire_job record;
	struct room_job job;
	uint8_t *bytes;

	if (fd_read_all(fd, &header, sizeof(header)) < 0)
		_exit(CHILD_SPENT); /* the keeper had no use for it */
	if (header.type != FRAME_JOB || header.n < sizeof(record) ||
	    header.n > FRAME_MAX ||
	    fd_read_all(fd, &record, sizeof(record)) < 0 ||
	    (uint64_t)record.code_n + record.stdin_n !=
		header.n - sizeof(record))
		_exit(CHILD_LOST);
	bytes = malloc((size_t)record.code_n + record.stdin_n + 1);
	if (!bytes ||
	    fd_read_all(fd, bytes, header.n - sizeof(record)) < 0)
		_exit(CHILD_LOST);
	job.code = (struct span){ bytes, record.code_n };
	job.stdin_bytes = (struct span){ bytes + record.code_n, record.stdin_n };
	return job;
}

void
child_main(const struct child_start *start)
{
	int fd = start->socket_fd;
	struct err err = { 0 };
	struct wire_done done = { 0 };
	struct room_job job;
	struct output *output;

	output = output_map(start->region_fd, start->conf->output_chars);
	if (!output) {
		(void)fail_errno(&err, "map output region");
		die(fd, &err);
	}
	if (raise_walls(start, fd, &err) < 0)
		die(fd, &err);
	if (start->kind->prepare(start->state, output, job_waits, &fd, &err) < 0)
		die(fd, &err);
	say(fd, FRAME_READY, NULL, 0);
	job = job_read(fd);
	start->kind->run(start->state, &job, &done);
	say(fd, FRAME_DONE, &done, sizeof(done));
	/* Stay until killed: the teardown of the guest's memory must not take
	 * the processor from those who carry the answer. */
	(void)fd_read_all(fd, &(char){ 0 }, 1);
	_exit(CHILD_SPENT);
}
