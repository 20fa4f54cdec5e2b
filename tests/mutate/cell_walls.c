/* cell_walls.c: walls that the first process of a jail's room says it has
 * raised, and has not. Linked into the shared object of cell/cell.h in the place
 * of the real functions (--wrap); which, the environment says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms.h"

#include "walls/walls.h"

#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/types.h>

int __real_unshare(int flags);
int __wrap_unshare(int flags);
int __real_wall_caps(uint64_t keep, struct err *err);
int __wrap_wall_caps(uint64_t keep, struct err *err);
int __real_wall_seccomp(enum seccomp_policy policy, struct err *err);
int __wrap_wall_seccomp(enum seccomp_policy policy, struct err *err);
int __real_mount(const char *source, const char *target, const char *type,
    unsigned long flags, const void *data);
int __wrap_mount(const char *source, const char *target, const char *type,
    unsigned long flags, const void *data);
int __real_stat64(const char *path, struct stat *st);
int __wrap_stat64(const char *path, struct stat *st);

bool
worker_has(const char *name)
{
	const char *list = getenv("MUTATE_WALLS");

	return list && worker_named(list, name);
}

bool
worker_off_here(const char *name)
{
	return worker_has(name);
}

int
__wrap_unshare(int flags)
{
	if (worker_has("mountns"))
		flags &= ~CLONE_NEWNS;
	if (worker_has("pidns"))
		flags &= ~CLONE_NEWPID;
	if (worker_has("clocks"))
		flags &= ~CLONE_NEWTIME;
	return flags == 0 ? 0 : __real_unshare(flags);
}

int
__wrap_wall_caps(uint64_t keep, struct err *err)
{
	return worker_has("caps") ? 0 : __real_wall_caps(keep, err);
}

int
__wrap_wall_seccomp(enum seccomp_policy policy, struct err *err)
{
	const char *name =
	    policy == SECCOMP_NATIVE_ALONE ? "seccomp-alone" : "seccomp";

	return worker_has(name) ? 0 : __real_wall_seccomp(policy, err);
}

/* Over /proc: nothing. Of a file system in memory: as much as there is. */
int
__wrap_mount(const char *source, const char *target, const char *type,
    unsigned long flags, const void *data)
{
	if (worker_has("proc") && strcmp(target, "/proc") == 0)
		return 0;
	if (worker_has("scratch") && type && strcmp(type, "tmpfs") == 0)
		data = NULL;
	return __real_mount(source, target, type, flags, data);
}

/* Without the proof, no namespace is what it was before. */
int
__wrap_stat64(const char *path, struct stat *st)
{
	static unsigned times;
	int r = __real_stat64(path, st);

	if (worker_has("proof") && strncmp(path, "/proc/self/ns/", 14) == 0)
		st->st_ino = ++times;
	return r;
}
