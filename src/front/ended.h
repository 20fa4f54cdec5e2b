/* ended.h: sessions that were ended while their ids are still valid. When
 * there are too many to remember, all that are as old count as ended.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_ENDED_H
#define FRONT_ENDED_H

#include "front/session_id.h"

#include <stdbool.h>
#include <stdint.h>

struct ended;

struct ended *ended_new(void); /* NULL without memory */
void ended_free(struct ended *ended);

void ended_add(
    struct ended *ended, const struct session_id *id, int64_t wall_s);

/* True if it was ended, or may have been. */
bool ended_has(const struct ended *ended, const struct session_id *id);

#endif
