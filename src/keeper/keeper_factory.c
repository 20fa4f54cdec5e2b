/* keeper_factory.c: the start of a room's factory of workers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper_impl.h"

#include "base/fd.h"
#include "base/fd_pass.h"
#include "base/own.h"
#include "conf/limits.h"
#include "rooms/factory.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* All but these go: of the keeper's, above all its channel to the server must
 * close. The groups' files are how a worker gets into all of its slot. */
static int
close_others(const struct house *house, int socket_fd)
{
	int kept[3 + CGROUP_SLOTS_MAX * (1 + CGROUP_OTHERS_MAX)] = { socket_fd,
		house->null_fd, house->artifacts_fd };
	unsigned n = 3;

	for (int i = 0; i < (int)CGROUP_SLOTS_MAX; i++) {
		unsigned others = cgroup_others(house->cgroup, i, kept + n + 1);

		kept[n] = cgroup_procs_fd(house->cgroup, i);
		n += others > 0 ? 1 + others : 0;
	}
	return fd_close_others(kept, n);
}

static _Noreturn void
factory_main(const struct keeper *keeper, int socket_fd, pid_t parent)
{
	const struct house *house = &keeper->house;
	struct factory_start start = {
		.conf = &keeper->conf,
		.ids = &house->ids,
		.walls = house->grade.raised,
		.socket_fd = socket_fd,
		.artifacts_fd = house->artifacts_fd,
		.null_fd = house->null_fd,
		.cgroup = house->cgroup,
		.keeper = parent,
	};
	struct err err = { 0 };

	(void)prctl(PR_SET_NAME, "factory");
	if (wall_parent(parent, &err) == 0 &&
	    close_others(house, socket_fd) == 0)
		keeper->kind->factory(&start);
	_exit(1);
}

/* Its first word: it works, or why not. Bounded. -EAGAIN: it was killed, or
 * something that it started, which says nothing of the room. */
static int
factory_wait(int socket_fd, struct err *err)
{
	struct err said = { 0 };
	int r = fd_wait(socket_fd, FACTORY_START_MS);

	if (r == 0)
		r = fd_receive_with(socket_fd, &said, sizeof(said), NULL, 0);
	if (r < 0)
		return fail(err, r == -EPIPE ? EAGAIN : -r,
		    "the factory of workers does not start: %s",
		    r == -EPIPE ? "it ended" : strerror(-r));
	said.text[sizeof(said.text) - 1] = '\0';
	return said.code == 0 ? 0 : fail(err, said.code, "%s", said.text);
}

/* Its socket once it works; -errno. */
static int
factory_start(struct keeper *keeper, struct err *err)
{
	pid_t self = getpid();
	int ends[2];
	pid_t pid;
	int r = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return fail_errno(err, "socketpair");
	pid = fork();
	if (pid == 0)
		factory_main(keeper, ends[1], self);
	if (pid < 0)
		r = fail_errno(err, "fork the factory of workers");
	fd_close(ends[1]);
	if (r == 0)
		r = factory_wait(ends[0], err);
	if (r == 0)
		return ends[0];
	fd_close(ends[0]);
	if (pid > 0 && r == -EAGAIN) { /* it ends, if it has not */
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
	}
	return r;
}

int
keeper_factory(struct keeper *keeper, struct err *err)
{
	int r = -EAGAIN;

	for (unsigned i = 0; r == -EAGAIN && i < FACTORY_STARTS_MAX; i++)
		r = factory_start(keeper, err);
	cgroup_others_close(keeper->house.cgroup);
	if (r < 0)
		return r;
	keeper->factory = r;
	return 0;
}
