/* session_table.h: who has which session, and which has to make way.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOM_SESSION_TABLE_H
#define ROOM_SESSION_TABLE_H

#include "base/random_id.h"
#include "call/principal.h"
#include "room/tickets.h"

#include <sys/queue.h>

enum room_session_state {
	ROOM_SESSION_STARTING, /* its first call is in the room */
	ROOM_SESSION_IDLE,
	ROOM_SESSION_RUNNING, /* a call of it is in the room */
};

struct room_session {
	LIST_ENTRY(room_session) link;
	enum room_session_state state;
	char id[RANDOM_ID_SIZE];
	uint32_t number;             /* towards the keeper */
	struct principal *principal; /* held; NULL: the only one */
	uint64_t created_us, used_us;
	uint64_t calls;      /* that have ended in it; of its origin too */
	uint64_t bytes;      /* that it holds */
	uint32_t call;       /* the id of the one that is in the room */
	bool cancelled;      /* that one */
	struct tickets line; /* calls that wait for it */
	unsigned branches;   /* of it that are in the room */
	char why[96];        /* it ended under its call; empty: it has not */
};

struct session_table {
	LIST_HEAD(room_session_list, room_session) list;
	unsigned n;
	uint32_t last_number;
};

void session_table_init(struct session_table *table);

/* A new one in the state STARTING. NULL without memory, random bits or
 * numbers. */
struct room_session *session_table_add(
    struct session_table *table, struct principal *principal, uint64_t now_us);

/* Frees one, whose line is empty. */
void session_table_remove(
    struct session_table *table, struct room_session *session);

struct room_session *session_table_number(
    const struct session_table *table, uint32_t number);

/* The principal's own one with that id, or NULL. */
struct room_session *session_table_find(const struct session_table *table,
    const char *id, const struct principal *principal);

/* True if nothing of it is in the room. */
bool session_is_free(const struct room_session *session);

/* Of what there is too little. */
enum session_measure {
	SESSION_PLACES,
	SESSION_BYTES,
};

/* What all of them have of it. */
uint64_t session_table_sum(
    const struct session_table *table, enum session_measure measure);

/* The free one that makes way for principal, of max in all. keep is spared.
 * NULL: none has to; *ret_own says if that is for the principal's own sake. */
struct room_session *session_table_victim(const struct session_table *table,
    enum session_measure measure, uint64_t max,
    const struct principal *principal, const struct room_session *keep,
    bool *ret_own);

#endif
