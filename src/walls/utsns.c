/* utsns.c: a host name of its own, which tells nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#define HOST_NAME "room"

int
wall_utsns(struct err *err)
{
	if (unshare(CLONE_NEWUTS) < 0)
		return fail_errno(err, "wall utsns: unshare");
	if (sethostname(HOST_NAME, strlen(HOST_NAME)) < 0)
		return fail_errno(err, "wall utsns: sethostname");
	if (setdomainname("", 0) < 0)
		return fail_errno(err, "wall utsns: setdomainname");
	return 0;
}
