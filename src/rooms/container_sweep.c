/* container_sweep.c: the end of containers that nobody minds any more.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/container_impl.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SWEEP_AT_ONCE 64u /* names in one command */
#define STAT_MAX      1024u
#define START_FIELD   19 /* in /proc/PID/stat, of those behind the name's end */

/* The start of a process, in ticks; 0: there is none. */
static uint64_t
process_start(pid_t pid)
{
	char path[32], text[STAT_MAX];
	own_fd int fd = -1;
	const char *at;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	/* A process that only waits to be reaped has ended. */
	if (!at || strncmp(at, ") Z", 3) == 0)
		return 0;
	for (unsigned i = 0; at && i <= START_FIELD; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

int
container_owner(pid_t pid, struct container_owner *ret_owner)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0)
		return -errno;
	*ret_owner =
	    (struct container_owner){ pid, process_start(pid), st.st_ino };
	return ret_owner->start ? 0 : -ESRCH;
}

/* Numbers of another namespace mean nothing here: such are left alone. */
static bool
is_orphan(const struct container_owner *owner)
{
	struct container_owner self = { 0 };

	return container_owner(getpid(), &self) == 0 &&
	       owner->namespace == self.namespace &&
	       process_start(owner->pid) != owner->start;
}

/* All of them by one command: each has its own start to wait for, and an engine
 * that can removes them beside each other. */
static void
remove_all(struct args *names, const struct container_plan *plan, int null_fd)
{
	struct err err;

	if (names->n == 0)
		return;
	if (container_remove(plan, names, null_fd, &err) < 0)
		log_warn("event=container_sweep containers=%u error=\"%s\"",
		    names->n, err.text);
	else
		log_info("event=container_sweep containers=%u", names->n);
	args_init(names);
}

int
container_sweep(
    const struct container_plan *plan, bool own, int null_fd, struct err *err)
{
	own_buf struct buf said;
	struct args args, names;
	int r;

	plan_list(plan, &args);
	r = command_ask(&args, null_fd, &said, err);
	if (r < 0)
		return r;
	args_init(&names);
	for (const char *line = (const char *)said.p; *line;) {
		size_t n = strcspn(line, "\n");
		char name[CONTAINER_NAME_MAX], text[48];
		struct container_owner owner;
		own_mem char *copy = strndup(line, n);

		line += n + (line[n] == '\n');
		if (!copy || !owner_read(copy, name, &owner))
			continue;
		owner_write(&owner, text);
		if (own ? strcmp(text, plan->owner) == 0 : is_orphan(&owner))
			args_add(&names, "%s", name);
		if (names.n == SWEEP_AT_ONCE)
			remove_all(&names, plan, null_fd);
	}
	remove_all(&names, plan, null_fd);
	if (!own && plan->type == ENGINE_PODMAN)
		container_sweep_forgotten(plan, null_fd);
	return 0;
}

/* What is being started as its owner dies comes up a little later. */
static _Noreturn void
sweeper_main(const struct container_plan *plan, int life, int null_fd)
{
	char part[CONTAINER_NAME_MAX];
	struct err err;

	(void)snprintf(part, sizeof(part), "breakroom-%.16s-", plan->instance);
	(void)prctl(PR_SET_NAME, "sweeper");
	(void)fd_close_others((const int[]){ life, null_fd }, 2);
	(void)fd_wait(life, -1);
	for (unsigned i = 0;
	     i < 2 || (i < SWEEPS_MAX && container_is_named(part)); i++) {
		(void)poll(NULL, 0, CONTAINER_GRACE_MS / 2);
		(void)container_sweep(plan, true, null_fd, &err);
	}
	if (plan->type == ENGINE_PODMAN)
		container_remove_forgotten(part, false, null_fd);
	_exit(0);
}

int
container_sweeper(
    const struct container_plan *plan, int null_fd, struct err *err)
{
	int ends[2];
	pid_t pid;
	int r = fd_pair(ends);

	if (r < 0)
		return fail(err, -r, "socketpair: %s", strerror(-r));
	pid = fork();
	if (pid == 0) {
		fd_close(ends[1]);
		sweeper_main(plan, ends[0], null_fd);
	}
	fd_close(ends[0]);
	if (pid < 0)
		r = fail_errno(err, "fork the sweeper");
	if (r < 0)
		fd_close(ends[1]);
	/* The other end stays open for as long as this process lives. */
	return r;
}
