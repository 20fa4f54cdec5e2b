/* ended_sessions.h: why the last sessions ended, for those who go on with
 * one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOM_ENDED_SESSIONS_H
#define ROOM_ENDED_SESSIONS_H

#include "base/random_id.h"
#include "call/principal.h"

#include <stdbool.h>
#include <stdint.h>

#define SESSION_WHY_SIZE 112u

/* One that ended; empty: a place that was never used. */
struct ended_session {
	char id[RANDOM_ID_SIZE];
	bool owned; /* by somebody; else by the only one */
	uint8_t owner[PRINCIPAL_ID_SIZE];
	char why[SESSION_WHY_SIZE];
};

/* The newest take the place of the oldest. */
struct ended_sessions {
	struct ended_session *list;
	unsigned next;
};

/* False without memory. */
bool ended_sessions_init(struct ended_sessions *ended);
void ended_sessions_done(struct ended_sessions *ended);

void ended_sessions_add(struct ended_sessions *ended,
    const char id[RANDOM_ID_SIZE], const struct principal *principal,
    const char *why);

/* Why this principal's session of that id ended; NULL: nothing is known of
 * such a one. */
const char *ended_sessions_why(const struct ended_sessions *ended,
    const char *id, const struct principal *principal);

#endif
