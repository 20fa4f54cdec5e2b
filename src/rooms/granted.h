/* granted.h: what an operator's --mount options have put at a room's disposal:
 * names and bytes, read before the room's walls stood. A kind of room adds them
 * to its own files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_GRANTED_H
#define ROOMS_GRANTED_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum granted_type {
	GRANTED_DIR,
	GRANTED_FILE,
	GRANTED_LINK, /* symbolic: it leads where the room's own files say */
};

struct granted_node {
	const char *path; /* the guest's, absolute */
	struct span bytes;
	const char *target; /* of a link */
	uint64_t mtime_ns;
	enum granted_type type;
	bool top; /* the mount itself */
	bool cow; /* a program may change it, for itself */
};

/* A directory comes before what is in it. A room's files borrow from it. */
struct granted {
	struct granted_node *nodes;
	size_t n;
	struct span held; /* the bytes of small files, one mapping */
};

#endif
