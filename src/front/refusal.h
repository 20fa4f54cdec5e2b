/* refusal.h: requests that are answered by an error before the protocol sees
 * them: the answer, the counter, and the line in the log.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_REFUSAL_H
#define FRONT_REFUSAL_H

#include "conf/limits.h"
#include "front/exchange.h"

#include <stdint.h>

struct http_refusal {
	unsigned status;
	const char *reason;  /* one word for the counter: a literal */
	const char *text;    /* one sentence for the client: a literal */
	const char *headers; /* whole lines, or NULL */
};

/* How many there were, by reason. */
struct refusals {
	struct refusal_count {
		const char *reason;
		unsigned status;
		uint64_t n;
	} counts[REFUSAL_REASONS];
	unsigned n; /* of them in use; the last takes what finds no place */
	uint64_t second; /* of the clock, for the log */
	unsigned logged; /* in it */
	uint64_t unlogged;
};

/* Counts one that is in the log already. */
void refusals_add(
    struct refusals *refusals, unsigned status, const char *reason);

/* Counts one and writes it to the log, unless there were too many just now.
 * address has 16 bytes, or is NULL. */
void refusals_count(struct refusals *refusals, unsigned status,
    const char *reason, const uint8_t *address);

/* Answers the exchange, which must not be used after it, and counts. */
void refusal_answer(struct refusals *refusals, struct exchange *exchange,
    const struct http_refusal *refusal);

#endif
