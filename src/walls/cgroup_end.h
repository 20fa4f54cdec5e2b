/* cgroup_end.h: the end of the processes of a group, and of the group.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WALLS_CGROUP_END_H
#define WALLS_CGROUP_END_H

/* Sends SIGKILL to each process in the file procs ("cgroup.procs" or below) of
 * the directory. 0: there is none; 1: there were some, which may take a
 * moment; -errno: it cannot be known. */
int cgroup_end(int dir, const char *procs);

/* Kills what is in the room's group, waits for its end (bounded), and removes
 * it. 0, also if there is none; -errno. */
int cgroup_room_end(int base, const char *name);

/* Ends the rooms in the group base whose keepers are dead. */
void cgroup_sweep(int base);

#endif
