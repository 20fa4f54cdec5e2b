/* container_life.c: containers from their start to their end.
 *
 *   STARTED ──its proxy ends──▶ LEAVING ──too slow──▶ REMOVED BY NAME
 *      │                           ▲                      │  ▲
 *      │                           └──its client goes on──┘  │
 *      └──────────── its client ends: in order, it is gone; else
 *
 * A client is the engine's program that connects a container with its streams.
 * Killing one does not end its container, nor one that is only being made: what
 * is removed too early comes up after that.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/container_impl.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/own.h"
#include "rooms/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit statuses of an engine's client that are no program's: the engine failed,
 * or could not execute what it was to. */
#define EXIT_ENGINE_FIRST 125
#define EXIT_ENGINE_LAST  127

enum state {
	FREE,
	STARTED,
	LEAVING,
	REMOVING,
};

struct container {
	enum state state;
	uint32_t number;
	int stream, life, error; /* life: -1 once it has ended */
	pid_t client, remover;   /* -1: reaped, or none */
	bool lost; /* its client ended, and did not say that it is gone */
	unsigned removals;
	uint64_t until_us; /* LEAVING */
};

struct life {
	const struct container_plan *plan;
	const struct factory_start *start;
	struct container *all;
	unsigned n;
	uint32_t last; /* number given */
};

static void
container_free(struct container *container)
{
	fd_close(container->stream);
	fd_close(container->life);
	fd_close(container->error);
	container->state = FREE;
}

/* A place for one more; NULL: no memory. */
static struct container *
container_add(struct life *life)
{
	struct container *more;

	for (unsigned i = 0; i < life->n; i++)
		if (life->all[i].state == FREE)
			return &life->all[i];
	more = reallocarray(life->all, life->n + 1, sizeof(*more));
	if (!more)
		return NULL;
	life->all = more;
	return &life->all[life->n++];
}

static int
client_start(struct life *life, struct container *container, struct err *err)
{
	char name[CONTAINER_NAME_MAX];
	struct args args;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return fail_errno(err, "pipe");
	container->error = ends[0];
	container_name(life->plan, container->number, name);
	plan_run(life->plan, name, &args);
	container->client =
	    command_start(&args, container->stream, container->stream, ends[1]);
	fd_close(ends[1]);
	return container->client > 0
		   ? 0
		   : fail(err, -container->client, "start %.100s: %s",
			 life->plan->engine, strerror(-container->client));
}

static void
on_request(struct life *life, const int fds[FACTORY_FDS])
{
	struct container *container = container_add(life);
	struct err err = { ENOMEM, "no memory for a container" };

	fd_close(fds[FACTORY_PROCS]); /* its engine has groups of its own */
	if (!container) {
		factory_refuse(fds[FACTORY_STREAM], &err);
		fd_close(fds[FACTORY_STREAM]);
		fd_close(fds[FACTORY_LIFE]);
		return;
	}
	*container = (struct container){ .state = STARTED,
		.number = ++life->last,
		.stream = fds[FACTORY_STREAM],
		.life = fds[FACTORY_LIFE],
		.error = -1,
		.client = -1,
		.remover = -1 };
	if (client_start(life, container, &err) < 0) {
		factory_refuse(container->stream, &err);
		container_free(container);
	}
}

/* A process for it, that outlives this one: it is more than one command, for an
 * engine may forget a container before its runtime has deleted it. */
static pid_t
remove_start(const struct life *life, const struct args *names)
{
	int null_fd = life->start->null_fd;
	struct err err;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_NAME, "sweeper");
	(void)fd_close_others(&null_fd, 1);
	(void)container_remove(life->plan, names, null_fd, &err);
	_exit(0);
}

/* By name: whatever became of its client. */
static void
remove_begin(struct life *life, struct container *container)
{
	char name[CONTAINER_NAME_MAX];
	struct args names;

	container->state = REMOVING;
	container->removals++;
	container_name(life->plan, container->number, name);
	args_init(&names);
	args_add(&names, "%s", name);
	container->remover = remove_start(life, &names);
	container->lost = false;
}

/* In the words of a worker, which was killed itself. */
static void
say_out_of_memory(int stream)
{
	uint8_t frame[WORKER_HEADER + sizeof(struct worker_end)] = { 0 };
	const struct worker_end end = { .status = -SIGKILL,
		.signal = SIGKILL,
		.flags = WORKER_OUT_OF_MEMORY };

	_Static_assert(sizeof(end) == 32, "as it is on the wire");
	worker_header(frame, WORKER_END, sizeof(end));
	/* Little-endian, as are the machines that containers are for. */
	memcpy(frame + WORKER_HEADER, &end, sizeof(end));
	(void)fd_send_all(stream, frame, sizeof(frame));
}

