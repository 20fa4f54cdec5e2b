/* rooms_walls.c: walls that the factory of a native room's workers says it has
 * raised, and has not. The linker puts these functions in the place of the real
 * ones (--wrap); in the keeper's other processes they are the real ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms.h"

#include "keeper/house.h"
#include "walls/jail_root.h"
#include "walls/walls.h"

#include <linux/capability.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENV_MAX 32u

pid_t __real_wall_pidns_fork(struct err *err);
pid_t __wrap_wall_pidns_fork(struct err *err);
int __real_wall_ids(uid_t id, uint64_t keep, struct err *err);
int __wrap_wall_ids(uid_t id, uint64_t keep, struct err *err);
int __real_wall_caps(uint64_t keep, struct err *err);
int __wrap_wall_caps(uint64_t keep, struct err *err);
int __real_wall_parent(pid_t parent, struct err *err);
int __wrap_wall_parent(pid_t parent, struct err *err);
int __real_wall_seccomp(enum seccomp_policy policy, struct err *err);
int __wrap_wall_seccomp(enum seccomp_policy policy, struct err *err);
int __real_wall_jail_root(const struct jail_root *jail, struct err *err);
int __wrap_wall_jail_root(const struct jail_root *jail, struct err *err);
int __real_mount_setattr(int dir, const char *path, unsigned flags,
    struct mount_attr *attr, size_t n);
int __wrap_mount_setattr(int dir, const char *path, unsigned flags,
    struct mount_attr *attr, size_t n);
int __real_execve(const char *path, char *const argv[], char *const env[]);
int __wrap_execve(const char *path, char *const argv[], char *const env[]);
int __real_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __real_house_proof_worker(
    const struct house *house, int pidfd, int slot, struct err *err);
int __wrap_house_proof_worker(
    const struct house *house, int pidfd, int slot, struct err *err);

const char *worker_off = "", *worker_seen = "/var";

bool
worker_has(const char *name)
{
	return worker_named(worker_off, name);
}

/* This is the factory, or a fork of it that has not executed anything yet. */
bool
worker_off_here(const char *name)
{
	char own[16] = "";

	return worker_has(name) && prctl(PR_GET_NAME, own) == 0 &&
	       strcmp(own, "factory") == 0;
}

pid_t
__wrap_wall_pidns_fork(struct err *err)
{
	return worker_off_here("pidns") ? fork() : __real_wall_pidns_fork(err);
}

int
__wrap_wall_ids(uid_t id, uint64_t keep, struct err *err)
{
	if (worker_off_here("ids"))
		return 0;
	/* What is kept here wall_caps gives up. */
	return __real_wall_ids(
	    id, worker_off_here("factory-caps") ? ~(uint64_t)0 : keep, err);
}

/* So that it holds them as well after it has executed something. */
static int
caps_pass_on(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
		0 };
	struct __user_cap_data_struct caps[2];

	if (syscall(SYS_capget, &head, caps) < 0)
		return -1;
	caps[0].inheritable = caps[0].permitted;
	caps[1].inheritable = caps[1].permitted;
	if (syscall(SYS_capset, &head, caps) < 0)
		return -1;
	for (unsigned cap = 0; cap < 64; cap++)
		(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0);
	return 0;
}

int
__wrap_wall_caps(uint64_t keep, struct err *err)
{
	if (worker_off_here("factory-caps"))
		return caps_pass_on();
	return worker_off_here("caps") ? 0 : __real_wall_caps(keep, err);
}

int
__wrap_wall_parent(pid_t parent, struct err *err)
{
	return worker_off_here("parent") ? 0 : __real_wall_parent(parent, err);
}

int
__wrap_wall_seccomp(enum seccomp_policy policy, struct err *err)
{
	return worker_off_here("seccomp") ? 0
					  : __real_wall_seccomp(policy, err);
}

/* Only the end of its child is seen, which comes first. Others wait as they do,
 * and are not asked who they are: a proxy's filter would end it. */
int
__wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	bool of_an_end = n == 2 && fds[1].events == 0;

	return __real_poll(
	    fds, of_an_end && worker_off_here("life") ? 1 : n, timeout_ms);
}

/* ---- the file system ---- */

int
__wrap_wall_jail_root(const struct jail_root *jail, struct err *err)
{
	struct jail_root wide = *jail;

	if (worker_off_here("root") && wide.extra_n < JAIL_EXTRA_MAX)
		wide.extra[wide.extra_n++] = worker_seen;
	return __real_wall_jail_root(&wide, err);
}

int
__wrap_mount_setattr(int dir, const char *path, unsigned flags,
    struct mount_attr *attr, size_t n)
{
	struct mount_attr less = *attr;

	if (worker_off_here("read-only"))
		less.attr_set &= ~(uint64_t)MOUNT_ATTR_RDONLY;
	if (worker_off_here("nosuid"))
		less.attr_set &= ~(uint64_t)MOUNT_ATTR_NOSUID;
	return __real_mount_setattr(dir, path, flags, &less, n);
}

/* ---- what a worker is told ---- */

int
__wrap_execve(const char *path, char *const argv[], char *const env[])
{
	static char word[512];
	char *more[ENV_MAX + 2];
	size_t n = 0;

	argv = rooms_deno_argv(path, argv);
	if (!*worker_off)
		return __real_execve(path, argv, env);
	while (env[n] && n < ENV_MAX) {
		more[n] = env[n];
		n++;
	}
	(void)snprintf(word, sizeof(word), "MUTATE_WALLS=%s", worker_off);
	more[n] = word;
	more[n + 1] = NULL;
	return __real_execve(path, argv, more);
}

int
__wrap_house_proof_worker(
    const struct house *house, int pidfd, int slot, struct err *err)
{
	return worker_has("proof")
		   ? 0
		   : __real_house_proof_worker(house, pidfd, slot, err);
}
