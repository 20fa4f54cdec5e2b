/* test_events.c: what is kept of a session's streams.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/events.h"

#include "conf/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Keeps an event of so many bytes; its id. */
static uint64_t
keep(struct events *events, uint32_t stream, size_t bytes, char *id)
{
	char own[EVENT_ID_SIZE];
	uint64_t number = events_next(events, stream, id ? id : own);
	struct buf text;

	buf_init(&text, bytes);
	assert_int_equal(buf_reserve(&text, bytes), 0);
	memset(text.p, 'x', bytes);
	text.n = bytes;
	if (!events_keep(events, stream, number, &text))
		buf_done(&text);
	return number;
}

/* Events of one stream. */
static void
begin(struct events_pool *pool, struct events *events)
{
	events_pool_init(pool);
	assert_int_equal(events_init(events, pool), 0);
	assert_int_equal(events_stream(events), 1);
}

static unsigned
count(const struct events *events, uint32_t stream, uint64_t number)
{
	const struct event *event;
	unsigned n = 0;

	while ((event = events_after(events, stream, number))) {
		assert_true(event->number > number);
		assert_int_equal(event->stream, stream);
		number = event->number;
		n++;
	}
	return n;
}

static void
test_streams_apart(void **state)
{
	struct events_pool pool;
	struct events events;
	uint64_t first, number;
	uint32_t a, b, stream;
	char id[EVENT_ID_SIZE];

	(void)state;
	events_pool_init(&pool);
	assert_int_equal(events_init(&events, &pool), 0);
	a = events_stream(&events);
	b = events_stream(&events);
	assert_int_not_equal(a, b);
	first = keep(&events, a, 10, id);
	(void)keep(&events, b, 10, NULL);
	(void)keep(&events, a, 10, NULL);
	assert_int_equal(count(&events, a, 0), 2);
	assert_int_equal(count(&events, a, first), 1);
	assert_int_equal(count(&events, b, 0), 1);
	assert_true(events_parse(&events, span_of(id), &stream, &number));
	assert_int_equal(stream, a);
	assert_int_equal(number, first);
	events_done(&events);
	assert_int_equal(pool.bytes, 0);
}

static void
test_strange_ids(void **state)
{
	static const char *const endings[] = { "", "-", "1", "1-", "0-1", "1-0",
		"3-1", "1-3", "01-1", "1-01", "-1-1", "1--1", "+1-1", "1-1 ",
		" 1-1", "1-1-1", "1-99999999999999999999",
		"1-100000000000000000000", "18446744073709551617-1", "a-1",
		"1-1\n" };
	struct events_pool pool;
	struct events events, other;
	char id[EVENT_ID_SIZE], text[96];
	uint64_t number;
	uint32_t stream;

	(void)state;
	events_pool_init(&pool);
	assert_int_equal(events_init(&events, &pool), 0);
	assert_int_equal(events_init(&other, &pool), 0);
	other.epoch = events.epoch + 1;
	for (int i = 0; i < 2; i++) {
		(void)events_stream(&events);
		(void)events_stream(&other);
		(void)keep(&events, 1, 10, NULL);
		(void)keep(&other, 1, 10, id);
	}
	assert_false(events_parse(&events, span_of(id), &stream, &number));
	assert_true(events_parse(&other, span_of(id), &stream, &number));
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		(void)snprintf(
		    text, sizeof(text), "%08x-%s", events.epoch, endings[i]);
		if (events_parse(&events, span_of(text), &stream, &number))
			fail_msg("taken: %s", text);
	}
	assert_false(
	    events_parse(&events, (struct span){ 0 }, &stream, &number));
	(void)snprintf(text, sizeof(text), "%08x-1-2", events.epoch);
	assert_true(events_parse(&events, span_of(text), &stream, &number));
	events_done(&events);
	events_done(&other);
}

static void
test_bounded_number(void **state)
{
	struct events_pool pool;
	struct events events;

	(void)state;
	begin(&pool, &events);
	for (unsigned i = 0; i < SESSION_EVENTS_MAX + 10; i++)
		(void)keep(&events, 1, 10, NULL);
	assert_int_equal(count(&events, 1, 0), SESSION_EVENTS_MAX);
	assert_int_equal(
	    events_after(&events, 1, 0)->number, 11); /* the oldest went */
	events_done(&events);
}

static void
test_bounded_bytes(void **state)
{
	struct events_pool pool;
	struct events events;

	(void)state;
	begin(&pool, &events);
	for (unsigned i = 0; i < 5; i++)
		(void)keep(&events, 1, SESSION_EVENTS_BYTES / 2, NULL);
	assert_int_equal(count(&events, 1, 0), 2);
	(void)keep(&events, 1, SESSION_EVENTS_BYTES + 1, NULL);
	assert_int_equal(count(&events, 1, 0), 2); /* never kept */
	events_done(&events);
}

static void
test_bounded_together(void **state)
{
	const unsigned n = SESSIONS_EVENTS_BYTES / SESSION_EVENTS_BYTES + 3;
	struct events *all = calloc(n, sizeof(*all));
	struct events_pool pool;

	(void)state;
	assert_non_null(all);
	events_pool_init(&pool);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(events_init(&all[i], &pool), 0);
		(void)events_stream(&all[i]);
		(void)keep(&all[i], 1, SESSION_EVENTS_BYTES, NULL);
		assert_true(pool.bytes <= SESSIONS_EVENTS_BYTES);
	}
	assert_int_equal(count(&all[0], 1, 0), 0);
	assert_int_equal(count(&all[2], 1, 0), 0);
	assert_int_equal(count(&all[3], 1, 0), 1);
	assert_int_equal(count(&all[n - 1], 1, 0), 1);
	for (unsigned i = 0; i < n; i++)
		events_done(&all[i]);
	assert_int_equal(pool.bytes, 0);
	free(all);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams_apart),
		cmocka_unit_test(test_strange_ids),
		cmocka_unit_test(test_bounded_number),
		cmocka_unit_test(test_bounded_bytes),
		cmocka_unit_test(test_bounded_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
