/* promise.h: what the processes that are no room's give up: the server before
 * it reads a client's byte, the launcher before it takes a request, the
 * watcher before it reads a file, the saver before it writes one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WALLS_PROMISE_H
#define WALLS_PROMISE_H

#include "base/err.h"
#include "conf/wall.h"
#include "walls/walls.h"

/* The server becomes an unprivileged user if it may, has no capability, opens
 * no file, executes nothing and makes no socket from now on. Walls that this
 * machine lacks are in *ret_missing: Landlock is used if able, all others must
 * be there or in allowed. 0; -errno with the wall's name. */
int promise_server(const struct wall_ids *ids, wall_set allowed,
    wall_set *ret_missing, struct err *err);

/* The launcher keeps what it takes to start a keeper that builds walls, and
 * ends with its server. What is missing is in *ret_missing: the keeper, which
 * needs the same, reports why. */
void promise_launcher(wall_set *ret_missing);

/* The watcher reads below the directories (descriptors) of its files with the
 * rights of whoever started it, and does nothing else. What is missing is in
 * *ret_missing. */
void promise_watcher(const int *dirs, unsigned n, wall_set *ret_missing);

/* The saver makes files and directories below dir (a descriptor), and does
 * nothing else. What is missing is in *ret_missing. */
void promise_saver(int dir, wall_set *ret_missing);

#endif
