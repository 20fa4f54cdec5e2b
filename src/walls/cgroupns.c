/* cgroupns.c: names of control groups that begin at the process's own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include <sched.h>

int
wall_cgroupns(struct err *err)
{
	if (unshare(CLONE_NEWCGROUP) < 0)
		return fail_errno(err, "wall cgroupns: unshare");
	return 0;
}
