/* deno.c: the room in Deno and Pyodide: Python in WebAssembly in V8, behind the
 * walls of a native room. This is its factory: each request is a new Deno, the
 * first process of a namespace of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/own.h"
#include "base/sys.h"
#include "conf/limits.h"
#include "rooms/deno_cell.h"
#include "rooms/factory.h"
#include "rooms/worker_kind.h"
#include "walls/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct worker {
	int pidfd, life_fd;
	bool starting; /* its proxy has not said yet that it is ready */
};

struct workers {
	struct worker worker[CHILDREN_MAX];
	unsigned n;
	unsigned turns; /* so many start at a time; others wait in the socket */
};

/* ---- one worker ---- */

/* It waits for the end of the gate: what the factory says comes first. */
static _Noreturn void
worker_main(const struct factory_start *start, const struct deno_parts *parts,
    const int ends[FACTORY_FDS], int gate)
{
	struct err err = { 0 };
	char byte;

	while (read(gate, &byte, 1) < 0 && errno == EINTR)
		;
	deno_cell_enter(start, parts, ends, &err);
	/* The stream's number may be another by now. */
	factory_refuse(fcntl(ends[FACTORY_STREAM], F_GETFD) < 0
			   ? STDOUT_FILENO
			   : ends[FACTORY_STREAM],
	    &err);
	_exit(1);
}

/* A pidfd of a new worker, which waits at the gate. */
static int
worker_fork(const struct factory_start *start, const struct deno_parts *parts,
    const int ends[FACTORY_FDS], const int gate[2], struct err *err)
{
	pid_t pid = wall_pidns_fork(err);
	int pidfd;

	if (pid < 0)
		return pid;
	if (pid == 0) {
		fd_close(gate[1]);
		worker_main(start, parts, ends, gate[0]);
	}
	pidfd = sys_pidfd_open(pid);
	if (pidfd < 0) {
		(void)fail_errno(err, "pidfd_open");
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		return -err->code;
	}
	return pidfd;
}

static int
worker_start(const struct factory_start *start, const struct deno_parts *parts,
    const int ends[FACTORY_FDS], struct err *err)
{
	int gate[2];
	int pidfd;

	if (pipe2(gate, O_CLOEXEC) < 0)
		return fail_errno(err, "pipe");
	pidfd = worker_fork(start, parts, ends, gate, err);
	if (pidfd >= 0)
		/* A proxy that is gone: its life has ended, too. */
		(void)factory_hand_pidfd(ends[FACTORY_STREAM], pidfd);
	fd_close(gate[0]);
	fd_close(gate[1]);
	return pidfd;
}

/* ---- all of them ---- */

static void
take_request(const struct factory_start *start, const struct deno_parts *parts,
    struct workers *workers)
{
	struct factory_request request;
	int ends[FACTORY_FDS];
	struct err err = { 0 };
	int r = factory_take(start->socket_fd, &request, ends);
	int pidfd;

	if (r == -EPIPE)
		_exit(0);
	if (r < 0)
		return;
	pidfd = workers->n == CHILDREN_MAX
		    ? fail(&err, EAGAIN, "too many workers")
		    : worker_start(start, parts, ends, &err);
	if (pidfd < 0) {
		factory_refuse(ends[FACTORY_STREAM], &err);
		fd_close(ends[FACTORY_LIFE]);
	} else {
		workers->worker[workers->n++] =
		    (struct worker){ pidfd, ends[FACTORY_LIFE], true };
	}
	fd_close(ends[FACTORY_STREAM]);
	fd_close(ends[FACTORY_PROCS]);
}

/* Its proxy is gone, or it ended itself: either way it is no more. */
static void
worker_end(struct workers *workers, unsigned i)
{
	struct worker *worker = &workers->worker[i];
	siginfo_t info;

	(void)sys_pidfd_kill(worker->pidfd, SIGKILL);
	while (waitid(P_PIDFD, (id_t)worker->pidfd, &info, WEXITED) < 0 &&
	       errno == EINTR)
		;
	fd_close(worker->pidfd);
	fd_close(worker->life_fd);
	*worker = workers->worker[--workers->n];
}

