/* events.c: a bounded list of events, and their ids:
 * EPOCH-STREAM-NUMBER, the first in hexadecimal.
 * Hostile input: the ids that a client comes back with. Fuzzed by fuzz_headers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/events.h"

#include "conf/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void
events_pool_init(struct events_pool *pool)
{
	TAILQ_INIT(&pool->all);
	pool->bytes = 0;
}

int
events_init(struct events *events, struct events_pool *pool)
{
	*events = (struct events){ .pool = pool };
	TAILQ_INIT(&events->all);
	if (getrandom(&events->epoch, sizeof(events->epoch), 0) !=
	    sizeof(events->epoch))
		return errno > 0 ? -errno : -EIO;
	return 0;
}

static void
drop(struct event *event)
{
	struct events *events = event->events;

	TAILQ_REMOVE(&events->pool->all, event, of_pool);
	TAILQ_REMOVE(&events->all, event, of_session);
	events->n--;
	events->bytes -= event->text.cap;
	events->pool->bytes -= event->text.cap;
	buf_done(&event->text);
	free(event);
}

void
events_done(struct events *events)
{
	struct event *event;

	while ((event = TAILQ_FIRST(&events->all)))
		drop(event);
}

uint32_t
events_stream(struct events *events)
{
	return ++events->streams;
}

uint64_t
events_next(struct events *events, uint32_t stream, char ret_id[EVENT_ID_SIZE])
{
	events->last++;
	(void)snprintf(ret_id, EVENT_ID_SIZE,
	    "%08" PRIx32 "-%" PRIu32 "-%" PRIu64, events->epoch, stream,
	    events->last);
	return events->last;
}

bool
events_keep(
    struct events *events, uint32_t stream, uint64_t number, struct buf *text)
{
	struct events_pool *pool = events->pool;
	struct event *event;

	if (text->cap > SESSION_EVENTS_BYTES)
		return false;
	while (events->n >= SESSION_EVENTS_MAX ||
	       events->bytes + text->cap > SESSION_EVENTS_BYTES)
		drop(TAILQ_FIRST(&events->all));
	while (pool->bytes + text->cap > SESSIONS_EVENTS_BYTES)
		drop(TAILQ_FIRST(&pool->all));
	event = calloc(1, sizeof(*event));
	if (!event)
		return false;
	event->events = events;
	event->stream = stream;
	event->number = number;
	event->text = *text;
	buf_init(text, text->max);
	TAILQ_INSERT_TAIL(&pool->all, event, of_pool);
	TAILQ_INSERT_TAIL(&events->all, event, of_session);
	events->n++;
	events->bytes += event->text.cap;
	pool->bytes += event->text.cap;
	return true;
}

/* Takes a number of at most max, without sign or needless zeros, from the
 * front of text, and the mark behind it; mark '\0' is the end. */
static bool
take_number(struct span *text, uint8_t mark, uint64_t max, uint64_t *ret_number)
{
	uint64_t number = 0;
	size_t n = 0;

	while (n < text->n && text->p[n] >= '0' && text->p[n] <= '9') {
		unsigned digit = (unsigned)(text->p[n] - '0');

		if (digit > max || number > (max - digit) / 10)
			return false;
		number = number * 10 + digit;
		n++;
	}
	if (n == 0 || text->p[0] == '0')
		return false;
	if (mark == '\0' ? n != text->n : n == text->n || text->p[n] != mark)
		return false;
	if (mark != '\0')
		n++;
	text->p += n;
	text->n -= n;
	*ret_number = number;
	return true;
}

bool
events_parse(const struct events *events, struct span id, uint32_t *ret_stream,
    uint64_t *ret_number)
{
	char epoch[16];
	uint64_t stream;
	int n = snprintf(epoch, sizeof(epoch), "%08" PRIx32 "-", events->epoch);

	if (!id.p || id.n <= (size_t)n || memcmp(id.p, epoch, (size_t)n) != 0)
		return false;
	id.p += n;
	id.n -= (size_t)n;
	if (!take_number(&id, '-', events->streams, &stream) ||
	    !take_number(&id, '\0', events->last, ret_number))
		return false;
	*ret_stream = (uint32_t)stream;
	return true;
}

const struct event *
events_after(const struct events *events, uint32_t stream, uint64_t number)
{
	const struct event *event;

	TAILQ_FOREACH(event, &events->all, of_session)
	if (event->stream == stream && event->number > number)
		return event;
	return NULL;
}
