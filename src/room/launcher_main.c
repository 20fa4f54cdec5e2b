/* launcher_main.c: the launcher's process. It reads single bytes, each a
 * request for a keeper, and knows nothing else.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/launcher_impl.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/sys.h"
#include "conf/limits.h"
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

/* Sends what became of a request: 0 with descriptors, or an errno. */
static int
answer(int fd, int code, const int *fds)
{
	union launch_control control = { 0 };
	struct iovec part = { &code, sizeof(code) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header;

	if (fds) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int) * LAUNCH_FDS);
		memcpy(CMSG_DATA(header), fds, sizeof(int) * LAUNCH_FDS);
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static _Noreturn void
keeper_exec(int program, int channel, pid_t launcher)
{
	static const char *const argv[] = { "breakroom-keeper", "channel", "3",
		NULL };
	static char *const env[] = { NULL }; /* nothing of the host's */
	struct err err;
	sigset_t none;
	bool ready;

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
		(void)sys_execveat(program, (char *const *)argv, env);
	_exit(EXIT_EXEC);
}

static int
keeper_launch(const struct launch *launch, int ret_fds[LAUNCH_FDS])
{
	pid_t self = getpid();
	int ends[2];
	pid_t pid;
	int r = fd_pair(ends);

	if (r < 0)
		return r;
	pid = fork();
	r = pid < 0 ? -errno : 0;
	if (pid == 0)
		keeper_exec(launch->keeper, ends[1], self);
	fd_close(ends[1]);
	ret_fds[0] = ends[0];
	ret_fds[1] = pid > 0 ? sys_pidfd_open(pid) : -1;
	if (r == 0 && ret_fds[1] < 0) {
		r = -errno;
		(void)kill(pid, SIGKILL);
	}
	return r;
}

static int
on_request(const struct launch *launch)
{
	int fds[LAUNCH_FDS] = { -1, -1 };
	int r = keeper_launch(launch, fds);

	r = answer(launch->server, -r, r == 0 ? fds : NULL);
	/* Descriptors may be short for a moment; the server asks again. */
	if (r < 0 && r != -EPIPE)
		r = answer(launch->server, -r, NULL);
	fd_close(fds[0]);
	fd_close(fds[1]);
	return r;
}

/* Keepers, and what they left behind when they were killed. */
static void
reap(const struct launch *launch)
{
	struct signalfd_siginfo info;

	(void)!read(launch->signals, &info, sizeof(info));
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* Until the server is gone. 0 or -errno. */
static int
launch_loop(const struct launch *launch)
{
	for (;;) {
		struct pollfd ready[] = {
			{ .fd = launch->server, .events = POLLIN },
			{ .fd = launch->signals, .events = POLLIN },
		};
		char request;
		ssize_t got;

		if (poll(ready, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (ready[1].revents)
			reap(launch);
		if (!ready[0].revents)
			continue;
		got = read(launch->server, &request, 1);
		if (got == 0)
			return 0;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0 && on_request(launch) == -EPIPE)
			return 0;
	}
}

/* Keepers end when the server's end of their channel is closed, and all that
 * is below them; whoever is our parent need not reap them. */
static void
wait_for_all(void)
{
	for (unsigned waited_ms = 0; waited_ms < LAUNCH_END_MS / 2;
	     waited_ms++) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0)
			return;
		if (pid == 0)
			(void)poll(NULL, 0, 1);
	}
}

static int
compare_numbers(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Holds nothing of the server's but what it works with: the client's streams
 * are the server's alone, the log is where the server's is. */
static int
leave_descriptors(const struct launch *launch)
{
	int kept[3];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(log_descriptor(), STDERR_FILENO) < 0 ||
	    dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		return -errno;
	kept[0] = launch->server;
	kept[1] = launch->keeper;
	kept[2] = launch->signals;
	qsort(kept, 3, sizeof(kept[0]), compare_numbers);
	return fd_close_others(kept, 3);
}

void
launcher_main(struct launch *launch, pid_t server)
{
	struct err err = { 0 };
	sigset_t child;

	/* Signals of the server's terminal are the server's. */
	(void)setsid();
	(void)prctl(PR_SET_NAME, "launcher");
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	launch->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (launch->signals < 0 || leave_descriptors(launch) < 0 ||
	    wall_parent(server, &err) < 0 || wall_privileges(&err) < 0)
		_exit(EXIT_LOST);
	if (launch_loop(launch) < 0)
		_exit(EXIT_LOST);
	wait_for_all();
	_exit(0);
}
