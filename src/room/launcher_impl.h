/* launcher_impl.h: what the launcher's two sides share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOM_LAUNCHER_IMPL_H
#define ROOM_LAUNCHER_IMPL_H

#include "conf/limits.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LAUNCH_FDS 2 /* of an answer: the keeper's channel and its pidfd */

enum launch_what {
	LAUNCH_KEEPER, /* start one; pid is 0 */
	LAUNCH_KILL,   /* kill the keeper pid, which this server may not */
};

struct launch_request {
	int32_t what; /* enum launch_what */
	int32_t pid;
};

/* To LAUNCH_KEEPER alone. */
struct launch_answer {
	int32_t code; /* 0, and descriptors come with it; or an errno */
	int32_t pid;
};

struct launch {
	int server; /* requests in, answers out */
	int keeper; /* the keeper's program */
	int signals;
	bool wide; /* it keeps what rights it has: see launcher_start */
	/* The keepers that live, for those are killed and no other process. */
	pid_t keepers[KEEPERS_MAX];
	unsigned keepers_n;
	/* Those that have ended, whose control groups are still there; how long
	 * to wait before these are tried again, and how long that was done. */
	pid_t ended[KEEPERS_MAX];
	unsigned ended_n;
	unsigned again_ms, waited_ms;
};

/* The launcher's process: a child of the server. */
_Noreturn void launcher_main(struct launch *launch);

#endif
