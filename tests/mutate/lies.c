/* lies.c: walls that a child says it has raised and has not: what the proof is
 * there to find. The linker puts these functions in the place of the real ones
 * (--wrap).
 * SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

#include "conf/wall.h"
#include "keeper/child.h"
#include "walls/cgroup.h"
#include "walls/walls.h"

static bool in_child;

_Noreturn void __real_child_main(const struct child_start *start);
_Noreturn void __wrap_child_main(const struct child_start *start);
int __real_cgroup_join(int procs_fd, struct err *err);
int __wrap_cgroup_join(int procs_fd, struct err *err);
int __real_wall_fds(int null_fd, const int *keep, unsigned n, struct err *err);
int __wrap_wall_fds(int null_fd, const int *keep, unsigned n, struct err *err);
int __real_wall_rlimits(uint64_t data_bytes, struct err *err);
int __wrap_wall_rlimits(uint64_t data_bytes, struct err *err);
int __real_wall_landlock(
    const int *read_dirs, unsigned n_read, int *ret_abi, struct err *err);
int __wrap_wall_landlock(
    const int *read_dirs, unsigned n_read, int *ret_abi, struct err *err);
int __real_wall_seccomp(enum seccomp_policy policy, struct err *err);
int __wrap_wall_seccomp(enum seccomp_policy policy, struct err *err);

static bool
lies(enum wall wall)
{
	return in_child && (mutation.lies & WALL_BIT(wall));
}

/* The twin is honest: it has to die. */
_Noreturn void
__wrap_child_main(const struct child_start *start)
{
	in_child = !start->twin;
	__real_child_main(start);
}

int
__wrap_cgroup_join(int procs_fd, struct err *err)
{
	return lies(WALL_CGROUP_MEMORY) ? 0 : __real_cgroup_join(procs_fd, err);
}

int
__wrap_wall_fds(int null_fd, const int *keep, unsigned n, struct err *err)
{
	return lies(WALL_FDS) ? 0 : __real_wall_fds(null_fd, keep, n, err);
}

int
__wrap_wall_rlimits(uint64_t data_bytes, struct err *err)
{
	return lies(WALL_RLIMITS) ? 0 : __real_wall_rlimits(data_bytes, err);
}

int
__wrap_wall_landlock(
    const int *read_dirs, unsigned n_read, int *ret_abi, struct err *err)
{
	if (lies(WALL_LANDLOCK))
		return 0;
	return __real_wall_landlock(read_dirs, n_read, ret_abi, err);
}

int
__wrap_wall_seccomp(enum seccomp_policy policy, struct err *err)
{
	return lies(WALL_SECCOMP) ? 0 : __real_wall_seccomp(policy, err);
}
