/* launcher.c: the launcher, seen from the server, and its own process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/launcher.h"

#include "base/fd.h"
#include "base/own.h"
#include "base/sys.h"
#include "conf/programs.h"
#include "walls/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEPER_FD 3 /* a keeper's channel */
#define EXIT_LOST 1
#define EXIT_EXEC 127 /* as shells say that a program could not be run */

struct launcher {
	pid_t pid;
	int fd; /* requests out, descriptors in */
};

union one_fd {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* ---- the launcher's process ---- */

struct launch {
	int server; /* requests in, descriptors out */
	int signals;
	char keeper[PATH_MAX];
};

/* Sends what became of a request: 0 and a channel, or an errno. */
static int
reply(int fd, int code, int channel)
{
	union one_fd control = { 0 };
	struct iovec part = { &code, sizeof(code) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header;

	if (channel >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &channel, sizeof(int));
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static _Noreturn void
keeper_exec(const struct launch *launch, int channel, pid_t launcher)
{
	static const char *const argv[] = { "breakroom-keeper", "channel", "3",
		NULL };
	static char *const env[] = { NULL }; /* nothing of the host's */
	sigset_t none;
	struct err err = { 0 };

	_Static_assert(KEEPER_FD == 3, "the argument says 3");
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (wall_parent(launcher, &err) < 0)
		_exit(EXIT_EXEC);
	/* dup2 clears close-on-exec; all other descriptors have it or go. */
	if (channel == KEEPER_FD)
		(void)fcntl(channel, F_SETFD, 0);
	else if (dup2(channel, KEEPER_FD) < 0)
		_exit(EXIT_EXEC);
	(void)sys_close_range(KEEPER_FD + 1, ~0u);
	(void)execve(launch->keeper, (char *const *)argv, env);
	_exit(EXIT_EXEC);
}

static int
launch_keeper(const struct launch *launch)
{
	pid_t self = getpid();
	int ends[2];
	pid_t pid;
	int r = fd_pair(ends);

	if (r < 0)
		return reply(launch->server, -r, -1);
	pid = fork();
	if (pid == 0)
		keeper_exec(launch, ends[1], self);
	r = pid < 0 ? reply(launch->server, errno, -1)
		    : reply(launch->server, 0, ends[0]);
	fd_close(ends[0]);
	fd_close(ends[1]);
	return r;
}

static void
launch_reap(const struct launch *launch)
{
	struct signalfd_siginfo info;

	(void)!read(launch->signals, &info, sizeof(info));
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

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
			launch_reap(launch);
		if (!ready[0].revents)
			continue;
		got = read(launch->server, &request, 1);
		if (got == 0)
			return 0; /* the server is gone */
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0 && launch_keeper(launch) < 0)
			return -EPIPE;
	}
}

/* The client's streams are the server's alone. */
static int
leave_streams(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0)
		return -errno;
	(void)close(null);
	return 0;
}

static _Noreturn void
launcher_main(struct launch *launch, pid_t server)
{
	struct err err = { 0 };
	sigset_t child;

	/* Signals of the server's terminal are the server's. */
	(void)setsid();
	(void)prctl(PR_SET_NAME, "launcher");
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	launch->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (launch->signals < 0 || leave_streams() < 0 ||
	    wall_parent(server, &err) < 0 || wall_privileges(&err) < 0)
		_exit(EXIT_LOST);
	_exit(launch_loop(launch) < 0 ? EXIT_LOST : 0);
}

/* ---- the server's side ---- */

int
launcher_start(struct launcher **ret_launcher, struct err *err)
{
	own_mem struct launcher *launcher = calloc(1, sizeof(*launcher));
	struct launch launch;
	pid_t self = getpid();
	int ends[2];
	int r;

	if (!launcher)
		return fail(err, ENOMEM, "start the launcher");
	r = program_find("breakroom-keeper", launch.keeper, err);
	if (r < 0)
		return r;
	r = fd_pair(ends);
	if (r < 0)
		return fail(err, -r, "socketpair: %s", strerror(-r));
	launcher->pid = fork();
	if (launcher->pid == 0) {
		fd_close(ends[0]);
		launch.server = ends[1];
		launcher_main(&launch, self);
	}
	fd_close(ends[1]);
	launcher->fd = ends[0];
	if (launcher->pid < 0) {
		fd_close(ends[0]);
		return fail_errno(err, "fork the launcher");
	}
	*ret_launcher = give_ptr(&launcher);
	return 0;
}

int
launcher_spawn(struct launcher *launcher, int *ret_channel, struct err *err)
{
	union one_fd control;
	int code = 0;
	struct iovec part = { &code, sizeof(code) };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *header;

	if (fd_send_all(launcher->fd, "k", 1) < 0 ||
	    recvmsg(launcher->fd, &message, MSG_CMSG_CLOEXEC) !=
		(ssize_t)sizeof(code))
		return fail(err, EPIPE,
		    "the launcher is gone: start the "
		    "server again");
	if (code != 0)
		return fail(err, code, "start a keeper: %s", strerror(code));
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return fail(err, EPROTO, "the launcher sent no channel");
	memcpy(ret_channel, CMSG_DATA(header), sizeof(int));
	return 0;
}

void
launcher_stop(struct launcher *launcher)
{
	if (!launcher)
		return;
	fd_close(launcher->fd);
	(void)waitpid(launcher->pid, NULL, 0);
	free(launcher);
}
