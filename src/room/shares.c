/* shares.c: whose call is next.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/shares.h"

#include <stdlib.h>

void
shares_init(struct shares *shares)
{
	*shares = (struct shares){ .last = &shares->first };
}

static void
append(struct shares *shares, struct share *share)
{
	share->next = NULL;
	*shares->last = share;
	shares->last = &share->next;
}

static void
unlink_at(struct shares *shares, struct share **place)
{
	*place = (*place)->next;
	if (!*place)
		shares->last = place;
}

static struct share **
place_of(struct shares *shares, const struct share *share)
{
	struct share **place = &shares->first;

	while (*place != share)
		place = &(*place)->next;
	return place;
}

/* The newest limits count: those of a token may have changed. */
static void
rehold(struct share *share, struct principal *principal)
{
	struct principal *before = share->principal;

	share->principal = principal_hold(principal);
	principal_release(before);
}

const struct share *
shares_find(const struct shares *shares, const struct principal *principal)
{
	const struct share *share = shares->first;

	while (share && !principal_is(share->principal, principal))
		share = share->next;
	return share;
}

struct share *
shares_of(struct shares *shares, struct principal *principal)
{
	/* The list is ours to change. */
	struct share *share = (struct share *)shares_find(shares, principal);

	if (share) {
		rehold(share, principal);
		return share;
	}
	share = calloc(1, sizeof(*share));
	if (!share)
		return NULL;
	share->principal = principal_hold(principal);
	tickets_init(&share->queued);
	append(shares, share);
	shares->n++;
	return share;
}

void
shares_drop(struct shares *shares, struct share *share)
{
	if (share->running > 0 || share->queued.n > 0)
		return;
	unlink_at(shares, place_of(shares, share));
	shares->n--;
	principal_release(share->principal);
	free(share);
}

bool
share_full(const struct share *share)
{
	const struct principal *principal = share->principal;

	return principal && share->running + share->queued.n >=
				principal->calls_max + principal->queue_max;
}

/* ---- the turns ---- */

static bool
may_run(const struct share *share)
{
	return share->queued.n > 0 &&
	       (!share->principal ||
		   share->running < share->principal->calls_max);
}

struct ticket *
shares_next(struct shares *shares)
{
	struct share **best = NULL;
	struct share *share;

	for (struct share **at = &shares->first; *at; at = &(*at)->next)
		if (may_run(*at) &&
		    (!best || (*at)->running < (*best)->running))
			best = at;
	if (!best)
		return NULL;
	share = *best;
	unlink_at(shares, best);
	append(shares, share);
	share->running++;
	shares->running++;
	shares->queued--;
	return tickets_pop(&share->queued);
}

/* ---- tickets ---- */

void
shares_push(struct shares *shares, struct share *share, struct ticket *ticket)
{
	ticket->share = share;
	tickets_push(&share->queued, ticket);
	shares->queued++;
}

void
shares_put_back(struct shares *shares, struct ticket *ticket)
{
	ticket->share->running--;
	shares->running--;
	tickets_put_back(&ticket->share->queued, ticket);
	shares->queued++;
}

/* The ticket is in none of the lists any more. */
static struct ticket *
leave(struct shares *shares, struct ticket *ticket)
{
	struct share *share = ticket->share;

	ticket->share = NULL;
	shares_drop(shares, share);
	return ticket;
}

void
shares_ran(struct shares *shares, struct ticket *ticket)
{
	ticket->share->running--;
	shares->running--;
	(void)leave(shares, ticket);
}

static struct ticket *
leave_queue(struct shares *shares, struct ticket *ticket)
{
	if (!ticket)
		return NULL;
	shares->queued--;
	return leave(shares, ticket);
}

struct ticket *
shares_take(struct shares *shares, uint32_t id)
{
	struct ticket *ticket = NULL;

	for (struct share *share = shares->first; share && !ticket;
	     share = share->next)
		ticket = tickets_take(&share->queued, id);
	return leave_queue(shares, ticket);
}

struct ticket *
shares_pop(struct shares *shares)
{
	struct ticket *ticket = NULL;

	for (struct share *share = shares->first; share && !ticket;
	     share = share->next)
		ticket = tickets_pop(&share->queued);
	return leave_queue(shares, ticket);
}

struct ticket *
shares_make_way(struct shares *shares, const struct share *share)
{
	struct share *most = shares->first;

	for (struct share *at = shares->first; at; at = at->next)
		if (at->queued.n > most->queued.n)
			most = at;
	if (!most || most->queued.n <= share->queued.n + 1)
		return NULL;
	return leave_queue(shares, tickets_pop_last(&most->queued));
}
