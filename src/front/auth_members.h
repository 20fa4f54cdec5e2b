/* auth_members.h: the principals that the server knows, each with its rate of
 * calls: so that somebody who comes again, also after the files were read
 * again, is the same one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_AUTH_MEMBERS_H
#define FRONT_AUTH_MEMBERS_H

#include "call/principal.h"
#include "front/auth_rates.h"

struct member {
	struct principal *principal; /* the member's hold */
	struct rate requests, calls;
	uint64_t used_us;
	unsigned pins; /* files it is in: never forgotten */
	struct member *next;
	struct member *older, *newer;
};

struct members;

struct members *members_new(void);          /* NULL without memory */
void members_free(struct members *members); /* NULL is fine */

/* The member of that kind and name; a new one has the limits of principal_new
 * and *ret_new is set. Beyond SUBJECTS_MAX one is forgotten for it that was
 * idle for SUBJECT_IDLE_US; if there is none, NULL unless must. NULL also
 * without memory. */
struct member *members_take(struct members *members, const char *kind,
    const char *name, bool must, uint64_t now_us, bool *ret_new);

/* The principal's, or NULL if it was forgotten. */
struct member *members_find(
    const struct members *members, const struct principal *principal);

#endif
