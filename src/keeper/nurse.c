/* nurse.c: the nurse, and asking it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/nurse.h"

#include "base/fd.h"
#include "base/fd_pass.h"
#include "base/sys.h"
#include "conf/limits.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- its process ---- */

/* Forks a zygote with this channel; its pidfd, or -errno. */
static int
zygote_fork(const struct zygote_start *start, int channel)
{
	struct err err;
	pid_t pid = zygote_start(start, channel, &err);
	int pidfd;

	if (pid < 0)
		return pid;
	pidfd = sys_pidfd_open(pid);
	if (pidfd < 0) {
		pidfd = -errno;
		(void)kill(pid, SIGKILL);
	}
	return pidfd;
}

static int
on_request(const struct zygote_start *start, int keeper)
{
	int channel, pidfd = -EBADF;
	int32_t code;
	char request = 0;
	int r = fd_receive_with(keeper, &request, 1, &channel, 1);

	if (r < 0)
		return r;
	if (channel >= 0)
		pidfd = zygote_fork(start, channel);
	fd_close(channel);
	code = pidfd < 0 ? -pidfd : 0;
	r = fd_send_with(keeper, &code, sizeof(code), &pidfd, pidfd >= 0);
	fd_close(pidfd);
	return r;
}

/* Of the keeper's, above all its channel to the server must close: the server
 * sees the keeper's end by it. */
static int
leave_descriptors(const struct zygote_start *start, int keeper)
{
	const int kept[] = { keeper, start->house->null_fd,
		start->house->artifacts_fd, start->factory_fd };

	return fd_close_others(kept, start->factory_fd < 0 ? 3 : 4);
}

static _Noreturn void
nurse_main(const struct zygote_start *start, int keeper, pid_t parent)
{
	struct err err;

	(void)prctl(PR_SET_NAME, "nurse");
	/* Whoever dies is reaped by the kernel; the keeper sees it by its
	 * pidfd. */
	(void)signal(SIGCHLD, SIG_IGN);
	if ((house_has(start->house, WALL_PARENT) &&
		wall_parent(parent, &err) < 0) ||
	    leave_descriptors(start, keeper) < 0)
		_exit(1);
	while (on_request(start, keeper) == 0)
		;
	_exit(0);
}

/* ---- the keeper's side ---- */

int
nurse_start(const struct zygote_start *start, struct err *err)
{
	pid_t self = getpid();
	int ends[2];
	pid_t pid;
	int r = fd_pair(ends);

	if (r < 0)
		return fail(err, -r, "socketpair: %s", strerror(-r));
	pid = fork();
	if (pid == 0)
		nurse_main(start, ends[1], self);
	if (pid < 0)
		r = fail_errno(err, "fork the nurse");
	fd_close(ends[1]);
	if (r < 0)
		fd_close(ends[0]);
	return r < 0 ? r : ends[0];
}

/* Bounded: it has nothing to do but this. */
static int
answer_read(int nurse, int *ret_pidfd)
{
	int32_t code;
	int r = fd_wait(nurse, LAUNCH_WAIT_MS);

	if (r < 0)
		return -ENXIO;
	r = fd_receive_with(nurse, &code, sizeof(code), ret_pidfd, 1);
	if (r < 0)
		return -ENXIO;
	if (code != 0)
		return -code;
	return *ret_pidfd < 0 ? -EMFILE : 0;
}

int
nurse_ask(int nurse, int *ret_channel, int *ret_pidfd, struct err *err)
{
	int ends[2];
	int r = fd_pair(ends);

	if (r < 0)
		return fail(err, -r, "socketpair: %s", strerror(-r));
	r = fd_send_with(nurse, "z", 1, &ends[1], 1);
	/* Descriptors under way may be too many for a moment. */
	if (r < 0 && r != -ETOOMANYREFS && r != -ENOBUFS && r != -ENOMEM)
		r = -ENXIO;
	fd_close(ends[1]);
	if (r == 0)
		r = answer_read(nurse, ret_pidfd);
	if (r < 0) {
		fd_close(ends[0]);
		return fail(
		    err, -r, "the nurse forks no zygote: %s", strerror(-r));
	}
	*ret_channel = ends[0];
	return 0;
}
