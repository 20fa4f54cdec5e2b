/* lies.c: walls that are said to be raised and are not: what the proof and the
 * twin are there to find. The linker puts these functions in the place of the
 * real ones (--wrap). The trial is honest: it is over before the keeper moves
 * in.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

#include "conf/wall.h"
#include "keeper/child.h"
#include "keeper/house.h"
#include "walls/cgroup.h"
#include "walls/walls.h"

#include <unistd.h>

static bool in_keeper; /* or in what it has forked since */
static bool in_zygote; /* it raises its walls */
static bool in_child;

int __real_house_enter(
    struct house *house, struct wire_conf *conf, struct err *err);
int __wrap_house_enter(
    struct house *house, struct wire_conf *conf, struct err *err);
int __real_house_zygote(struct house *house, struct err *err);
int __wrap_house_zygote(struct house *house, struct err *err);
void __real_house_forbidden(void);
void __wrap_house_forbidden(void);
int __real_wall_netns(struct err *err);
int __wrap_wall_netns(struct err *err);
pid_t __real_wall_pidns_fork(struct err *err);
pid_t __wrap_wall_pidns_fork(struct err *err);
int __real_wall_ids(uid_t id, uint64_t keep, struct err *err);
int __wrap_wall_ids(uid_t id, uint64_t keep, struct err *err);
int __real_wall_caps(uint64_t keep, struct err *err);
int __wrap_wall_caps(uint64_t keep, struct err *err);
int __real_wall_no_new_privs(struct err *err);
int __wrap_wall_no_new_privs(struct err *err);
_Noreturn void __real_child_main(const struct child_start *start);
_Noreturn void __wrap_child_main(const struct child_start *start);
int __real_cgroup_join(int procs_fd, struct err *err);
int __wrap_cgroup_join(int procs_fd, struct err *err);
int __real_wall_fds(int null_fd, const int *keep, unsigned n, struct err *err);
int __wrap_wall_fds(int null_fd, const int *keep, unsigned n, struct err *err);
int __real_wall_rlimits(
    uint64_t data_bytes, uint32_t fds, uint32_t processes, struct err *err);
int __wrap_wall_rlimits(
    uint64_t data_bytes, uint32_t fds, uint32_t processes, struct err *err);
int __real_wall_landlock(
    const int *read_dirs, unsigned n_read, int *ret_abi, struct err *err);
int __wrap_wall_landlock(
    const int *read_dirs, unsigned n_read, int *ret_abi, struct err *err);
int __real_wall_seccomp(enum seccomp_policy policy, struct err *err);
int __wrap_wall_seccomp(enum seccomp_policy policy, struct err *err);

static bool
lies(bool here, enum wall wall)
{
	return here && (mutation.lies & WALL_BIT(wall));
}

int
__wrap_house_enter(struct house *house, struct wire_conf *conf, struct err *err)
{
	in_keeper = true;
	return __real_house_enter(house, conf, err);
}

int
__wrap_house_zygote(struct house *house, struct err *err)
{
	int r;

	in_zygote = true;
	r = __real_house_zygote(house, err);
	in_zygote = false;
	return r;
}

/* A twin's alone: the trial's is called within its own file. */
void
__wrap_house_forbidden(void)
{
	if (!mutation.twin_lives)
		__real_house_forbidden();
}

int
__wrap_wall_netns(struct err *err)
{
	return lies(in_keeper, WALL_NETNS) ? 0 : __real_wall_netns(err);
}

pid_t
__wrap_wall_pidns_fork(struct err *err)
{
	return lies(in_keeper, WALL_PIDNS) ? fork()
					   : __real_wall_pidns_fork(err);
}

int
__wrap_wall_ids(uid_t id, uint64_t keep, struct err *err)
{
	return lies(in_zygote, WALL_IDS) ? 0 : __real_wall_ids(id, keep, err);
}

int
__wrap_wall_caps(uint64_t keep, struct err *err)
{
	return lies(in_zygote, WALL_CAPS) ? 0 : __real_wall_caps(keep, err);
}

int
__wrap_wall_no_new_privs(struct err *err)
{
	return lies(in_keeper, WALL_NO_NEW_PRIVS)
		   ? 0
		   : __real_wall_no_new_privs(err);
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
	return lies(in_child, WALL_CGROUP_MEMORY)
		   ? 0
		   : __real_cgroup_join(procs_fd, err);
}

int
__wrap_wall_fds(int null_fd, const int *keep, unsigned n, struct err *err)
{
	return lies(in_child, WALL_FDS)
		   ? 0
		   : __real_wall_fds(null_fd, keep, n, err);
}

int
__wrap_wall_rlimits(
    uint64_t data_bytes, uint32_t fds, uint32_t processes, struct err *err)
{
	return lies(in_child, WALL_RLIMITS)
		   ? 0
		   : __real_wall_rlimits(data_bytes, fds, processes, err);
}

int
__wrap_wall_landlock(
    const int *read_dirs, unsigned n_read, int *ret_abi, struct err *err)
{
	if (lies(in_child, WALL_LANDLOCK))
		return 0;
	return __real_wall_landlock(read_dirs, n_read, ret_abi, err);
}

int
__wrap_wall_seccomp(enum seccomp_policy policy, struct err *err)
{
	return lies(in_child, WALL_SECCOMP) ? 0
					    : __real_wall_seccomp(policy, err);
}
