/* launcher_impl.h: what the launcher's two sides share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOM_LAUNCHER_IMPL_H
#define ROOM_LAUNCHER_IMPL_H

#include <sys/socket.h>
#include <sys/types.h>

#define LAUNCH_FDS 2 /* of an answer: the keeper's channel and its pidfd */

union launch_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * LAUNCH_FDS)];
};

struct launch {
	int server; /* requests in, answers out */
	int keeper; /* the keeper's program */
	int signals;
};

/* The launcher's process: a child of the server. */
_Noreturn void launcher_main(struct launch *launch, pid_t server);

#endif
