/* zygote.c: the process that forks children. It loads the room once, and then
 * only forks and reaps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/own.h"
#include "base/sys.h"
#include "call/channel.h"
#include "conf/limits.h"
#include "keeper/child.h"
#include "keeper/house.h"
#include "rooms/kind.h"
#include "rooms/worker_kind.h"
#include "walls/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the keeper may send us. */
#define FROM_KEEPER (1u << FRAME_FORK)

struct zygote {
	struct channel keeper;
	const struct wire_conf *conf;
	const struct room_kind *kind;
	const struct granted *granted;
	struct house *house;
	void *state;
	int signals; /* a signalfd of SIGCHLD */
	/* Which child a pid is; pids are reused only after they are reaped. */
	struct living {
		pid_t pid;
		uint32_t child;
	} living[CHILDREN_MAX];
	unsigned living_n;
};

static _Noreturn void
zygote_child(struct zygote *zygote, const struct wire_fork *record,
    const int *fds, pid_t parent)
{
	struct child_start start = {
		.kind = zygote->kind,
		.state = zygote->state,
		.conf = zygote->conf,
		.house = zygote->house,
		.socket_fd = fds[0],
		.region_fd = fds[1],
		.twin = record->twin,
	};

	zygote->house->child = (struct house_child){
		.zygote = parent,
		.procs_fd = record->grouped ? fds[2] : -1,
		.session = record->session,
	};
	child_main(&start);
}

static int
child_announce(struct zygote *zygote, uint32_t child, pid_t pid)
{
	struct wire_child record = { .child = child, .pid = pid };
	struct cargo cargo = { 0 };
	int pidfd = pid > 0 ? sys_pidfd_open(pid) : -1;

	if (pidfd < 0) /* could not be killed; it ends with its channel */
		record.pid = 0;
	if (pidfd >= 0)
		cargo.fds[cargo.fds_n++] = pidfd;
	return channel_put(
	    &zygote->keeper, FRAME_CHILD, &record, sizeof(record), &cargo);
}

static int
on_fork(struct zygote *zygote, const struct frame *frame, const int *fds,
    struct err *err)
{
	pid_t self = getpid();
	struct wire_fork record;
	pid_t pid = 0;
	int r = wire_take(frame, &record, sizeof(record), NULL, err);

	if (r < 0)
		return r;
	if (zygote->living_n < CHILDREN_MAX && frame->fds == 3 && fds[0] >= 0 &&
	    fds[1] >= 0 && fds[2] >= 0) {
		pid = fork();
		if (pid == 0)
			zygote_child(zygote, &record, fds, self);
		if (pid < 0)
			log_error("event=fork error=\"%s\"", strerror(errno));
	}
	if (pid > 0)
		zygote->living[zygote->living_n++] =
		    (struct living){ pid, record.child };
	return child_announce(zygote, record.child, pid > 0 ? pid : 0);
}

static int
on_keeper(struct zygote *zygote, struct err *err)
{
	struct frame frame;
	int fds[WIRE_FDS_MAX];
	int r = channel_read(&zygote->keeper, err);

	while (r == 0) {
		r = channel_next(&zygote->keeper, &frame, fds, err);
		if (r <= 0)
			return r;
		r = on_fork(zygote, &frame, fds, err);
		channel_pop(&zygote->keeper, &frame);
		for (unsigned i = 0; i < WIRE_FDS_MAX; i++)
			fd_close(fds[i]);
	}
	return r;
}