static void
on_client_end(struct life *life, struct container *container, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	bool failed =
	    code < 0 || (code >= EXIT_ENGINE_FIRST && code <= EXIT_ENGINE_LAST);
	struct err err;
	char line[200];

	container->client = -1;
	if (failed && container->life >= 0) {
		command_complaint(container->error, line);
		(void)fail(&err, EIO, "a container does not start: %.190s",
		    *line ? line : "its engine's client ended");
		factory_refuse(container->stream, &err);
	}
	/* While its proxy lives no program can do that; the end of the
	 * container's memory does. */
	if (code == EXIT_KILLED && container->life >= 0)
		say_out_of_memory(container->stream);
	/* The proxy is to see the end. */
	fd_close(give_fd(&container->stream));
	container->lost = failed;
	if (container->state == REMOVING)
		return;
	if (failed)
		remove_begin(life, container);
	else
		container_free(container);
}

/* It has time to end by itself, twice as much each time. */
static void
leave(struct container *container, unsigned times)
{
	container->state = LEAVING;
	container->until_us =
	    clock_us() + (CONTAINER_GRACE_MS << times) * 1000ull;
}

/* Where its client goes on, the engine knew nothing of it yet, which is no error
 * to some. */
static void
on_remover_end(struct container *container, int status)
{
	container->remover = -1;
	if (container->client < 0)
		return;
	if (container->removals < CONTAINER_REMOVALS) {
		leave(container, container->removals);
		return;
	}
	log_warn("event=container_remove number=%u status=%d",
	    container->number, status);
	(void)kill(container->client, SIGKILL);
}

/* When neither its client nor what removes it is there any more. */
static void
on_removed(struct life *life, struct container *container)
{
	if (container->lost)
		remove_begin(life, container);
	else
		container_free(container);
}

static void
reap(struct life *life)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (unsigned i = 0; i < life->n; i++) {
			struct container *container = &life->all[i];

			if (container->state == FREE)
				continue;
			if (container->client == pid)
				on_client_end(life, container, status);
			else if (container->remover == pid)
				on_remover_end(container, status);
			if (container->state == REMOVING &&
			    container->client < 0 && container->remover < 0)
				on_removed(life, container);
		}
}

/* Its stream is at its end, too: a worker that is well ends by itself. */
static void
on_life_end(struct container *container)
{
	fd_close(give_fd(&container->life));
	fd_close(give_fd(&container->stream));
	if (container->state == STARTED)
		leave(container, 0);
}

/* Milliseconds until something is to be done; -1: nothing is. */
static int
next_ms(struct life *life)
{
	uint64_t now = clock_us();
	int ms = -1;

	for (unsigned i = 0; i < life->n; i++) {
		struct container *container = &life->all[i];
		int left;

		if (container->state != LEAVING)
			continue;
		if (container->until_us <= now) {
			remove_begin(life, container);
			continue;
		}
		left = (int)((container->until_us - now) / 1000) + 1;
		ms = ms < 0 || left < ms ? left : ms;
	}
	return ms;
}

/* False: nobody asks any more. */
static bool
serve_once(struct life *life, int signals, struct pollfd *ready)
{
	struct signalfd_siginfo info;
	struct factory_request request;
	int fds[FACTORY_FDS];
	int ms = next_ms(life);
	unsigned n = life->n;
	int r;

	ready[0] =
	    (struct pollfd){ .fd = life->start->socket_fd, .events = POLLIN };
	ready[1] = (struct pollfd){ .fd = signals, .events = POLLIN };
	for (unsigned i = 0; i < n; i++)
		ready[2 + i] = (struct pollfd){
			.fd =
			    life->all[i].state == FREE ? -1 : life->all[i].life,
			.events = POLLIN,
		};
	if (poll(ready, 2 + n, ms) < 0)
		return errno == EINTR || errno == ENOMEM;
	for (unsigned i = 0; i < n; i++)
		if (ready[2 + i].revents)
			on_life_end(&life->all[i]);
	if (ready[1].revents) {
		(void)!read(signals, &info, sizeof(info));
		reap(life);
	}
	if (!ready[0].revents)
		return true;
	r = factory_take(life->start->socket_fd, &request, fds);
	if (r == 0)
		on_request(life, fds);
	return r != -EPIPE;
}

void
container_serve(
    const struct container_plan *plan, const struct factory_start *start)
{
	struct life life = { .plan = plan, .start = start };
	own_mem struct pollfd *ready = NULL;
	sigset_t child;
	int signals;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		return;
	for (;;) {
		struct pollfd *more =
		    reallocarray(ready, life.n + 2, sizeof(*ready));

		ready = more ? more : ready;
		if (!more || !serve_once(&life, signals, ready))
			return;
	}
}
