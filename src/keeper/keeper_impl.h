/* keeper_impl.h: what the files of the keeper's process share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_KEEPER_IMPL_H
#define KEEPER_KEEPER_IMPL_H

#include "keeper/keeper.h"

#include "call/call.h"
#include "call/channel.h"
#include "conf/limits.h"
#include "keeper/children.h"
#include "keeper/house.h"
#include "rooms/kind.h"

#include <stdbool.h>
#include <sys/types.h>

/* A zygote, and how far it has come:
 *
 *   NONE → WARMING ─WARM→ TWIN ─its twin died as it must→ WARM → OLD → NONE
 *
 * One is WARM, and forks; after many forks or much time the other place gets
 * its successor, and it stays OLD until its last call is over. */
enum nursery_state {
	NURSERY_NONE,
	NURSERY_WARMING,
	NURSERY_TWIN,
	NURSERY_WARM,
	NURSERY_OLD,
};

struct nursery {
	enum nursery_state state;
	struct channel channel;
	int pidfd;
	uint64_t since_us; /* when it was started, or was warm */
	unsigned forks;
	bool served; /* a child of it ran a call to its end */
};

#define NURSERIES 2u

struct keeper {
	struct wire_conf conf;
	const struct room_kind *kind;
	struct buf mounts; /* as they were written */
	struct granted granted;
	struct house house;
	struct channel server;
	int factory; /* the socket to it; -1: this kind has none */
	int nurse;   /* likewise */
	struct nursery nurseries[NURSERIES];
	uint64_t restart_us; /* when a zygote is started; 0: not waited for */
	uint32_t restart_ms; /* the next back-off */
	uint32_t next_number;
	uint64_t busy_us;        /* when a call last came or went */
	uint64_t spare_retry_us; /* after a child failed to get ready */
	uint32_t spare_wait_ms;  /* the next back-off of that kind */
	struct child *children[CHILDREN_MAX]; /* freed by keeper_tick */
	unsigned children_n;
};

/* ---- keeper_factory.c ---- */

/* Forks the factory of the kind, and waits for its word. 0 or -errno. */
int keeper_factory(struct keeper *keeper, struct err *err);

/* ---- keeper_calls.c: from a call to its result ---- */

/* Reads what the server sent: calls and cancellations. 0 or -errno. */
int keeper_on_server(struct keeper *keeper, struct err *err);

/* Reads what a child sent; a DONE sends the result of its call. */
int keeper_on_child(struct keeper *keeper, struct child *child);

/* The child is no more: sends the result of its call, if it has one. status
 * is as wait4 gave it, -1 if unknown. */
int keeper_child_gone(
    struct keeper *keeper, struct child *child, int status, uint64_t cpu_us);

/* Sends the result of its call, from what is known now. */
int keeper_child_answer(
    struct keeper *keeper, struct child *child, int status, uint64_t cpu_us);

/* Born, ready and proved: it waits for a job, or gets the one that waits for
 * it; a twin is told to do what it must not. */
void keeper_child_settle(struct keeper *keeper, struct child *child);

/* ---- keeper_births.c: what a child is made of ---- */

enum child_role {
	ROLE_CALL,    /* one call's */
	ROLE_TWIN,    /* of a zygote: it gets none */
	ROLE_SESSION, /* a session's first */
};

/* Asks the zygote for a child. NULL with err when that cannot be. */
struct child *keeper_child_new(struct keeper *keeper, struct nursery *nursery,
    enum child_role role, struct err *err);

/* Asks a session's child, which waits, for a copy of itself; likewise. */
struct child *keeper_child_branch(
    struct keeper *keeper, struct child *origin, struct err *err);

/* Gives a session's child a place for its next output. 0 or -errno. */
int keeper_child_region(
    struct keeper *keeper, struct child *child, struct err *err);

/* The child is to end, or has ended, for this reason. 0 or -errno: the server
 * is gone. */
int keeper_child_lost(
    struct keeper *keeper, struct child *child, enum child_end end);

/* Closes all that the child holds, its memory group too. */
void keeper_child_clear(struct keeper *keeper, struct child *child);

/* True if the child lives, or will, and has had no call yet. */
bool keeper_child_idle(const struct child *child);

/* ---- keeper_sessions.c: children that stay ---- */

/* The child of that session, if it waits for a job; else NULL. */
struct child *keeper_session(struct keeper *keeper, uint32_t session);

/* Tells the server that a session that waited is no more. */
int keeper_session_ended(struct keeper *keeper, const struct child *child);

/* The server wants a session to end. */
int keeper_on_drop(
    struct keeper *keeper, const struct frame *frame, struct err *err);

/* A copy has said READY: from then on it can be killed. */
void keeper_branch_born(struct child *child);

/* A session made no copy, or several. */
int keeper_unborn(struct keeper *keeper, struct child *origin);

/* A session did not make the copy that it was asked for. */
int keeper_branch_stuck(struct keeper *keeper, struct child *child);

/* ---- keeper_zygote.c: births and deaths ---- */

/* Reads what the zygote sent; its end leads to another one. */
int keeper_on_zygote(struct keeper *keeper, struct nursery *nursery);

/* ---- nursery.c: zygotes ---- */

/* The zygote that forks now; NULL: the room is not warm. */
struct nursery *nursery_current(struct keeper *keeper);

/* It says that it has loaded the room: its twin is asked for. */
int nursery_warm(struct keeper *keeper, struct nursery *nursery);

/* Its twin, proved or not, ended with this status: right, and the room is warm;
 * else the zygote is given up. 0 or -errno: the server is gone. */
int nursery_twin_gone(
    struct keeper *keeper, struct nursery *nursery, bool proved, int status);

/* Kills the zygote, if it still lives, and ends its children's calls; another
 * one is started after the back-off. 0 or -errno: the server is gone. */
int nursery_lost(struct keeper *keeper, struct nursery *nursery);

/* Starts, replaces and gives up zygotes whose time has come. *ret_next_us as
 * keeper_tick's. */
int nursery_tick(struct keeper *keeper, uint64_t now, uint64_t *ret_next_us);

/* ---- keeper_time.c: deadlines, spares, stuck processes ---- */

/* The earlier of two times; 0 is never. */
uint64_t time_earlier(uint64_t a, uint64_t b);

/* Does what is due: kills, spares, another zygote. *ret_next_us is when the
 * next thing will be, on the clock of clock_us(); 0: nothing is waited for.
 * 0 or -errno: the server is gone. */
int keeper_tick(struct keeper *keeper, uint64_t *ret_next_us);

/* Its room's name, for the log. */
const char *keeper_room(const struct keeper *keeper);

#endif
