/* ipcns.c: System V objects and POSIX queues of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include <sched.h>

int
wall_ipcns(struct err *err)
{
	if (unshare(CLONE_NEWIPC) < 0)
		return fail_errno(err, "wall ipcns: unshare");
	return 0;
}
