/* walls.h: the server's own walls.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_WALLS_H
#define SERVER_WALLS_H

#include "base/err.h"
#include "conf/conf.h"

/* From now on this process opens no file, makes no socket, executes nothing
 * and is no privileged user: call it when all is open, and before a byte of a
 * client's or a child's is read. 0; -errno with what to do in err. */
int server_raise_walls(const struct conf *conf, struct err *err);

#endif
