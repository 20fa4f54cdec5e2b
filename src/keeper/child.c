/* child.c: one call, from fork to kill. Every failure here is said to the
 * keeper and ends the process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/child.h"

#include "base/fd.h"
#include "base/fd_pass.h"
#include "base/sys.h"
#include "conf/limits.h"
#include "keeper/child_session.h"
#include "rooms/worker_kind.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define JOB_USUAL 8192u /* bytes of most jobs: a program and its input */

void
child_say(int fd, enum frame_type type, const void *record, size_t n)
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
	child_say(fd, FRAME_FAILED, err, sizeof(*err));
	_exit(CHILD_LOST);
}

static bool
job_waits(void *arg)
{
	struct pollfd socket = { .fd = *(const int *)arg, .events = POLLIN };

	return poll(&socket, 1, 0) > 0;
}

/* Somebody waits, and this call has run for long: if it was busy, it takes what
 * processors the others leave. There is no way back. Not SCHED_IDLE: a child
 * that is killed needs a processor to die, and its memory group is waited for.
 */
static void
on_yield(int number)
{
	struct timespec used = { 0 };
	int before = errno;

	(void)number;
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	if (used.tv_sec > 0 || used.tv_nsec >= (long)YIELD_CPU_NS)
		(void)setpriority(PRIO_PROCESS, 0, YIELD_NICE);
	errno = before;
}

/* Whose program it is: a handler is given nothing else. Set once. */
static const struct child_start *interrupted;

static void
on_interrupt(int number)
{
	int before = errno;

	(void)number;
	interrupted->kind->interrupt(interrupted->state);
	errno = before;
}

/* A sleep of the program's is not to be restarted after on_interrupt. */
static void
signals_prepare(const struct child_start *start)
{
	struct sigaction action = { .sa_handler = on_yield,
		.sa_flags = SA_RESTART | SA_ONSTACK };

	interrupted = start;
	(void)sigfillset(&action.sa_mask);
	(void)sigaction(CHILD_YIELD_SIGNAL, &action, NULL);
	action.sa_handler = on_interrupt;
	action.sa_flags = SA_ONSTACK;
	(void)sigaction(CHILD_INTERRUPT_SIGNAL, &action, NULL);
}

/* Its socket gets the number that its filter knows. */
static int
raise_walls(const struct child_start *start, struct err *err)
{
	sigset_t none;

	(void)prctl(PR_SET_NAME, "child");
	/* The zygote blocks what its signalfd reads; a child has default
	 * signals, and these two. */
	signals_prepare(start);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(start->socket_fd, HOUSE_CHANNEL_FD) < 0)
		return fail_errno(err, "number the channel");
	/* The socket and the region have been taken: no number is in use. */
	if (start->kind->flags & ROOM_WORKER &&
	    start->house->child.procs_fd >= 0 &&
	    dup2(start->house->child.procs_fd, PROXY_PROCS_FD) < 0)
		return fail_errno(err, "number the control group");
	return house_child_first(start->house, err);
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

/* A word to hurry that came too late to be heeded, or a twin's. */
static bool
hurry_drop(struct buf *buf)
{
	struct wire_header header;

	memcpy(&header, buf->p, sizeof(header));
	if (header.type != FRAME_HURRY || header.n != 0)
		return false;
	buf_drop(buf, sizeof(header));
	return true;
}

static struct room_job
job_of(const struct wire_job *record, const uint8_t *p)
{
	const struct wire_parts *parts = &record->parts;
	struct room_job job = { .stay = record->stay };

	job.code = (struct span){ p, parts->code_n };
	p += parts->code_n;
	job.stdin_bytes = (struct span){ p, parts->stdin_n };
	p += parts->stdin_n;
	job.options = (struct span){ p, parts->options_n };
	p += parts->options_n;
	job.files = (struct span){ p, parts->files_n };
	return job;
}

