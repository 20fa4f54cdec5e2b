/* metrics.c: figures as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/metrics.h"

#include <inttypes.h>

#define PREFIX   "breakroom_"
#define US_PER_S 1e6

static int
about(struct buf *buf, const char *name, const char *type, const char *help)
{
	return buf_printf(buf,
	    "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help,
	    name, type);
}

static int
figure(struct buf *buf, const char *name, const char *type, const char *help,
    uint64_t value)
{
	int r = about(buf, name, type, help);

	if (r < 0)
		return r;
	return buf_printf(buf, PREFIX "%s %" PRIu64 "\n", name, value);
}

static int
write_calls(const struct metrics *metrics, struct buf *buf)
{
	int r = about(buf, "calls_total", "counter",
	    "Calls that ended, by how and in which room.");

	for (unsigned i = 0; r == 0 && i < OUTCOMES; i++)
		r = buf_printf(buf,
		    PREFIX "calls_total{outcome=\"%s\",room=\"%s\"} %" PRIu64
			   "\n",
		    outcome_name((enum outcome)i), metrics->room_name,
		    metrics->mcp->calls[i]);
	return r;
}

static int
write_times(const struct metrics *metrics, struct buf *buf)
{
	const struct mcp_stats *mcp = metrics->mcp;
	uint64_t n = 0;
	int r = about(buf, "call_seconds", "histogram",
	    "From a call's request to its answer.");

	for (unsigned i = 0; r == 0 && i + 1 < CALL_BUCKETS; i++) {
		n += mcp->buckets[i];
		r = buf_printf(buf,
		    PREFIX "call_seconds_bucket{le=\"%g\"} %" PRIu64 "\n",
		    (double)CALL_BUCKET_US(i) / US_PER_S, n);
	}
	n += mcp->buckets[CALL_BUCKETS - 1];
	if (r == 0)
		r = buf_printf(buf,
		    PREFIX "call_seconds_bucket{le=\"+Inf\"} %" PRIu64
			   "\n" PREFIX "call_seconds_sum %.6f\n" PREFIX
			   "call_seconds_count %" PRIu64 "\n",
		    n, (double)mcp->sum_us / US_PER_S, n);
	return r;
}

static int
write_refusals(const struct refusals *refusals, struct buf *buf)
{
	int r = about(buf, "refused_total", "counter",
	    "Requests that were refused by HTTP's means, by reason.");

	for (unsigned i = 0; r == 0 && i < refusals->n; i++)
		r = buf_printf(buf,
		    PREFIX "refused_total{reason=\"%s\",status=\"%u\"} %" PRIu64
			   "\n",
		    refusals->counts[i].reason, refusals->counts[i].status,
		    refusals->counts[i].n);
	return r;
}

static int
write_session_ends(const struct metrics *metrics, struct buf *buf)
{
	int r = about(buf, "room_sessions_ended_total", "counter",
	    "Sessions of rooms that ended, by reason.");

	for (unsigned i = 0; r == 0 && i < SESSION_ENDS; i++)
		r = buf_printf(buf,
		    PREFIX "room_sessions_ended_total{reason=\"%s\"} %" PRIu64
			   "\n",
		    room_session_end_name((enum room_session_end)i),
		    metrics->room_sessions.ended[i]);
	return r;
}

int
metrics_write(const struct metrics *metrics, struct buf *buf)
{
	const struct mcp_stats *mcp = metrics->mcp;
	const struct room_stats *room = &metrics->room;
	const struct {
		const char *name, *type, *help;
		uint64_t value;
	} figures[] = {
		{ "calls_unanswered_total", "counter",
		    "Calls whose client was gone, or had cancelled.",
		    mcp->unanswered },
		{ "errors_total", "counter",
		    "Errors of the protocol that were answered.", mcp->errors },
		{ "strays_total", "counter",
		    "Responses and notifications that meant nothing.",
		    mcp->strays },
		{ "queued", "gauge", "Calls that wait for their turn.",
		    room->queued },
		{ "running", "gauge", "Calls that run, a child each.",
		    room->running },
		{ "principals", "gauge", "Principals with a call.",
		    room->principals },
		{ "ready", "gauge", "1 while the room is warm.", room->ready },
		{ "restarts_total", "counter", "Keepers that were lost.",
		    room->restarts },
		{ "again_total", "counter",
		    "Calls that found no child and were kept.", room->again },
		{ "room_sessions", "gauge",
		    "Sessions of rooms: interpreters that are kept.",
		    metrics->room_sessions.held },
		{ "room_sessions_bytes", "gauge", "Memory that they hold.",
		    metrics->room_sessions.bytes },
		{ "room_sessions_waiting", "gauge",
		    "Calls that wait for their session.",
		    metrics->room_sessions.waiting },
		{ "requests_total", "counter", "Heads of HTTP requests.",
		    metrics->requests },
		{ "in_bytes_total", "counter", "Bytes from clients.",
		    metrics->bytes_in },
		{ "out_bytes_total", "counter", "Bytes to clients.",
		    metrics->bytes_out },
		{ "connections", "gauge", "Connections that are open.",
		    metrics->connections },
		{ "streams", "gauge", "Streams of events that are read.",
		    metrics->streams },
		{ "sessions", "gauge", "Sessions that are held.",
		    metrics->sessions },
		{ "session_events_bytes", "gauge",
		    "Bytes kept for sessions that may come back.",
		    metrics->session_events_bytes },
		{ "store_bytes", "gauge", "Bytes of what calls left behind.",
		    metrics->store_bytes },
	};
	int r = write_calls(metrics, buf);

	if (r == 0)
		r = write_times(metrics, buf);
	if (r == 0)
		r = write_session_ends(metrics, buf);
	if (r == 0)
		r = write_refusals(metrics->refusals, buf);
	for (unsigned i = 0; r == 0 && i < sizeof(figures) / sizeof(figures[0]);
	     i++)
		r = figure(buf, figures[i].name, figures[i].type,
		    figures[i].help, figures[i].value);
	return r;
}
