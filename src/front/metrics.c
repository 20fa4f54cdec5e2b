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

	for (unsigned i = 0; i < metrics->rooms_n; i++)
		for (unsigned j = 0; r == 0 && j < OUTCOMES; j++)
			r = buf_printf(buf,
			    PREFIX
			    "calls_total{outcome=\"%s\",room=\"%s\"} %" PRIu64
			    "\n",
			    outcome_name((enum outcome)j),
			    room_id_name(metrics->rooms[i].id),
			    metrics->mcp->calls[metrics->rooms[i].id][j]);
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

/* The labels of a room's figure: reason may be NULL, and so may the whole. */
static int
write_labels(const struct metrics *metrics, const struct metrics_room *room,
    const char *reason, struct buf *buf)
{
	const bool named = metrics->rooms_n > 1;

	if (!named && !reason)
		return 0;
	return buf_printf(buf, "{%s%s%s%s%s%s%s}", reason ? "reason=\"" : "",
	    reason ? reason : "", reason ? "\"" : "",
	    reason && named ? "," : "", named ? "room=\"" : "",
	    named ? room_id_name(room->id) : "", named ? "\"" : "");
}

static int
write_session_ends(const struct metrics *metrics, struct buf *buf)
{
	int r = about(buf, "room_sessions_ended_total", "counter",
	    "Sessions of rooms that ended, by reason.");

	for (unsigned i = 0; i < metrics->rooms_n; i++)
		for (unsigned j = 0; r == 0 && j < SESSION_ENDS; j++) {
			const struct metrics_room *room = &metrics->rooms[i];

			r = buf_add_text(
			    buf, PREFIX "room_sessions_ended_total");
			if (r == 0)
				r = write_labels(metrics, room,
				    room_session_end_name(
					(enum room_session_end)j),
				    buf);
			if (r == 0)
				r = buf_printf(buf, " %" PRIu64 "\n",
				    room->sessions.ended[j]);
		}
	return r;
}

enum room_figure {
	FIGURE_QUEUED,
	FIGURE_RUNNING,
	FIGURE_PRINCIPALS,
	FIGURE_READY,
	FIGURE_RESTARTS,
	FIGURE_AGAIN,
	FIGURE_SESSIONS,
	FIGURE_SESSIONS_BYTES,
	FIGURE_SESSIONS_WAITING,
	ROOM_FIGURES /* their number, not a figure */
};

static uint64_t
room_value(const struct metrics_room *room, enum room_figure which)
{
	switch (which) {
	case FIGURE_QUEUED:
		return room->stats.queued;
	case FIGURE_RUNNING:
		return room->stats.running;
	case FIGURE_PRINCIPALS:
		return room->stats.principals;
	case FIGURE_READY:
		return room->stats.ready;
	case FIGURE_RESTARTS:
		return room->stats.restarts;
	case FIGURE_AGAIN:
		return room->stats.again;
	case FIGURE_SESSIONS:
		return room->sessions.held;
	case FIGURE_SESSIONS_BYTES:
		return room->sessions.bytes;
	case FIGURE_SESSIONS_WAITING:
		return room->sessions.waiting;
	case ROOM_FIGURES:
		break;
	}
	BUG("a figure of no kind");
}

static int
write_rooms(const struct metrics *metrics, struct buf *buf)
{
	static const struct {
		const char *name, *type, *help;
	} figures[ROOM_FIGURES] = {
		[FIGURE_QUEUED] = { "queued", "gauge",
		    "Calls that wait for their turn." },
		[FIGURE_RUNNING] = { "running", "gauge",
		    "Calls that run, a child each." },
		[FIGURE_PRINCIPALS] = { "principals", "gauge",
		    "Principals with a call." },
		[FIGURE_READY] = { "ready", "gauge",
		    "1 while the room is warm." },
		[FIGURE_RESTARTS] = { "restarts_total", "counter",
		    "Keepers that were lost." },
		[FIGURE_AGAIN] = { "again_total", "counter",
		    "Calls that found no child and were kept." },
		[FIGURE_SESSIONS] = { "room_sessions", "gauge",
		    "Sessions of rooms: interpreters that are kept." },
		[FIGURE_SESSIONS_BYTES] = { "room_sessions_bytes", "gauge",
		    "Memory that they hold." },
		[FIGURE_SESSIONS_WAITING] = { "room_sessions_waiting", "gauge",
		    "Calls that wait for their session." },
	};
	int r = 0;

	for (unsigned i = 0; r == 0 && i < ROOM_FIGURES; i++) {
		r = about(
		    buf, figures[i].name, figures[i].type, figures[i].help);
		for (unsigned j = 0; r == 0 && j < metrics->rooms_n; j++) {
			const struct metrics_room *room = &metrics->rooms[j];

			r = buf_printf(buf, PREFIX "%s", figures[i].name);
			if (r == 0)
				r = write_labels(metrics, room, NULL, buf);
			if (r == 0)
				r = buf_printf(buf, " %" PRIu64 "\n",
				    room_value(room, (enum room_figure)i));
		}
	}
	return r;
}

int
metrics_write(const struct metrics *metrics, struct buf *buf)
{
	const struct mcp_stats *mcp = metrics->mcp;
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
		r = write_rooms(metrics, buf);
	if (r == 0)
		r = write_refusals(metrics->refusals, buf);
	for (unsigned i = 0; r == 0 && i < sizeof(figures) / sizeof(figures[0]);
	     i++)
		r = figure(buf, figures[i].name, figures[i].type,
		    figures[i].help, figures[i].value);
	return r;
}