/* Reads the job into buf, in one system call if it is a short one. */
static struct room_job
job_read(int fd, struct buf *buf)
{
	const size_t head =
	    sizeof(struct wire_header) + sizeof(struct wire_job);
	struct wire_header header;
	struct wire_job record;

	do
		read_until(fd, buf, sizeof(header));
	while (hurry_drop(buf));
	read_until(fd, buf, head);
	memcpy(&header, buf->p, sizeof(header));
	memcpy(&record, buf->p + sizeof(header), sizeof(record));
	if (header.type != FRAME_JOB || header.n < sizeof(record) ||
	    header.n > FRAME_MAX - sizeof(header) ||
	    !wire_parts_fit(&record.parts, header.n - sizeof(record)))
		_exit(CHILD_LOST);
	read_until(fd, buf, sizeof(header) + header.n);
	return job_of(&record, buf->p + head);
}

/* What is to be killed with this process goes to the keeper; and of what its
 * worker was asked for with nothing stays. */
static int
worker_hand(const struct child_start *start, struct err *err)
{
	struct wire_header header = { .type = FRAME_WORKER, .fds = 1 };
	int pidfd = start->kind->worker(start->state);
	int r = pidfd < 0 ? 0
			  : fd_send_with(HOUSE_CHANNEL_FD, &header,
				sizeof(header), &pidfd, 1);

	if (r < 0)
		return fail(err, -r, "tell of a worker: %s", strerror(-r));
	return sys_close_range(PROXY_FACTORY_FD, ~0u) < 0
		   ? fail_errno(err, "close what is done with")
		   : 0;
}

static void
child_ready(const struct child_start *start, struct output *output)
{
	int fd = HOUSE_CHANNEL_FD;
	struct err err = { 0 };
	int r = raise_walls(start, &err);

	if (r == 0 && start->house->child.session && start->kind->stay)
		start->kind->stay(start->state);
	if (r == 0 && !start->twin)
		r = start->kind->prepare(
		    start->state, output, job_waits, &fd, &err);
	if (r == 0 && !start->twin && start->kind->worker)
		r = worker_hand(start, &err);
	if (r == 0)
		r = house_child_last(start->house, &err);
	if (r < 0)
		die(fd, &err);
}

/* A session's next job has a place of its own again. */
static void
job_forget(struct buf *bytes)
{
	if (bytes->cap > JOB_USUAL)
		buf_done(bytes);
	bytes->n = 0;
}

static _Noreturn void
twin_end(struct buf *bytes)
{
	read_until(HOUSE_CHANNEL_FD, bytes, sizeof(struct wire_header));
	house_forbidden();
	_exit(CHILD_SPENT);
}

/* A worker may end while nothing is to be done: who finds that out by a job has
 * lost it. */
static void
idle_wait(const struct child_start *start)
{
	struct pollfd fds[2] = { { .fd = HOUSE_CHANNEL_FD, .events = POLLIN } };

	if (!start->kind->watch)
		return;
	fds[1].fd = start->kind->watch(start->state);
	fds[1].events = POLLRDHUP;
	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	if (!fds[0].revents)
		_exit(CHILD_SPENT);
}

void
child_main(const struct child_start *start)
{
	const int fd = HOUSE_CHANNEL_FD;
	struct err err = { 0 };
	struct wire_done done = { 0 };
	struct room_job job;
	struct output *output;
	struct buf job_bytes;

	output = output_map(start->region_fd, start->conf->output_chars);
	if (!output) {
		(void)fail_errno(&err, "map output region");
		die(start->socket_fd, &err);
	}
	/* Before the wait: room for a short job, with its page touched. */
	buf_init(&job_bytes, FRAME_MAX);
	if (buf_reserve(&job_bytes, JOB_USUAL) < 0)
		_exit(CHILD_LOST);
	job_bytes.p[0] = 0;
	child_ready(start, output);
	child_say(fd, FRAME_READY, NULL, 0);
	if (start->twin)
		twin_end(&job_bytes);
	idle_wait(start);
	do {
		job = job_read(fd, &job_bytes);
		start->kind->run(start->state, output, &job, &done);
		child_say(fd, FRAME_DONE, &done, sizeof(done));
		job_forget(&job_bytes);
		if (done.stays)
			idle_wait(start);
	} while (done.stays && session_wait(start, &job_bytes, &output));
	/* Stay until killed: the teardown of the guest's memory must not take
	 * the processor from those who carry the answer. */
	(void)fd_read_all(fd, &(char){ 0 }, 1);
	_exit(CHILD_SPENT);
}
