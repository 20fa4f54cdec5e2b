/* jail_root.h: the file system of native rooms: a root in memory with
 * read-only mounts of what a Python needs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WALLS_JAIL_ROOT_H
#define WALLS_JAIL_ROOT_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

#define JAIL_EXTRA_MAX 3u

struct jail_root {
	int base_fd; /* a root tree, or the host's root directory */
	bool host;   /* the latter: of its /etc only what libraries read */
	/* Directories of the host, beside those of base; absolute. */
	const char *extra[JAIL_EXTRA_MAX];
	unsigned extra_n;
	uid_t user; /* who programs are, for those who look for the name */
};

/* Moves the calling process into it: /usr and its like, /etc, the extra ones,
 * a /dev of five devices, an empty /workspace and /tmp to mount on, and a /proc
 * of this process-number namespace; where that may not be mounted, the one that
 * there is, which wall_jail_scratch covers. Nothing can be written, and nothing
 * else of the host is left. 0 or -errno with the wall's name. */
int wall_jail_root(const struct jail_root *jail, struct err *err);

/* A /tmp of so many bytes for those whom mode lets; what is mounted below it
 * stays. */
int wall_jail_tmp(unsigned long bytes, unsigned mode, struct err *err);

/* In a process that is to run one program, in a mount namespace of its own:
 * writable /workspace and /tmp of so many bytes, and a /proc of its own
 * processes; where that may not be mounted, none. Needs capabilities there. */
int wall_jail_scratch(
    unsigned long workspace_bytes, unsigned long tmp_bytes, struct err *err);

#endif
