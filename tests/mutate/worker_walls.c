/* worker_walls.c: walls that the factory of native workers and the first process
 * of a jail's room have in common, left away where worker_off_here() says so:
 * linked into both in the place of the real ones (--wrap).
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms.h"

#include "walls/walls.h"

int __real_wall_userns(const struct wall_ids *ids, struct err *err);
int __wrap_wall_userns(const struct wall_ids *ids, struct err *err);
int __real_wall_netns(struct err *err);
int __wrap_wall_netns(struct err *err);
int __real_wall_ipcns(struct err *err);
int __wrap_wall_ipcns(struct err *err);
int __real_wall_utsns(struct err *err);
int __wrap_wall_utsns(struct err *err);
int __real_wall_cgroupns(struct err *err);
int __wrap_wall_cgroupns(struct err *err);
int __real_wall_no_new_privs(struct err *err);
int __wrap_wall_no_new_privs(struct err *err);
int __real_wall_landlock_native(struct err *err);
int __wrap_wall_landlock_native(struct err *err);
int __real_wall_rlimits_native(
    uint64_t data_bytes, uint32_t processes, struct err *err);
int __wrap_wall_rlimits_native(
    uint64_t data_bytes, uint32_t processes, struct err *err);

int
__wrap_wall_userns(const struct wall_ids *ids, struct err *err)
{
	return worker_off_here("userns") ? 0 : __real_wall_userns(ids, err);
}

int
__wrap_wall_netns(struct err *err)
{
	return worker_off_here("netns") ? 0 : __real_wall_netns(err);
}

int
__wrap_wall_ipcns(struct err *err)
{
	return worker_off_here("ipcns") ? 0 : __real_wall_ipcns(err);
}

int
__wrap_wall_utsns(struct err *err)
{
	return worker_off_here("utsns") ? 0 : __real_wall_utsns(err);
}

int
__wrap_wall_cgroupns(struct err *err)
{
	return worker_off_here("cgroupns") ? 0 : __real_wall_cgroupns(err);
}

int
__wrap_wall_no_new_privs(struct err *err)
{
	return worker_off_here("no_new_privs") ? 0
					       : __real_wall_no_new_privs(err);
}

int
__wrap_wall_landlock_native(struct err *err)
{
	return worker_off_here("landlock") ? 0
					   : __real_wall_landlock_native(err);
}

int
__wrap_wall_rlimits_native(
    uint64_t data_bytes, uint32_t processes, struct err *err)
{
	return worker_off_here("rlimits")
		   ? 0
		   : __real_wall_rlimits_native(data_bytes, processes, err);
}
