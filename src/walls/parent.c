/* parent.c: a process that dies with its parent.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

int
wall_parent(pid_t parent, struct err *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return fail_errno(err, "wall parent: PR_SET_PDEATHSIG");
	/* It may have died before the call, and would not be noticed. Of a
	 * parent outside this namespace getppid knows nothing but 0. */
	if (parent != 0 && getppid() != parent)
		return fail(
		    err, ESRCH, "wall parent: process %d is gone", (int)parent);
	return 0;
}
