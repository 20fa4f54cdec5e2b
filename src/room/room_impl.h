/* room_impl.h: what the files of a room share: its state, and the steps
 * between them.
 *
 *            spawn               WARM
 *   DOWN ───────────▶ STARTING ───────▶ WARM
 *    ▲                  │  ▲              │
 *    └── channel lost ──┴──┼── FAILED ────┤
 *        (back-off)        └──────────────┘
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOM_ROOM_IMPL_H
#define ROOM_ROOM_IMPL_H

#include "room/room.h"

#include "call/channel.h"
#include "room/launcher.h"
#include "room/shares.h"

enum room_state {
	ROOM_DOWN,     /* no keeper: one is started after the back-off */
	ROOM_STARTING, /* a keeper, not yet warm */
	ROOM_WARM,
	ROOM_CLOSING,
};

struct room {
	uv_loop_t *loop;
	struct launcher *launcher;
	const struct conf *conf;
	const struct artifacts *artifacts;
	enum room_state state;
	struct channel channel;
	int keeper;       /* its pidfd; -1 without one */
	pid_t keeper_pid; /* for the launcher */
	bool graded;      /* a keeper has said what walls there are: */
	struct wire_grade grade;
	uint64_t warm_us; /* when it was last warm */
	bool served;      /* it has answered a call since then */
	unsigned losses;  /* of keepers that never got warm, in a row */
	uint32_t next_id;
	uint32_t restart_ms;
	struct err failure; /* code 0: none since it was last warm */
	uint64_t restarts;  /* keepers that were lost */
	uint64_t put_back;  /* calls that found no child and were kept */
	struct room_watcher watcher; /* its functions may be NULL */
	struct shares shares; /* what waits and what runs, by principal */
	struct tickets running, finished; /* what runs, once more: by age */
	uv_poll_t *poll;                  /* of the channel; NULL without one */
	int events;         /* that poll listens for; 0: none yet */
	uv_timer_t restart; /* of the back-off */
	uv_timer_t watch;   /* ticks while calls run: is a keeper stuck? */
	uv_timer_t again;   /* a pause after calls that found no child */
	uv_timer_t soon;    /* delivers what is finished */
	uv_timer_t peek;    /* ticks while output of a call is watched */
	unsigned handles;   /* still open while closing */
};

/* Who starts and ends its keepers. */
static inline struct launcher *
launcher_of(const struct room *room)
{
	return launcher_for(
	    room->launcher, room_id_has(room->conf->room, TRAIT_WORKER));
}

/* ---- keeper_link.c: the keeper's channel ---- */

/* Asks the launcher for a keeper and begins to listen to it. */
void room_spawn(struct room *room);

/* Sends queued calls as far as the concurrency allows. */
void room_advance(struct room *room);

/* Writes what waits, and listens for what can be done next. */
void room_listen(struct room *room);

/* Characters of a stream that a call's region holds. */
uint32_t room_region_chars(const struct room *room);

/* ---- output_watch.c ---- */

/* The beginning of a call whose output is watched; takes *fd. */
int room_begun(
    struct room *room, const struct frame *frame, int *fd, struct err *err);

/* ---- room.c ---- */

/* Moves a ticket to those that are delivered in the loop's next turn. */
void room_finish(struct room *room, struct ticket *ticket);

/* The keeper is lost: ends its calls and starts another one later. */
void room_lost(struct room *room, const struct err *err);

/* There will be no other keeper: every call is refused from now on. */
void room_ruined(struct room *room, const struct err *err);

/* A keeper or zygote is lost. After several that never got warm, calls are
 * refused instead of waiting for the next one, which is started all the
 * same. */
void room_count_loss(struct room *room, const struct err *err);

/* Refuses a call, because of room->failure. */
void room_refuse(struct room *room, struct ticket *ticket);

/* Refuses what waits, likewise. */
void room_refuse_queued(struct room *room);

#endif
