/* session_table.c: a list of sessions, and shares of it. Lists are short: a
 * room keeps ROOM_SESSIONS_MAX at most.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/session_table.h"

#include <stdlib.h>
#include <string.h>

void
session_table_init(struct session_table *table)
{
	*table = (struct session_table){ .n = 0 };
	LIST_INIT(&table->list);
}

struct room_session *
session_table_add(
    struct session_table *table, struct principal *principal, uint64_t now_us)
{
	struct room_session *session = NULL;

	if (table->last_number < UINT32_MAX)
		session = calloc(1, sizeof(*session));
	if (!session || !random_id(session->id)) {
		free(session);
		return NULL;
	}
	session->number = ++table->last_number;
	session->principal = principal_hold(principal);
	session->created_us = session->used_us = now_us;
	tickets_init(&session->line);
	LIST_INSERT_HEAD(&table->list, session, link);
	table->n++;
	return session;
}

void
session_table_remove(struct session_table *table, struct room_session *session)
{
	LIST_REMOVE(session, link);
	table->n--;
	principal_release(session->principal);
	free(session);
}

struct room_session *
session_table_number(const struct session_table *table, uint32_t number)
{
	struct room_session *session;

	LIST_FOREACH(session, &table->list, link)
	if (session->number == number)
		return session;
	return NULL;
}

struct room_session *
session_table_find(const struct session_table *table, const char *id,
    const struct principal *principal)
{
	struct room_session *session;

	/* Only the principal's own ids are compared: the time that it takes
	 * says nothing about another's. */
	LIST_FOREACH(session, &table->list, link)
	if (principal_is(session->principal, principal) &&
	    session->state != ROOM_SESSION_STARTING &&
	    strcmp(session->id, id) == 0)
		return session;
	return NULL;
}

bool
session_is_free(const struct room_session *session)
{
	return session->state == ROOM_SESSION_IDLE && session->branches == 0;
}

/* ---- shares ---- */

static uint64_t
measured(const struct room_session *session, enum session_measure measure)
{
	return measure == SESSION_PLACES ? 1 : session->bytes;
}

uint64_t
session_table_sum(
    const struct session_table *table, enum session_measure measure)
{
	const struct room_session *session;
	uint64_t sum = 0;

	LIST_FOREACH(session, &table->list, link)
	sum += measured(session, measure);
	return sum;
}

static uint64_t
held_by(const struct session_table *table, enum session_measure measure,
    const struct principal *principal)
{
	const struct room_session *session;
	uint64_t sum = 0;

	LIST_FOREACH(session, &table->list, link)
	if (principal_is(session->principal, principal))
		sum += measured(session, measure);
	return sum;
}

/* True if no session before it in the list is of the same principal. */
static bool
is_first_of_its(
    const struct session_table *table, const struct room_session *session)
{
	const struct room_session *other;

	LIST_FOREACH(other, &table->list, link)
	{
		if (other == session)
			break;
		if (principal_is(other->principal, session->principal))
			return false;
	}
	return true;
}

/* Those who have a session, and principal. */
static unsigned
count_principals(
    const struct session_table *table, const struct principal *principal)
{
	const struct room_session *session;
	unsigned n = 1;

	LIST_FOREACH(session, &table->list, link)
	n += !principal_is(session->principal, principal) &&
	     is_first_of_its(table, session);
	return n;
}

struct room_session *
session_table_victim(const struct session_table *table,
    enum session_measure measure, uint64_t max,
    const struct principal *principal, const struct room_session *keep,
    bool *ret_own)
{
	const unsigned n = count_principals(table, principal);
	const uint64_t share = max / n > 0 ? max / n : 1;
	/* One more place is wanted; what is held in bytes is held already. */
	const uint64_t wants = measure == SESSION_PLACES ? 1 : 0;
	const bool own = held_by(table, measure, principal) + wants > share;
	struct room_session *session, *victim = NULL;

	*ret_own = own;
	LIST_FOREACH(session, &table->list, link)
	{
		bool its = principal_is(session->principal, principal);

		if (session == keep || !session_is_free(session) ||
		    its != own ||
		    (victim && victim->used_us <= session->used_us))
			continue;
		/* With more principals than places, each has one by turns. */
		if (own || n > max ||
		    held_by(table, measure, session->principal) > share)
			victim = session;
	}
	return victim;
}
