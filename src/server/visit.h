/* visit.h: rooms that are opened one after another; in each, programs of our
 * own are run one at a time. What comes back is hostile all the same.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_VISIT_H
#define SERVER_VISIT_H

#include "base/err.h"
#include "call/call.h"
#include "call/wire.h"
#include "conf/artifacts.h"
#include "conf/conf.h"

#include <stdbool.h>
#include <stdint.h>

struct launcher;
struct visits;

/* Who asks. Its strings are borrowed until the next question. */
struct visitor {
	/* The next program, and how long to wait before it; NULL: that was all.
	 * The room is still open then. */
	const char *(*ask)(uint32_t *ret_pause_ms, void *data);
	/* What came of it, so long after it was handed over. False: enough. */
	bool (*answer)(const struct result *result, uint64_t us, void *data);
	void *data;
};

/* What else is known of a room that was visited. */
struct visited {
	uint64_t ready_us; /* from its start; 0: it was never ready */
	bool graded;
	struct wire_grade grade;
};

/* The loop of all visits, and a watch for signals. 0 or -errno. */
int visits_open(
    struct launcher *launcher, struct visits **ret_visits, struct err *err);

/* Opens the room whose own configuration conf is, runs what the visitor asks
 * for, and closes it. *ret_visited is filled in any case. 0; the number of the
 * signal (SIGINT, SIGTERM or SIGHUP) that ended it; -errno. */
int visit_room(struct visits *visits, const struct conf *conf,
    const struct artifacts *artifacts, const struct visitor *visitor,
    struct visited *ret_visited, struct err *err);

/* Why a call was refused: what its room said, without what led here. n is the
 * size of ret_why. */
void visit_refusal(const struct result *result, char *ret_why, size_t n);

/* NULL is fine. */
void visits_close(struct visits *visits);

#endif
