/* ended_sessions.c: a ring of reasons.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/ended_sessions.h"

#include "conf/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
ended_sessions_init(struct ended_sessions *ended)
{
	ended->next = 0;
	ended->list = calloc(ROOM_SESSIONS_ENDED_MAX, sizeof(*ended->list));
	return ended->list != NULL;
}

void
ended_sessions_done(struct ended_sessions *ended)
{
	free(ended->list);
	ended->list = NULL;
}

void
ended_sessions_add(struct ended_sessions *ended, const char id[RANDOM_ID_SIZE],
    const struct principal *principal, const char *why)
{
	struct ended_session *one = &ended->list[ended->next];

	ended->next = (ended->next + 1) % ROOM_SESSIONS_ENDED_MAX;
	*one = (struct ended_session){ .owned = principal != NULL };
	(void)snprintf(one->id, sizeof(one->id), "%s", id);
	(void)snprintf(one->why, sizeof(one->why), "%s", why);
	if (principal)
		memcpy(one->owner, principal->id, sizeof(one->owner));
}

static bool
is_owner(const struct ended_session *one, const struct principal *principal)
{
	return principal ? one->owned && memcmp(one->owner, principal->id,
					     sizeof(one->owner)) == 0
			 : !one->owned;
}

const char *
ended_sessions_why(const struct ended_sessions *ended, const char *id,
    const struct principal *principal)
{
	for (unsigned i = 0; i < ROOM_SESSIONS_ENDED_MAX; i++) {
		const struct ended_session *one = &ended->list[i];

		if (one->id[0] && is_owner(one, principal) &&
		    strcmp(one->id, id) == 0)
			return one->why;
	}
	return NULL;
}
