/* test_metrics.c: the page of figures, as Prometheus reads it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Writes the page into text. */
static void
write_page(const struct metrics *metrics, char *text, size_t size)
{
	struct buf buf;

	buf_init(&buf, size - 1);
	assert_int_equal(metrics_write(metrics, &buf), 0);
	memcpy(text, buf.p, buf.n);
	text[buf.n] = '\0';
	buf_done(&buf);
}

static void
expect(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no line %s in:\n%s", line, text);
}

static void
test_page(void **state)
{
	static char text[65536];
	struct mcp_stats stats = { .sum_us = 1500000 };
	struct refusals refusals = { 0 };
	const struct metrics metrics = { .mcp = &stats,
		.refusals = &refusals,
		.rooms = { { .id = ROOM_WASM,
		    .stats = { .queued = 3, .running = 2, .restarts = 1 } } },
		.rooms_n = 1,
		.connections = 7,
		.bytes_out = UINT64_MAX };

	(void)state;
	stats.calls[ROOM_WASM][OUTCOME_OK] = 5;
	stats.buckets[0] = 2;
	stats.buckets[3] = 2;
	stats.buckets[CALL_BUCKETS - 1] = 1;
	refusals_count(&refusals, 403, "host", NULL);
	refusals_count(&refusals, 403, "host", NULL);
	refusals_count(&refusals, 413, "too_large", NULL);
	write_page(&metrics, text, sizeof(text));
	expect(
	    text, "\nbreakroom_calls_total{outcome=\"ok\",room=\"wasm\"} 5\n");
	expect(text,
	    "\nbreakroom_calls_total{outcome=\"timeout\",room=\"wasm\"} 0\n");
	/* Each bucket holds those before it, too. */
	expect(text, "\nbreakroom_call_seconds_bucket{le=\"0.0005\"} 2\n");
	expect(text, "\nbreakroom_call_seconds_bucket{le=\"0.002\"} 2\n");
	expect(text, "\nbreakroom_call_seconds_bucket{le=\"0.004\"} 4\n");
	expect(text, "\nbreakroom_call_seconds_bucket{le=\"+Inf\"} 5\n");
	expect(text, "\nbreakroom_call_seconds_sum 1.500000\n");
	expect(text, "\nbreakroom_call_seconds_count 5\n");
	expect(text,
	    "\nbreakroom_refused_total{reason=\"host\",status=\"403\"} 2\n");
	expect(text, "\nbreakroom_queued 3\n");
	expect(text, "\nbreakroom_running 2\n");
	expect(text, "\nbreakroom_restarts_total 1\n");
	expect(text, "\nbreakroom_connections 7\n");
	expect(text, "\nbreakroom_out_bytes_total 18446744073709551615\n");
}

/* Of several rooms each figure says whose it is. */
static void
test_rooms(void **state)
{
	static char text[65536];
	static struct mcp_stats stats;
	static struct refusals refusals;
	const struct metrics metrics = { .mcp = &stats,
		.refusals = &refusals,
		.rooms = { { .id = ROOM_WASM, .stats = { .ready = true } },
		    { .id = ROOM_JAIL,
			.stats = { .restarts = 4 },
			.sessions = { .held = 2, .ended = { 7 } } } },
		.rooms_n = 2 };

	(void)state;
	stats.calls[ROOM_JAIL][OUTCOME_OK] = 9;
	write_page(&metrics, text, sizeof(text));
	expect(
	    text, "\nbreakroom_calls_total{outcome=\"ok\",room=\"jail\"} 9\n");
	expect(
	    text, "\nbreakroom_calls_total{outcome=\"ok\",room=\"wasm\"} 0\n");
	expect(text, "\nbreakroom_ready{room=\"wasm\"} 1\n");
	expect(text, "\nbreakroom_ready{room=\"jail\"} 0\n");
	expect(text, "\nbreakroom_restarts_total{room=\"jail\"} 4\n");
	expect(text, "\nbreakroom_room_sessions{room=\"jail\"} 2\n");
	expect(text,
	    "\nbreakroom_room_sessions_ended_total{reason=\"rest\",room="
	    "\"jail\"} 7\n");
}

/* More reasons than there are places: the rest is counted together. */
static void
test_many_reasons(void **state)
{
	static char names[REFUSAL_REASONS + 10][16];
	struct refusals refusals = { 0 };
	uint64_t n = 0;

	(void)state;
	for (unsigned i = 0; i < REFUSAL_REASONS + 10; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "reason%u", i);
		refusals_count(&refusals, 400, names[i], NULL);
	}
	assert_int_equal(refusals.n, REFUSAL_REASONS);
	for (unsigned i = 0; i < refusals.n; i++)
		n += refusals.counts[i].n;
	assert_int_equal(n, REFUSAL_REASONS + 10);
	assert_string_equal(
	    refusals.counts[REFUSAL_REASONS - 1].reason, "other");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_rooms),
		cmocka_unit_test(test_many_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
