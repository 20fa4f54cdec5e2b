/* shares.h: the calls of a room by who they are for, so that one that floods
 * does not slow another. The next call is one of whoever runs fewest.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOM_SHARES_H
#define ROOM_SHARES_H

#include "call/principal.h"
#include "room/tickets.h"

/* One who has calls here. */
struct share {
	struct share *next;
	struct principal *principal; /* held; NULL: without limits */
	struct tickets queued;
	unsigned running;
};

/* In the order of their turns: whoever has had one goes to the end. */
struct shares {
	struct share *first, **last;
	unsigned n;
	unsigned queued, running; /* of all */
};

void shares_init(struct shares *shares);

/* The share of this principal, if it has a call here; or NULL. */
const struct share *shares_find(
    const struct shares *shares, const struct principal *principal);

/* The share of this principal, which stays while it has a call here. NULL
 * without memory. */
struct share *shares_of(struct shares *shares, struct principal *principal);

/* True if it has all that it may have at once, and one waiting. */
bool share_full(const struct share *share);

/* Lets the ticket wait; ticket->share is set from then on. */
void shares_push(
    struct shares *shares, struct share *share, struct ticket *ticket);

/* The ticket whose turn it is, which runs from then on: the caller keeps it.
 * NULL: none waits, or those that wait run all they may. */
struct ticket *shares_next(struct shares *shares);

/* A ticket that runs waits again, where its id says. */
void shares_put_back(struct shares *shares, struct ticket *ticket);

/* A ticket runs no longer, and is the caller's alone. */
void shares_ran(struct shares *shares, struct ticket *ticket);

/* Takes out the waiting ticket of this call; NULL if it does not wait. */
struct ticket *shares_take(struct shares *shares, uint32_t id);

/* Takes out a waiting ticket, whosever it is; NULL: there is none. */
struct ticket *shares_pop(struct shares *shares);

/* Takes out the newest waiting ticket of whoever has most, if that is more
 * than this share would have with one more. NULL: nobody has. */
struct ticket *shares_make_way(
    struct shares *shares, const struct share *share);

/* Forgets a share without calls; nothing if it has some. */
void shares_drop(struct shares *shares, struct share *share);

#endif
