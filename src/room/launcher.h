/* launcher.h: the process that starts keepers. It is forked before the server
 * reads a client's byte and holds none of the server's privileges later; the
 * server itself never forks or executes anything.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOM_LAUNCHER_H
#define ROOM_LAUNCHER_H

#include "base/err.h"

struct launcher;

/* Forks the launcher; call before any thread, loop or client's byte. The
 * launcher dies with the caller. 0 or -errno. */
int launcher_start(struct launcher **ret_launcher, struct err *err);

/* Starts a keeper. Its channel and its pidfd come back, the caller's. 0;
 * -EPIPE: the launcher is gone, there will be no other keeper; -errno: it
 * could not start one now. */
int launcher_spawn(struct launcher *launcher, int *ret_channel, int *ret_pidfd,
    struct err *err);

/* Ends the launcher and waits for it; keepers it started die with it. */
void launcher_stop(struct launcher *launcher);

#endif
