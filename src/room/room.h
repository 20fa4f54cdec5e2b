/* room.h: the server's view of a room: a warm, walled place which runs calls,
 * each in a child of its own. It queues what exceeds the room's concurrency,
 * and has the launcher replace a keeper that died.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOM_ROOM_H
#define ROOM_ROOM_H

#include "base/err.h"
#include "call/call.h"
#include "call/wire.h"
#include "conf/artifacts.h"
#include "conf/conf.h"

#include <stdbool.h>
#include <uv.h>

struct room;
struct launcher;

/* Opens a room on the loop; its keeper starts at once and calls may be
 * submitted at once. Borrows conf, artifacts and launcher until room_close's
 * callback. 0 or -errno. */
int room_open(uv_loop_t *loop, struct launcher *launcher,
    const struct conf *conf, const struct artifacts *artifacts,
    struct room **ret_room, struct err *err);

/* Takes the call and gives it an id, unless it has one. Its result reaches
 * call->done exactly once, whatever happens to the room, never from within
 * room_submit; done then owns the call (call_free) and borrows the result until
 * it returns. 0; -ENOMEM: the call is still the caller's. */
int room_submit(struct room *room, struct call *call);

/* An id for a call that is submitted later; who asks for it also sets the
 * call's submitted_us, from when on it waits. */
uint32_t room_next_id(struct room *room);

/* Whether there is a place for one more call of principal to wait, where more
 * of them wait elsewhere: some are its own, all are everybody's. */
enum busy room_busy(const struct room *room, const struct principal *principal,
    unsigned own, unsigned all);

/* Ends the call with this id, if it is still queued or running: its done
 * comes soon, with OUTCOME_KILLED. Unknown ids are ignored. */
void room_cancel(struct room *room, uint32_t id);

/* Who is told of sessions that end without a call in them. */
struct room_watcher {
	void (*ended)(void *arg, uint32_t session, const char *why);
	/* All of them, with the keeper; before the results of its calls. */
	void (*lost)(void *arg);
	void *arg;
};

/* Copies watcher; NULL: nobody. */
void room_watch_sessions(struct room *room, const struct room_watcher *watcher);

/* Ends a session, which no call uses or will use. */
void room_drop_session(struct room *room, uint32_t session);

/* True once a keeper has said that its zygote is warm. */
bool room_ready(const struct room *room);

/* A room in figures. */
struct room_stats {
	unsigned queued, running;
	unsigned principals; /* that have a call here */
	bool ready;
	uint64_t restarts; /* keepers that were lost */
	uint64_t again;    /* calls that found no child and were kept */
};

void room_stats(const struct room *room, struct room_stats *ret_stats);

/* What walls the room has; NULL until its keeper has said so. */
const struct wire_grade *room_grade(const struct room *room);

/* Ends all calls (done is called for each), stops the keeper, closes every
 * handle on the loop and frees the room. */
void room_close(struct room *room);

#endif
