/* install_rooms.h: "breakroom-keeper install --room NAME" for rooms that are
 * made by a program in Python, which fetches by this machine's own tools.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_INSTALL_ROOMS_H
#define KEEPER_INSTALL_ROOMS_H

#include "base/err.h"
#include "conf/conf.h"

/* Becomes the program that makes conf->room in the place of installations,
 * below rooms/. Returns only when it cannot: -errno. */
int install_room(const struct conf *conf, struct err *err);

#endif
