/* mdwe.c: memory that is never executable, but what was mapped so.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include <errno.h>
#include <sys/prctl.h>

/* Since Linux 6.3; unknown to the headers of Debian 12. */
#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1ul
#endif

int
wall_mdwe(struct err *err)
{
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) == 0)
		return 0;
	if (errno == EINVAL)
		return fail(err, EINVAL,
		    "wall mdwe: PR_SET_MDWE: unknown to this kernel");
	return fail_errno(err, "wall mdwe: PR_SET_MDWE");
}
