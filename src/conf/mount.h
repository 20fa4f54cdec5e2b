/* mount.h: a directory (or file) of the host's that an operator grants to a
 * room, as it is written: HOST:GUEST:ro or HOST:GUEST:cow.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_MOUNT_H
#define CONF_MOUNT_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

struct mount {
	struct span host;
	struct span guest; /* an absolute path */
	bool cow;          /* a program may write: to a copy of its own */
};

#define MOUNT_GUEST_MAX 255u /* bytes of a guest's path: more is a mistake */

/* Reads text, of which *ret_mount borrows. NULL; or why it is none, as the end
 * of a sentence. */
const char *mount_read(const char *text, struct mount *ret_mount);

/* Whether it is there on the host. 0; -errno, and err names it. */
int mount_look(const char *text, struct err *err);

/* True if the guest would see one in the other, or both at one place. */
bool mounts_clash(const struct mount *a, const struct mount *b);

#endif
