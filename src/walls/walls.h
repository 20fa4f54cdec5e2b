/* walls.h: what a process gives up, one function and one file a wall. Each
 * returns 0, or -errno with the wall's name in err: a wall that cannot be
 * raised is never passed over here. Who raises which, and in what order, is
 * said by keeper/house.c (keeper, zygote, child) and walls/promise.c (server
 * and launcher).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WALLS_WALLS_H
#define WALLS_WALLS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- who a process is ---- */

#define CAP_BIT(cap) ((uint64_t)1 << (cap))

/* The numbers that the processes of a root-started server become; see
 * limits.h. many is false where this process may not become another user:
 * then all of them stay what they are. */
struct wall_ids {
	bool many;
	uid_t server, keeper, child; /* group ids are the same numbers */
};

/* Finds out by trying, in a throw-away process. */
struct wall_ids wall_ids_find(void);

/* Becomes id, user and group, without supplementary groups, in all of real,
 * effective, saved and file system ids; capabilities in keep (of CAP_BIT)
 * survive in the permitted and effective sets. The death signal of the parent
 * is cleared by it: raise wall_parent after it. */
int wall_ids(uid_t id, uint64_t keep, struct err *err);

/* Gives up every capability but those of keep that it has, in the permitted
 * and effective sets, and all inheritable and ambient ones. The bounding set is
 * emptied of the others too where CAP_SETPCAP is held. */
int wall_caps(uint64_t keep, struct err *err);

/* The permitted set; empty if the kernel does not say. */
uint64_t wall_caps_held(void);

/* No privilege is ever gained again by executing a file. */
int wall_no_new_privs(struct err *err);

/* ---- namespaces: each moves the calling process ---- */

/* A user namespace in which this process has every capability. ids->many: the
 * numbers keeper and child are mapped to themselves, by a helper that stays
 * outside for that long, and it becomes keeper; else this process's own user
 * appears as ids->keeper. Needs one task. */
int wall_userns(const struct wall_ids *ids, struct err *err);

int wall_netns(struct err *err);
int wall_ipcns(struct err *err);
int wall_utsns(struct err *err); /* the host name becomes "room" */
int wall_cgroupns(struct err *err);

/* A file system of its own: an empty, read-only root with the directory of
 * artifacts_fd (O_PATH) as WALL_ROOT_ARTIFACTS, read-only, the host's /proc,
 * and an empty directory WALL_ROOT_EMPTY. Nothing else of the host is left;
 * checked by reading mountinfo. */
int wall_mountns(int artifacts_fd, struct err *err);
#define WALL_ROOT_ARTIFACTS "/room"
#define WALL_ROOT_EMPTY     "/empty"

/* The second half of it, for a process that opens no file any more: its root
 * is the empty directory from now on. Needs CAP_SYS_CHROOT. */
int wall_mountns_leave(struct err *err);

/* Forks; the child is the first process of a new process-number namespace:
 * when it dies, the kernel kills all others in it. As fork(2), or -errno. */
pid_t wall_pidns_fork(struct err *err);

/* ---- the rest ---- */

/* Dies with its parent, which must still be parent; 0: a parent outside this
 * process's namespace, whose death before the call the caller sees by the end
 * of its channel. */
int wall_parent(pid_t parent, struct err *err);

/* Nothing stays open but the n kept descriptors, in ascending order; the
 * standard three become copies of null_fd (/dev/null, opened earlier: a
 * process behind walls cannot open it). */
int wall_fds(int null_fd, const int *keep, unsigned n, struct err *err);

/* Resource limits of a child: data_bytes of private writable memory, no more
 * than fds descriptors, no core file and no pipe of it, no file, no queue, no
 * locked memory, no priority; it may fork while its user has fewer processes
 * than that. */
int wall_rlimits(
    uint64_t data_bytes, uint32_t fds, uint32_t processes, struct err *err);

/* The same for a native program, which has files, threads and perhaps
 * processes: so many of either, all its user's in its user namespace. data_bytes
 * 0: no limit. */
int wall_rlimits_native(
    uint64_t data_bytes, uint32_t processes, struct err *err);

/* No mapping becomes executable that was not mapped so. */
int wall_mdwe(struct err *err);

/* Every right that this kernel's Landlock knows is denied (files, TCP, abstract
 * sockets and signals to processes outside) but reading below the n_read
 * directories (descriptors). *ret_abi (NULL: not asked): its version. */
int wall_landlock(
    const int *read_dirs, unsigned n_read, int *ret_abi, struct err *err);

/* The same, but for regular files and directories below dir, which may be made,
 * written, renamed and removed. */
int wall_landlock_make(int dir, struct err *err);

/* For a native program: all below / can be read and executed, /workspace and
 * /tmp can be written; nothing else. */
int wall_landlock_native(struct err *err);

/* The same where the host's file system is not hidden: below dir alone it can be
 * written. */
int wall_landlock_scratch(const char *dir, struct err *err);

/* The filter of walls/policy/NAME.policy. no_new_privs must be raised. */
enum seccomp_policy {
	SECCOMP_LAUNCHER,
	SECCOMP_KEEPER,
	SECCOMP_ZYGOTE,
	SECCOMP_CHILD,
	SECCOMP_SESSION,
	SECCOMP_SERVER,
	SECCOMP_WATCHER,
	SECCOMP_SAVER,
	SECCOMP_PROXY_ZYGOTE,
	SECCOMP_PROXY,
	SECCOMP_NATIVE,
	SECCOMP_NATIVE_ALONE,
	SECCOMP_DENO,
	SECCOMP_POLICIES
};
int wall_seccomp(enum seccomp_policy policy, struct err *err);

#endif
