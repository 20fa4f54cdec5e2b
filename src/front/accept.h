/* accept.h: what kinds of answer a client takes, and what kind of body it
 * sends. Pure.
 * Hostile input: the two headers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_ACCEPT_H
#define FRONT_ACCEPT_H

#include "base/buf.h"

#include <stdbool.h>

struct accept {
	bool json;   /* application/json */
	bool events; /* text/event-stream, named or as text; not by "any" */
};

/* Reads Accept; absent (p == NULL) or empty, JSON is taken. Of several ranges
 * that fit, the closest decides; q=0 means no. What is malformed counts for
 * nothing. */
struct accept accept_parse(struct span header);

/* True for application/json, with no parameter but charset=utf-8. */
bool content_type_is_json(struct span header);

#endif
