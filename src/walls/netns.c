/* netns.c: a network of its own, with no interface but a loopback that is
 * down. Abstract sockets of the host are out of reach with it; AF_VSOCK is
 * not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include <sched.h>

int
wall_netns(struct err *err)
{
	if (unshare(CLONE_NEWNET) < 0)
		return fail_errno(err, "wall netns: unshare");
	return 0;
}
