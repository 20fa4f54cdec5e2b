/* mounts.h: reading what an operator granted. The keeper does it before its
 * walls stand, as the user who started the server, and once: what changes later
 * in those directories is not seen by the room. Small files are copied into
 * memory that all calls share; large ones are mapped, so that a room need not
 * hold them: who shortens such a file on the host ends the calls that read it.
 *
 * A symbolic link is never followed: it is a link in the room, too, and leads
 * where the room's own files say. Devices, sockets and pipes are left out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_MOUNTS_H
#define KEEPER_MOUNTS_H

#include "base/err.h"
#include "rooms/granted.h"

/* Reads all that the texts (conf/mount.h; each ended by NUL) name. 0; -errno:
 * something cannot be read, or is more than there may be; err names it. */
int mounts_read(
    struct span texts, struct granted *ret_granted, struct err *err);

/* Frees and unmaps all of it. */
void mounts_done(struct granted *granted);

#endif
