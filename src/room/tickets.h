/* tickets.h: calls on their way, in lists.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOM_TICKETS_H
#define ROOM_TICKETS_H

#include "call/call.h"

#include <stdbool.h>
#include <stdint.h>

struct share;

/* A call in one of a room's lists. */
struct ticket {
	struct ticket *next;
	struct share *share; /* while it waits or runs */
	struct call *call;
	bool cancelled;       /* whatever its child does, it goes no further */
	bool late;            /* an answer was overdue at the last look */
	unsigned tries;       /* times it was handed to the keeper */
	uint64_t queued_us;   /* set when it is handed to the keeper */
	uint64_t late_us;     /* an answer is overdue from then on */
	int region;           /* its output, while it is watched; else -1 */
	uint64_t told[2];     /* bytes of stdout and stderr, to on_output */
	struct result result; /* set when it is finished */
};

struct tickets { /* first in, first out */
	struct ticket *first, **last;
	unsigned n;
};

void tickets_init(struct tickets *tickets);
void tickets_push(struct tickets *tickets, struct ticket *ticket);
/* Puts back a ticket where its id says: those are given in order. */
void tickets_put_back(struct tickets *tickets, struct ticket *ticket);
struct ticket *tickets_pop(struct tickets *tickets);
struct ticket *tickets_pop_last(struct tickets *tickets);
/* Takes out the ticket of this call; NULL if it is not there. */
struct ticket *tickets_take(struct tickets *tickets, uint32_t id);

/* A ticket for the call with an empty result; NULL without memory. */
struct ticket *ticket_new(struct call *call);

/* The result of a call that did not run to its end: outcome, exit code -1,
 * and the reason as its stderr. */
void ticket_fail(
    struct ticket *ticket, enum outcome outcome, const char *reason);

/* Hands the call and its result to call->done, and frees the ticket. */
void ticket_deliver(struct ticket *ticket);

/* Looks at its output no more. */
void ticket_unwatch(struct ticket *ticket);

/* Frees a ticket whose call goes back to the caller. */
void ticket_free(struct ticket *ticket);

#endif
