/* launcher_main.c: the launcher's process. It reads requests to start or to
 * kill a keeper, and knows nothing else.
 * Hostile input: a server that was taken over chooses the requests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/launcher_impl.h"

#include "base/fd.h"
#include "base/fd_pass.h"
#include "base/log.h"
#include "base/process.h"
#include "base/sys.h"
#include "conf/engine_env.h"
#include "conf/limits.h"
#include "walls/cgroup.h"
#include "walls/promise.h"
#include "walls/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEPER_FD 3 /* a keeper's channel */
#define EXIT_LOST 1
#define EXIT_EXEC 127 /* as shells say that a program could not be run */

/* Sends what became of a request for a keeper. */
static int
answer(int fd, struct launch_answer record, const int *fds)
{
	return fd_send_with(
	    fd, &record, sizeof(record), fds, fds ? LAUNCH_FDS : 0);
}

static _Noreturn void
keeper_exec(const struct launch *launch, int channel, pid_t launcher)
{
	static const char *const argv[] = { "breakroom-keeper", "channel", "3",
		NULL };
	const char *env[ENGINE_ENV_MAX + 1] = { NULL }; /* no secret of its */
	int program = launch->keeper;
	struct err err;
	sigset_t none;
	bool ready;

	if (launch->wide)
		engine_environment(environ, env);
	_Static_assert(KEEPER_FD == 3, "the argument says 3");
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	/* The number 3 is the channel's; every descriptor but it closes. */
	program = fcntl(program, F_DUPFD_CLOEXEC, KEEPER_FD + 1);
	if (channel == KEEPER_FD)
		ready = fcntl(channel, F_SETFD, 0) == 0;
	else
		ready = dup2(channel, KEEPER_FD) == KEEPER_FD;
	if (ready && program >= 0 && wall_parent(launcher, &err) == 0)
		(void)sys_execveat(
		    program, (char *const *)argv, (char *const *)env);
	_exit(EXIT_EXEC);
}

/* The new keeper's pid, or -errno. */
static pid_t
keeper_launch(struct launch *launch, int ret_fds[LAUNCH_FDS])
{
	pid_t self = getpid();
	int ends[2];
	pid_t pid;
	int r;

	if (launch->keepers_n == KEEPERS_MAX)
		return -EAGAIN;
	r = fd_pair(ends);
	if (r < 0)
		return r;
	pid = fork();
	r = pid < 0 ? -errno : pid;
	if (pid == 0)
		keeper_exec(launch, ends[1], self);
	fd_close(ends[1]);
	ret_fds[0] = ends[0];
	if (pid < 0)
		return r;
	launch->keepers[launch->keepers_n++] = pid;
	ret_fds[1] = sys_pidfd_open(pid);
	if (ret_fds[1] < 0) {
		r = -errno;
		(void)kill(pid, SIGKILL);
	}
	return r;
}

static int
on_keeper_request(struct launch *launch)
{
	int fds[LAUNCH_FDS] = { -1, -1 };
	pid_t pid = keeper_launch(launch, fds);
	struct launch_answer record = { pid < 0 ? -pid : 0, pid < 0 ? 0 : pid };
	int r = answer(launch->server, record, pid < 0 ? NULL : fds);

	/* Descriptors may be short for a moment; the server asks again. */
	if (r < 0 && r != -EPIPE) {
		record = (struct launch_answer){ -r, 0 };
		r = answer(launch->server, record, NULL);
	}
	fd_close(fds[0]);
	fd_close(fds[1]);
	return r;
}

/* Not yet reaped, so the number is still its own. */
static void
on_kill_request(const struct launch *launch, pid_t pid)
{
	for (unsigned i = 0; i < launch->keepers_n; i++)
		if (launch->keepers[i] == pid)
			(void)kill(pid, SIGKILL);
}

static int
on_request(struct launch *launch, const struct launch_request *request)
{
	if (request->what == LAUNCH_KEEPER)
		return on_keeper_request(launch);
	if (request->what == LAUNCH_KILL)
		on_kill_request(launch, request->pid);
	return 0;
}

/* ---- control groups of keepers that have ended ---- */

/* The next keeper that opens a room beside them tries again. */
static void
groups_leave(struct launch *launch)
{
	struct err err;

	for (unsigned i = 0; i < launch->ended_n; i++)
		if (cgroup_remove(launch->ended[i], &err) < 0)
			log_warn("event=groups_left keeper=%d error=\"%s\"",
			    (int)launch->ended[i], err.text);
	launch->ended_n = 0;
}

