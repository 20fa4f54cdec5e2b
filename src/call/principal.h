/* principal.h: who a call is for: the owner of what the call leaves behind,
 * and the one whose share of the room is counted.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_PRINCIPAL_H
#define CALL_PRINCIPAL_H

#include "conf/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PRINCIPAL_ID_SIZE 32u

struct principal {
	/* Two of one id are one principal: a digest of how it proved who it
	 * is and of its name, so that it stays the same over a restart. */
	uint8_t id[PRINCIPAL_ID_SIZE];
	/* For the log: [A-Za-z0-9._-] alone. */
	char name[PRINCIPAL_NAME_MAX + 1];
	unsigned holds; /* who refers to it; freed with the last */

	/* What it may have at once; 0 never means "no limit". */
	uint32_t calls_max;  /* that run */
	uint32_t queue_max;  /* that wait */
	uint32_t per_minute; /* calls begun */

	/* What it has now. */
	size_t calls_bytes;   /* of its calls that have not ended */
	unsigned connections; /* that serve a request of its */
	uint64_t turn;        /* of the front's, when it was served last */
};

/* A principal with one hold, for whoever asked; its limits are those of a
 * server without any. NULL without memory. name is cut and mended. */
struct principal *principal_new(const char *kind, const char *name);

struct principal *principal_hold(struct principal *principal);
void principal_release(struct principal *principal); /* NULL is fine */

/* True if both are the same one. NULL equals only NULL. */
bool principal_is(const struct principal *a, const struct principal *b);

#endif
