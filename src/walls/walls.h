/* walls.h: what a process gives up, one function a wall. Each returns 0, or
 * -errno with the wall's name in err: a wall that cannot be raised is never
 * passed over.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WALLS_WALLS_H
#define WALLS_WALLS_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* Dies with its parent, which must still be parent. */
int wall_parent(pid_t parent, struct err *err);

/* No privilege is ever gained again by executing a file. */
int wall_privileges(struct err *err);

/* Nothing stays open but the n kept descriptors, in ascending order; the
 * standard three lead to /dev/null. */
int wall_fds(const int *keep, unsigned n, struct err *err);

/* Resource limits of a child: no core file, no file, no new process, and a
 * processor-time limit behind the wall-time limit (0: none). */
int wall_rlimits(uint32_t cpu_seconds, struct err *err);

#endif
