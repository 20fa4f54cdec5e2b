/* no_new_privs.c: no privilege is gained by executing a file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include <sys/prctl.h>

int
wall_no_new_privs(struct err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return fail_errno(
		    err, "wall no_new_privs: PR_SET_NO_NEW_PRIVS");
	return 0;
}
