/* launcher.c: the launcher, seen from the server.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/launcher.h"

#include "base/fd.h"
#include "base/fd_pass.h"
#include "base/own.h"
#include "base/process.h"
#include "base/sys.h"
#include "conf/limits.h"
#include "conf/programs.h"
#include "room/launcher_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct launcher {
	pid_t pid;
	int pidfd;             /* -1: it cannot be killed, and need not be */
	int fd;                /* requests out, descriptors in */
	struct launcher *wide; /* for keepers of workers; NULL: there is none */
};

/* The keeper's program, opened once: an upgrade of the files can then neither
 * remove it from under the server nor mix two versions. */
static int
keeper_open(struct err *err)
{
	char path[PATH_MAX];
	int r = program_find("breakroom-keeper", path, err);
	int fd;

	if (r < 0)
		return r;
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? fail_errno(err, "open %s", path) : fd;
}

static int
start_one(bool wide, struct launcher **ret_launcher, struct err *err)
{
	own_mem struct launcher *launcher = calloc(1, sizeof(*launcher));
	own_fd int keeper = keeper_open(err);
	struct launch launch = { .keeper = keeper, .wide = wide };
	int ends[2];
	int r;

	if (keeper < 0)
		return keeper;
	if (!launcher)
		return fail(err, ENOMEM, "start the launcher");
	r = fd_pair(ends);
	if (r < 0)
		return fail(err, -r, "socketpair: %s", strerror(-r));
	launcher->pid = fork();
	if (launcher->pid == 0) {
		launch.server = ends[1];
		launcher_main(&launch);
	}
	fd_close(ends[1]);
	launcher->fd = ends[0];
	if (launcher->pid < 0) {
		fd_close(ends[0]);
		return fail_errno(err, "fork the launcher");
	}
	launcher->pidfd = sys_pidfd_open(launcher->pid);
	*ret_launcher = give_ptr(&launcher);
	return 0;
}

int
launcher_start(bool workers, struct launcher **ret_launcher, struct err *err)
{
	struct launcher *launcher = NULL;
	int r = start_one(false, &launcher, err);

	if (launcher && workers)
		r = start_one(true, &launcher->wide, err);
	if (r == 0)
		*ret_launcher = launcher;
	return r;
}

struct launcher *
launcher_for(struct launcher *launcher, bool workers)
{
	return workers && launcher->wide ? launcher->wide : launcher;
}

static int
request_send(const struct launcher *launcher, enum launch_what what, pid_t pid)
{
	struct launch_request request = { what, pid };

	return fd_send_all(launcher->fd, &request, sizeof(request));
}

int
launcher_spawn(
    struct launcher *launcher, struct launched *ret_launched, struct err *err)
{
	struct launch_answer record;
	int fds[LAUNCH_FDS];

	/* It takes a fork: the one wait of the server, and a bounded one. */
	if (request_send(launcher, LAUNCH_KEEPER, 0) < 0 ||
	    fd_wait(launcher->fd, LAUNCH_WAIT_MS) < 0 ||
	    fd_receive_with(
		launcher->fd, &record, sizeof(record), fds, LAUNCH_FDS) < 0)
		return fail(
		    err, EPIPE, "the launcher is gone: start the server again");
	if (record.code != 0)
		return fail(err, record.code, "start a keeper: %s",
		    strerror(record.code));
	if (fds[1] < 0) { /* a keeper without its channel ends by itself */
		fd_close(fds[0]);
		return fail(err, EMFILE, "no descriptors for a keeper");
	}
	*ret_launched = (struct launched){ fds[0], fds[1], record.pid };
	return 0;
}

void
launcher_kill(struct launcher *launcher, pid_t pid)
{
	(void)request_send(launcher, LAUNCH_KILL, pid);
}

void
launcher_stop(struct launcher *launcher)
{
	if (!launcher)
		return;
	launcher_stop(launcher->wide);
	fd_close(launcher->fd);
	/* It reaps what it started, and ends. */
	process_end(launcher->pid, launcher->pidfd, LAUNCH_END_MS);
	fd_close(launcher->pidfd);
	free(launcher);
}
