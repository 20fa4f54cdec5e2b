/* child_session.h: a child that stays, between two jobs: it waits for the next
 * one, and makes copies of itself.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_CHILD_SESSION_H
#define KEEPER_CHILD_SESSION_H

#include "base/buf.h"
#include "call/output.h"
#include "call/wire.h"
#include "keeper/child.h"

/* Exit statuses of a child, for the keeper's log. */
#define CHILD_SPENT 0
#define CHILD_LOST  1

/* Sends a frame to the keeper; ends the process if that is gone. */
void child_say(int fd, enum frame_type type, const void *record, size_t n);

/* Waits for a job, whose first bytes may be in bytes then, with *output the
 * place for what it prints. Returns true, in the child and in each copy that it
 * was told to make: a copy waits for a job of its own. */
bool session_wait(
    const struct child_start *start, struct buf *bytes, struct output **output);

#endif
