/* privileges.c: no_new_privs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include <sys/prctl.h>

int
wall_privileges(struct err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return fail_errno(err, "wall privileges: no_new_privs");
	return 0;
}
