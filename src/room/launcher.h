/* launcher.h: the process that starts keepers. It is forked before the server
 * reads a client's byte, and keeps what it takes to start a keeper that builds
 * walls; the server itself never forks or executes anything.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOM_LAUNCHER_H
#define ROOM_LAUNCHER_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct launcher;

/* Forks the launcher; call before any thread, loop or client's byte. The
 * launcher ends with the caller. workers: and another one for keepers whose
 * rooms have workers: native programs, and what starts them, are not to have a
 * launcher's filter, and an engine of containers looks into the environment. 0
 * or -errno. */
int launcher_start(
    bool workers, struct launcher **ret_launcher, struct err *err);

/* The one of them that starts such keepers, or others. */
struct launcher *launcher_for(struct launcher *launcher, bool workers);

/* A keeper: its channel, its pidfd (both the owner's), its number. */
struct launched {
	int channel, pidfd;
	pid_t pid;
};

/* Starts a keeper. 0; -EPIPE: the launcher is gone, there will be no other
 * keeper; -errno: it could not start one now. */
int launcher_spawn(
    struct launcher *launcher, struct launched *ret_launched, struct err *err);

/* Kills the keeper with this number, which the server itself may have no right
 * to do; nothing if it is gone. */
void launcher_kill(struct launcher *launcher, pid_t pid);

/* Ends the launcher and waits for it; keepers it started die with it. */
void launcher_stop(struct launcher *launcher);

#endif
