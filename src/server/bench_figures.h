/* bench_figures.h: what bench has measured, as a table, a row as it comes, or
 * as one JSON object at the end. The names in the object are documented in
 * breakroom(1).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_BENCH_FIGURES_H
#define SERVER_BENCH_FIGURES_H

#include "conf/limits.h"
#include "conf/room_id.h"
#include "server/bench_memory.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define BENCH_PROGRAMS 3u

/* Their names: "hello", "numpy", "pandas". */
extern const char *const bench_names[BENCH_PROGRAMS];

#define BENCH_WHY_MAX 320

/* Of one program in one room. */
struct series {
	unsigned n;
	uint64_t us[BENCH_CALLS_MAX];
	bool absent;             /* the room has not what it needs */
	char why[BENCH_WHY_MAX]; /* it went wrong; else empty */
};

struct bench_room {
	enum room_id room;
	char why[BENCH_WHY_MAX]; /* it is not to be had; else empty */
	uint64_t ready_us;
	struct room_memory memory;
	struct series series[BENCH_PROGRAMS];
};

struct figures_out {
	json_t *root; /* NULL: a table */
};

/* The share (of 100) of them that takes no longer; sorts them. n > 0. */
uint64_t series_percentile(struct series *series, unsigned share);

void bench_begin(struct figures_out *out, bool json);
void bench_row(struct figures_out *out, struct bench_room *room);

/* 0 or -errno: not all of it could be printed. */
int bench_end(struct figures_out *out);
void bench_drop(struct figures_out *out);

#endif
