/* sse.h: the text of a stream of events (text/event-stream). Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_SSE_H
#define FRONT_SSE_H

#include "base/buf.h"

/* What keeps a silent stream alive: no event. */
#define SSE_COMMENT ":\n\n"

/* What an event costs beside its message and id. */
#define SSE_EVENT_COST 40u

/* Adds one event that carries message, which has no line end in it; id may be
 * NULL. 0; -ENOBUFS; -ENOMEM. */
int sse_message(struct buf *buf, const char *id, struct span message);

/* Adds an event without data, whose id a client that comes back names; it is
 * told to wait so many milliseconds before that. */
int sse_prime(struct buf *buf, const char *id, unsigned retry_ms);

#endif
