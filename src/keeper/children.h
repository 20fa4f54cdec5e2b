/* children.h: the keeper's table of children, and what each is doing.
 *
 *   FREE ─fork asked→ FORKING ─pidfd→ WARMING ─READY, proof→ SPARE ─job→ SPARE
 *                                                DONE │    │ deadline, cancel
 *                                                     ▼    ▼
 *                                                 SPENT ─→ DYING → FREE
 *
 * A session's child goes from DONE to HELD, and from there with another job to
 * SPARE again. A copy of one (branch) is FORKING until it says READY itself:
 * its zygote reaps it, and knows nothing of it.
 *
 * A call may choose a child that is not ready: that is told to hurry, skips
 * the preparations that only save time, and gets the job once it is proved.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_CHILDREN_H
#define KEEPER_CHILDREN_H

#include "base/err.h"
#include "call/channel.h"
#include "conf/limits.h"

#include <stdbool.h>
#include <stdint.h>

enum child_state {
	CHILD_FREE,
	CHILD_FORKING, /* asked of the zygote, no pidfd yet */
	CHILD_WARMING, /* preparing */
	CHILD_SPARE,   /* waiting for a job */
	CHILD_HELD,    /* a session's, between two jobs */
	CHILD_SPENT,   /* its result is sent; held for a moment */
	CHILD_DYING,   /* killed, not yet reaped */
};

/* Why a child was killed. */
enum child_end {
	END_NONE,
	END_DEADLINE,
	END_CANCEL,
	END_BREACH,   /* it said what no child of ours says */
	END_FAILED,   /* it could not be made ready */
	END_LOST,     /* its zygote is gone */
	END_UNPROVED, /* its walls were not as they must be */
};

struct nursery;

struct child {
	enum child_state state;
	uint32_t number;  /* its name towards the zygote; never reused */
	int pidfd;        /* -1 until the zygote tells */
	int worker_pidfd; /* of its worker; -1: none, or not known yet */
	int region_fd;    /* the output region; -1 once handed to the server */
	int slot;         /* its memory group; -1: none */
	struct nursery *nursery; /* whose child it is */
	bool twin;               /* it gets no call */
	uint32_t session;        /* that it is; 0: none */
	bool branch;             /* a copy of a session's child */
	uint32_t origin;         /* the session of that one */
	struct channel channel;
	enum child_end end;
	uint64_t since_us;     /* when it was asked for */
	uint64_t start_max_us; /* then it is stuck */

	bool has_call; /* has one, or waits with one: then these are valid */
	uint32_t call, wall_ms;
	bool watched; /* the server reads its output while it runs */
	uint64_t arrived_us;
	uint64_t started_us, deadline_us; /* 0: the job is not handed over */
	uint64_t interrupt_us; /* when it is told to come to an end */
	bool interrupted;      /* it was told */
	struct buf job;        /* its bytes, until it is handed over */
	struct wire_parts parts;

	uint64_t
	    yield_us;    /* running for so long, it is to let others go first */
	bool ready_seen; /* READY may overtake the zygote's word of its birth */
	bool proved;     /* its walls have been looked at */
	bool out_of_memory; /* the kernel killed it for that */
	char why[96];       /* END_UNPROVED: what was wrong */
	unsigned copies;    /* of a session: asked for */
	unsigned unborn;    /* and not made, by its word */
	bool done_seen;
	struct wire_done done;
	uint64_t release_us; /* SPENT: when to kill it; DYING with a call:
			      * when to answer without its exit */
};

/* Kills the child, if it lives; its reaping comes later. */
void child_kill(struct child *child, enum child_end end);

/* Another call has come: if this one has run for long, its child is told to let
 * others go first; again after twice the time, should it have been idle. */
void child_yield(struct child *child, uint64_t now_us);

/* Its time is nearly up: its program is told to come to an end, and again a
 * little later, should it go on. */
void child_interrupt(struct child *child, uint64_t now_us);

/* Makes it FREE; it holds nothing yet. */
void child_init(struct child *child);

/* Closes all it holds and makes it FREE. */
void child_clear(struct child *child);

/* Reads what the child sent: READY is noted, DONE is kept in child->done. 0;
 * -EPIPE at its end; -EPROTO and others: a breach. */
int child_read(struct child *child, struct err *err);

/* The result of its call, from what is known now; status is as wait4 gave it
 * or -1 if unknown. */
void child_result(const struct child *child, int status, uint64_t cpu_us,
    struct wire_result *ret_result);

#endif
