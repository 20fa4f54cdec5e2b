/* auth_members.c: members by the digest that is their principal's id, and in
 * the order of their last use.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/auth_members.h"

#include <stdlib.h>
#include <string.h>

#define CHAINS    4096u
#define TRIES_MAX 64u /* members that are looked at for an idle one */

struct members {
	unsigned n;
	struct member *chains[CHAINS];
	struct member *oldest, *newest;
};

struct members *
members_new(void)
{
	return calloc(1, sizeof(struct members));
}

void
members_free(struct members *members)
{
	struct member *member = members ? members->oldest : NULL;

	while (member) {
		struct member *newer = member->newer;

		principal_release(member->principal);
		free(member);
		member = newer;
	}
	free(members);
}

/* An id is a digest: its first bytes are as good as any hash. */
static unsigned
chain_of(const struct principal *principal)
{
	uint32_t first;

	memcpy(&first, principal->id, sizeof(first));
	return first % CHAINS;
}

struct member *
members_find(const struct members *members, const struct principal *principal)
{
	struct member *member = members->chains[chain_of(principal)];

	while (member && !principal_is(member->principal, principal))
		member = member->next;
	return member;
}

static void
order_leave(struct members *members, struct member *member)
{
	if (member->older)
		member->older->newer = member->newer;
	else
		members->oldest = member->newer;
	if (member->newer)
		member->newer->older = member->older;
	else
		members->newest = member->older;
}

static void
order_join(struct members *members, struct member *member)
{
	member->newer = NULL;
	member->older = members->newest;
	if (members->newest)
		members->newest->newer = member;
	else
		members->oldest = member;
	members->newest = member;
}

static void
forget(struct members *members, struct member *member)
{
	struct member **at = &members->chains[chain_of(member->principal)];

	while (*at != member)
		at = &(*at)->next;
	*at = member->next;
	order_leave(members, member);
	principal_release(member->principal);
	free(member);
	members->n--;
}

/* Without a call, a session or a result that refers to it, and with its rate
 * whole again, nothing is lost. Busy ones move out of the way. */
static bool
forget_one(struct members *members, uint64_t now_us)
{
	for (unsigned i = 0; i < TRIES_MAX && members->oldest; i++) {
		struct member *member = members->oldest;

		if (member->pins == 0 && member->principal->holds == 1 &&
		    member->used_us + SUBJECT_IDLE_US <= now_us) {
			forget(members, member);
			return true;
		}
		order_leave(members, member);
		order_join(members, member);
	}
	return false;
}

static struct member *
member_add(struct members *members, struct principal *principal)
{
	struct member *member = calloc(1, sizeof(*member));
	unsigned chain = chain_of(principal);

	if (!member)
		return NULL;
	member->principal = principal;
	member->next = members->chains[chain];
	members->chains[chain] = member;
	order_join(members, member);
	members->n++;
	return member;
}

struct member *
members_take(struct members *members, const char *kind, const char *name,
    bool must, uint64_t now_us, bool *ret_new)
{
	struct principal *principal = principal_new(kind, name);
	struct member *member =
	    principal ? members_find(members, principal) : NULL;

	*ret_new = false;
	if (member) {
		principal_release(principal);
		order_leave(members, member);
		order_join(members, member);
		member->used_us = now_us;
		return member;
	}
	if (!principal || (members->n >= SUBJECTS_MAX &&
			      !forget_one(members, now_us) && !must)) {
		principal_release(principal);
		return NULL;
	}
	member = member_add(members, principal);
	if (!member) {
		principal_release(principal);
		return NULL;
	}
	member->used_us = now_us;
	*ret_new = true;
	return member;
}