static uint64_t
cpu_us(const struct rusage *usage)
{
	return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) *
		   1000000u +
	       (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* Forgets pid; its child's number in *ret_child. */
static bool
living_remove(struct zygote *zygote, pid_t pid, uint32_t *ret_child)
{
	for (unsigned i = 0; i < zygote->living_n; i++) {
		if (zygote->living[i].pid != pid)
			continue;
		*ret_child = zygote->living[i].child;
		zygote->living[i] = zygote->living[--zygote->living_n];
		return true;
	}
	return false;
}

static int
reap(struct zygote *zygote)
{
	struct signalfd_siginfo info;
	struct wire_exit record = { 0 };
	struct rusage usage;
	int status;
	pid_t pid;
	int r = 0;

	(void)!read(zygote->signals, &info, sizeof(info));
	while (r == 0 && (pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		if (!living_remove(zygote, pid, &record.child))
			continue;
		record.status = status;
		record.cpu_us = cpu_us(&usage);
		r = channel_say(
		    &zygote->keeper, FRAME_EXIT, &record, sizeof(record));
	}
	return r;
}

static int
zygote_loop(struct zygote *zygote, struct err *err)
{
	int r = 0;

	while (r == 0) {
		struct pollfd ready[] = {
			{ .fd = zygote->keeper.fd, .events = POLLIN },
			{ .fd = zygote->signals, .events = POLLIN },
		};

		if (channel_waiting(&zygote->keeper))
			ready[0].events |= POLLOUT;
		if (poll(ready, 2, -1) < 0 && errno != EINTR)
			return fail_errno(err, "poll");
		if (ready[1].revents)
			r = reap(zygote);
		if (r == 0 && (ready[0].revents & POLLOUT))
			r = channel_flush(&zygote->keeper);
		if (r == 0 && (ready[0].revents & (POLLIN | POLLHUP | POLLERR)))
			r = on_keeper(zygote, err);
	}
	return r;
}

/* Dies with the nurse, and that with the keeper, from the first moment on. */
static int
zygote_parent(struct zygote *zygote, pid_t nurse, struct err *err)
{
	if (!house_has(zygote->house, WALL_PARENT))
		return 0;
	return wall_parent(
	    house_has(zygote->house, WALL_PIDNS) ? 0 : nurse, err);
}

static int
zygote_open(struct zygote *zygote, pid_t nurse, struct err *err)
{
	sigset_t child;
	int r = zygote_parent(zygote, nurse, err);

	if (r < 0)
		return r;
	(void)prctl(PR_SET_NAME, "zygote");
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &child, NULL) < 0)
		return fail_errno(err, "sigprocmask");
	zygote->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (zygote->signals < 0)
		return fail_errno(err, "signalfd");
	r = zygote->kind->warm(
	    zygote->conf, zygote->granted, &zygote->state, err);
	return r < 0 ? r : house_zygote(zygote->house, err);
}

/* What the keeper holds is not ours: above all its channel to the server,
 * whose end the server must see when the keeper dies. */
static int
zygote_descriptors(struct house *house, int channel_fd, int factory_fd)
{
	/* Above the numbers that they are to have. */
	const int above = PROXY_FACTORY_FD + 1;
	int channel = fcntl(channel_fd, F_DUPFD, above);
	int null = fcntl(house->null_fd, F_DUPFD, above);
	int artifacts = fcntl(house->artifacts_fd, F_DUPFD, above);
	int factory = factory_fd < 0 ? null : fcntl(factory_fd, F_DUPFD, above);

	if (dup2(channel, HOUSE_CHANNEL_FD) < 0 ||
	    dup2(null, HOUSE_NULL_FD) < 0 ||
	    dup2(artifacts, HOUSE_ARTIFACTS_FD) < 0 ||
	    dup2(factory, PROXY_FACTORY_FD) < 0)
		return -errno;
	if (factory_fd < 0)
		fd_close(PROXY_FACTORY_FD);
	house->null_fd = HOUSE_NULL_FD;
	house->artifacts_fd = HOUSE_ARTIFACTS_FD;
	return sys_close_range((unsigned)above, ~0u);
}

static _Noreturn void
zygote_main(const struct zygote_start *start, int channel_fd, pid_t nurse)
{
	static struct zygote zygote; /* too large for a stack */
	struct err err = { 0 };
	int r;

	/* The nurse ignores it; ignored, no child could be waited for. */
	if (signal(SIGCHLD, SIG_DFL) == SIG_ERR)
		_exit(1);
	if (zygote_descriptors(start->house, channel_fd, start->factory_fd) < 0)
		_exit(1);
	zygote.conf = start->conf;
	zygote.kind = start->kind;
	zygote.granted = start->granted;
	zygote.house = start->house;
	channel_init(&zygote.keeper, HOUSE_CHANNEL_FD, FROM_KEEPER, FRAME_MAX,
	    FRAME_MAX);
	r = zygote_open(&zygote, nurse, &err);
	if (r < 0) {
		(void)channel_say(
		    &zygote.keeper, FRAME_FAILED, &err, sizeof(err));
		_exit(1);
	}
	fd_close(HOUSE_ARTIFACTS_FD);
	r = channel_say(&zygote.keeper, FRAME_WARM, NULL, 0);
	if (r == 0)
		r = zygote_loop(&zygote, &err);
	if (r != -EPIPE)
		log_error("event=zygote_end error=\"%s\"", err.text);
	_exit(r == -EPIPE ? 0 : 1);
}

pid_t
zygote_start(const struct zygote_start *start, int channel_fd, struct err *err)
{
	pid_t self = getpid();
	pid_t pid;

	if (house_has(start->house, WALL_PIDNS)) {
		pid = wall_pidns_fork(err);
	} else {
		pid = fork();
		if (pid < 0)
			pid = fail_errno(err, "fork the zygote");
	}
	if (pid == 0)
		zygote_main(start, channel_fd, self);
	return pid;
}
