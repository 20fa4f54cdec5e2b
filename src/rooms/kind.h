/* kind.h: what a back end is. One file in rooms/ implements one kind and ends
 * in one const table; rooms.def lists it. No protocol, no JSON, no loop here.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_KIND_H
#define ROOMS_KIND_H

#include "base/buf.h"
#include "base/err.h"
#include "call/output.h"
#include "call/wire.h"
#include "conf/room_id.h"
#include "conf/wall.h"
#include "rooms/factory.h"
#include "rooms/granted.h"

#include <stdbool.h>

/* What a child works with. */
struct room_job {
	struct span code;
	struct span stdin_bytes;
	struct span options; /* for the room's Python; empty: the defaults */
	struct span files;   /* given: see call/files_in.h */
	bool stay;           /* the interpreter is to go on for another job */
};

/* What a kind is like. */
enum room_flag {
	ROOM_WORKER = 1,   /* a child is the proxy of a worker: worker_kind.h */
	ROOM_OPERATOR = 2, /* its factory keeps the operator's rights */
	ROOM_SEND_SOURCE = 4,   /* the proxy sends a worker its Python source */
	ROOM_SEND_SETTINGS = 8, /* and what is to be loaded */
	/* Its factory starts a few at a time, and is told of each that has
	 * started: by a byte on its life. */
	ROOM_IN_TURN = 16,
};

struct room_kind {
	const char *name;
	enum room_id id;
	unsigned flags; /* of enum room_flag */

	/* Its floor: it is not offered where one of these is missing. All
	 * other walls are used where they can be had. */
	wall_set required;

	/* In the keeper, before its walls: what it will execute from the
	 * directory of artifacts is ours, for the server names that and may
	 * have been taken over. NULL: it executes nothing. 0 or -errno. */
	int (*check)(int artifacts_fd, struct err *err);

	/* Bytes of memory that a child at its limits may hold. */
	uint64_t (*child_bytes)(const struct wire_conf *conf, int artifacts_fd);

	/* ROOM_WORKER: the process that makes workers. It never returns. */
	void (*factory)(const struct factory_start *start);

	/* In the zygote: loads all that a call needs, so that a fork of the
	 * process can run it. *ret_state is for the functions below. */
	int (*warm)(const struct wire_conf *conf, const struct granted *granted,
	    void **ret_state, struct err *err);

	/* In a fresh child that may stay for several jobs, and be copied: before
	 * prepare. NULL: nothing is to be done. */
	void (*stay)(void *state);

	/* In a fresh child, while nobody waits: makes it ready for a call.
	 * Looks at hurry(arg) between steps and leaves off what can be left
	 * off as soon as it is true. 0 or -errno: the child is of no use. */
	int (*prepare)(void *state, struct output *output,
	    bool (*hurry)(void *arg), void *arg, struct err *err);

	/* In a prepared child: the pidfd of what is to be killed with it, which
	 * the caller then owns; -1: nothing. NULL: never anything. */
	int (*worker)(void *state);

	/* In a prepared child that waits for a job: the descriptor at whose end
	 * it is of no use any more. NULL: nothing happens meanwhile. */
	int (*watch)(void *state);

	/* In a prepared child: runs the job. Once, unless it says that it
	 * stays (then with an output of its own each time). */
	void (*run)(void *state, struct output *output,
	    const struct room_job *job, struct wire_done *ret_done);

	/* In a signal handler of a child that runs: its program is to come to
	 * an end by itself, if it can. */
	void (*interrupt)(void *state);
};

#define ROOM(kind) extern const struct room_kind room_##kind;
#include "rooms/rooms.def"
#undef ROOM

/* A hurry of prepare's for who has all the time: false. */
bool room_never_hurry(void *arg);

/* The kind, or NULL: this build does not have it. */
const struct room_kind *room_kind_of(enum room_id id);

#endif
