/* events.h: what was sent on the streams of a session, kept for a client that
 * comes back for the rest of one. The oldest goes first, of the session and of
 * all sessions together.
 * Hostile input: the ids that a client comes back with.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_EVENTS_H
#define FRONT_EVENTS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

/* One event: its text as it is sent. */
struct event {
	TAILQ_ENTRY(event) of_pool, of_session;
	struct events *events;
	uint32_t stream;
	uint64_t number; /* in the session, growing */
	struct buf text;
};

TAILQ_HEAD(event_list, event);

/* Those of all sessions. */
struct events_pool {
	struct event_list all; /* oldest first */
	size_t bytes;
};

/* Those of one. */
struct events {
	struct events_pool *pool;
	struct event_list all;
	unsigned n;
	size_t bytes;
	uint32_t epoch;   /* random: ids of another process are not ours */
	uint32_t streams; /* begun so far; the first is 1 */
	uint64_t last;
};

#define EVENT_ID_SIZE 48u

void events_pool_init(struct events_pool *pool);

/* Borrows pool. 0; -errno without random bytes. */
int events_init(struct events *events, struct events_pool *pool);
void events_done(struct events *events);

/* A new stream's number. */
uint32_t events_stream(struct events *events);

/* The number of the next event, and its id on that stream. */
uint64_t events_next(
    struct events *events, uint32_t stream, char ret_id[EVENT_ID_SIZE]);

/* Keeps the event of that number; takes the bytes of text, unless they cannot
 * be kept: then it is false. */
bool events_keep(
    struct events *events, uint32_t stream, uint64_t number, struct buf *text);

/* Which stream of this session an id is of, and where on it; false: of none. */
bool events_parse(const struct events *events, struct span id,
    uint32_t *ret_stream, uint64_t *ret_number);

/* The first kept event of the stream after that number, or NULL. */
const struct event *events_after(
    const struct events *events, uint32_t stream, uint64_t number);

#endif