/* One try: a process that was killed may take its time to end. */
static void
groups_remove(struct launch *launch)
{
	unsigned left = 0;
	struct err err;

	for (unsigned i = 0; i < launch->ended_n; i++)
		if (cgroup_remove(launch->ended[i], &err) < 0)
			launch->ended[left++] = launch->ended[i];
	launch->ended_n = left;
	launch->waited_ms += launch->again_ms;
	if (launch->again_ms < GROUPS_AGAIN_MS_MAX)
		launch->again_ms *= 2;
	if (launch->waited_ms > GROUPS_WAIT_MS)
		groups_leave(launch);
}

/* Its groups go with it; all its processes are dead, or will be. */
static void
forget(struct launch *launch, pid_t pid)
{
	for (unsigned i = 0; i < launch->keepers_n; i++) {
		if (launch->keepers[i] != pid)
			continue;
		launch->keepers[i] = launch->keepers[--launch->keepers_n];
		if (launch->ended_n == KEEPERS_MAX)
			groups_leave(launch);
		launch->ended[launch->ended_n++] = pid;
		launch->again_ms = 1;
		launch->waited_ms = 0;
		return;
	}
}

/* Keepers, and what they left behind when they were killed. */
static void
reap(struct launch *launch)
{
	struct signalfd_siginfo info;
	pid_t pid;

	(void)!read(launch->signals, &info, sizeof(info));
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		forget(launch, pid);
}

/* Until the server is gone, or the socket to it. */
static void
launch_loop(struct launch *launch)
{
	for (;;) {
		struct pollfd ready[] = {
			{ .fd = launch->server, .events = POLLIN },
			{ .fd = launch->signals, .events = POLLIN },
		};
		struct launch_request request;
		int r = poll(
		    ready, 2, launch->ended_n > 0 ? (int)launch->again_ms : -1);

		if (r < 0)
			continue; /* a signal, or memory short for a moment */
		if (r == 0)
			groups_remove(launch);
		if (ready[1].revents)
			reap(launch);
		if (!ready[0].revents)
			continue;
		r = fd_read_all(launch->server, &request, sizeof(request));
		if (r == 0)
			r = on_request(launch, &request);
		if (r == -EPIPE || r == -ECONNRESET)
			return;
		if (r < 0)
			log_warn("event=launcher error=\"%s\"", strerror(-r));
	}
}

/* Keepers end when the server's end of their channel is closed, and all that
 * is below them; whoever is our parent need not reap them. Their groups can be
 * removed when all of that is gone, or is late: then what is in them is killed.
 */
static void
wait_for_all(struct launch *launch)
{
	unsigned step_ms = 1;

	for (unsigned waited_ms = 0; waited_ms < LAUNCH_CLEAN_MS;
	     waited_ms += step_ms) {
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			forget(launch, pid);
		if (pid < 0 || waited_ms >= LAUNCH_CLEAN_MS / 2) {
			step_ms = step_ms < LAUNCH_STEP_MS_MAX ? 2 * step_ms
							       : step_ms;
			groups_remove(launch);
		}
		if (pid < 0 && launch->ended_n == 0)
			return;
		(void)poll(NULL, 0, (int)step_ms);
	}
	groups_leave(launch);
}

/* Holds nothing of the server's but what it works with: the client's streams
 * are the server's alone, the log is where the server's is. */
static int
leave_descriptors(const struct launch *launch)
{
	const int kept[] = { launch->server, launch->keeper, launch->signals };

	return process_keep_only(kept, 3);
}

void
launcher_main(struct launch *launch)
{
	char names[WALL_NAMES_MAX];
	wall_set missing = 0;
	sigset_t child;

	/* Signals of the server's terminal are the server's. */
	(void)setsid();
	/* Nothing of the caller's place; rooms inherit it. */
	(void)!chdir("/");
	(void)prctl(PR_SET_NAME, "launcher");
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	launch->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	/* No death signal: the end of the server is the end of its socket, and
	 * there is something left to remove then. */
	if (launch->signals < 0 || leave_descriptors(launch) < 0)
		_exit(EXIT_LOST);
	if (!launch->wide)
		promise_launcher(&missing);
	if (missing) {
		wall_names(missing, names);
		log_warn("event=launcher_walls missing=%s", names);
	}
	launch_loop(launch);
	wait_for_all(launch);
	_exit(0);
}