/* A byte: it has started. Anything else is its end. */
static void
worker_look(struct workers *workers, unsigned i, const struct pollfd *pidfd,
    const struct pollfd *life)
{
	struct worker *worker = &workers->worker[i];
	char byte;

	if (pidfd->revents == 0 && life->revents == 0)
		return;
	if (pidfd->revents == 0 && worker->starting &&
	    recv(worker->life_fd, &byte, 1, MSG_DONTWAIT) == 1)
		worker->starting = false;
	else
		worker_end(workers, i);
}

static bool
turn_is_free(const struct workers *workers)
{
	unsigned starting = 0;

	for (unsigned i = 0; i < workers->n; i++)
		starting += workers->worker[i].starting;
	return starting < workers->turns;
}

/* Waits for requests and ends. */
static void
serve_once(const struct factory_start *start, const struct deno_parts *parts,
    struct workers *workers)
{
	struct pollfd fds[1 + 2 * CHILDREN_MAX] = { { .fd = start->socket_fd,
	    .events = turn_is_free(workers) ? POLLIN : 0 } };
	unsigned n = workers->n;

	for (unsigned i = 0; i < n; i++) {
		fds[1 + 2 * i] =
		    (struct pollfd){ workers->worker[i].pidfd, POLLIN, 0 };
		fds[2 + 2 * i] =
		    (struct pollfd){ workers->worker[i].life_fd, POLLIN, 0 };
	}
	if (poll(fds, 1 + 2 * n, -1) < 0)
		return;
	/* From the last one on: an end moves the last to its place. */
	for (unsigned i = n; i-- > 0;)
		worker_look(workers, i, &fds[1 + 2 * i], &fds[2 + 2 * i]);
	/* Nobody waits any more for what is still in it. */
	if (fds[0].revents & POLLHUP)
		_exit(0);
	if (fds[0].revents)
		take_request(start, parts, workers);
}

/* A start takes a processor for more than a second: more at a time would only
 * make all of them late, the first as the last. */
static unsigned
turns_of_machine(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ||
		       CPU_COUNT(&set) < 1
		   ? 1
		   : (unsigned)CPU_COUNT(&set);
}

static _Noreturn void
serve(const struct factory_start *start)
{
	static struct deno_parts parts; /* both are large */
	static struct workers workers = { 0 };
	struct err err = { 0 };
	int r = deno_parts_find(start, &parts, &err);

	workers.turns = turns_of_machine();
	if (r == 0)
		err.code = 0;
	if (factory_say(start->socket_fd, &err) < 0 || r < 0)
		_exit(1);
	for (;;)
		serve_once(start, &parts, &workers);
}

/* The first process of a namespace makes all workers, so that they end with it,
 * whatever they have become; and it ends with the factory. */
static void
deno_factory(const struct factory_start *start)
{
	struct err err = { 0 };
	pid_t pid = wall_pidns_fork(&err);

	if (pid == 0 && wall_parent(0, &err) == 0)
		serve(start);
	if (pid <= 0) {
		(void)factory_say(start->socket_fd, &err);
		_exit(1);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* ---- the kind ---- */

static int
deno_check(int artifacts_fd, struct err *err)
{
	struct stat st;

	if (fstatat(artifacts_fd, "deno", &st, 0) < 0)
		return errno == ENOENT ? 0 : fail_errno(err, "look at deno");
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || st.st_mode & 022)
		return fail(err, EPERM,
		    "deno in the directory of what was installed can be "
		    "changed "
		    "by others");
	return 0;
}

/* V8 and the interpreter, what the program allocates, and its files, twice:
 * JavaScript has them, and what is answered. */
static uint64_t
deno_child_bytes(const struct wire_conf *conf, int artifacts_fd)
{
	(void)artifacts_fd;
	return DENO_BASE_BYTES + conf->memory_bytes + 2 * conf->files_bytes +
	       CHILD_SLACK_BYTES;
}

const struct room_kind room_deno = {
	.name = "deno",
	.id = ROOM_DENO,
	.flags = ROOM_WORKER | ROOM_SEND_SETTINGS | ROOM_IN_TURN,
	/* V8 alone is not to be trusted with a hostile program. */
	.required = WALLS_OF_PROXIES | WALLS_OF_NATIVE,
	.check = deno_check,
	.child_bytes = deno_child_bytes,
	.factory = deno_factory,
	WORKER_KIND,
};
