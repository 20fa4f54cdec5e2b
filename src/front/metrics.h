/* metrics.h: the server in figures, in the text format of Prometheus. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_METRICS_H
#define FRONT_METRICS_H

#include "base/buf.h"
#include "front/refusal.h"
#include "mcp/mcp.h"
#include "room/room.h"

#include <stdint.h>

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* One room of the server. */
struct metrics_room {
	enum room_id id;
	struct room_stats stats;
	struct room_sessions_stats sessions;
};

struct metrics {
	const struct mcp_stats *mcp;
	/* Figures of a single room have no label: there is nothing to tell
	 * apart. */
	struct metrics_room rooms[ROOMS];
	unsigned rooms_n;
	const struct refusals *refusals;
	uint64_t requests; /* heads that came */
	uint64_t bytes_in, bytes_out;
	unsigned connections, streams, sessions;
	size_t session_events_bytes;
	uint64_t store_bytes; /* of what calls left behind */
};

/* Adds the page. 0 or what buf_add says. */
int metrics_write(const struct metrics *metrics, struct buf *buf);

#endif
