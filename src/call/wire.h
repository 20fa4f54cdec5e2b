/* wire.h: the frames between server, keeper, zygote and child. A frame is a
 * header and a payload; descriptors travel beside it. Both ends are always of
 * one build on one machine, so payloads are plain structs.
 *
 * Hostile input: a child chooses every byte that it sends. wire_next checks a
 * header against the table of frames before anything else is believed, and
 * wire_take checks the payload's size. Pure; fuzzed by fuzz_wire.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_WIRE_H
#define CALL_WIRE_H

#include "base/buf.h"
#include "base/err.h"
#include "conf/wall.h"

#include <stdbool.h>
#include <stdint.h>

enum frame_type {
	/* server -> keeper */
	FRAME_CONF = 1, /* struct wire_conf, mounts (conf/mount.h), each ended
			 * by NUL; the first frame of a channel */
	FRAME_CALL,     /* struct wire_call, the parts of its job */
	FRAME_CANCEL,   /* struct wire_cancel */
	FRAME_DROP,     /* struct wire_session: it is to end */

	/* keeper -> server; the first two also zygote -> keeper */
	FRAME_WARM,   /* no payload: the room runs calls from now on */
	FRAME_FAILED, /* struct err: it, or a child, could not be made ready */
	FRAME_RESULT, /* struct wire_result; the output region's descriptor */
	FRAME_GRADE,  /* struct wire_grade: once the walls are tried, before
		       * WARM; FAILED may come without it */
	FRAME_BEGUN,  /* struct wire_begun; the output region's descriptor: of
		       * a call that is watched */
	FRAME_ENDED,  /* struct wire_session: it is no more, and ran no call */

	/* keeper -> zygote */
	FRAME_FORK, /* struct wire_fork; socket, region, its group's procs */

	/* zygote -> keeper */
	FRAME_CHILD, /* struct wire_child; the child's pidfd */
	FRAME_EXIT,  /* struct wire_exit */

	/* keeper -> child */
	FRAME_HURRY,  /* no payload: somebody waits for this child */
	FRAME_JOB,    /* struct wire_job, its parts */
	FRAME_REGION, /* no payload; to a session, before each further JOB: the
		       * output region's descriptor */
	FRAME_BRANCH, /* no payload; to a session that waits: socket and region
		       * of its copy, which says READY there */

	/* child -> keeper; hostile */
	FRAME_READY,  /* no payload: waiting for a job */
	FRAME_WORKER, /* no payload, before READY; the pidfd of what is to be
		       * killed with the child */
	FRAME_DONE,   /* struct wire_done */
	FRAME_UNBORN, /* no payload: a session has no copy */

	FRAME_TYPES /* the number of values, not a frame */
};

#define WIRE_FDS_MAX 3 /* a fork's; no frame carries more */
#define WIRE_TAILS   4 /* a job's parts; no frame has more */

#define WALL_WHY_MAX 100u

struct wire_header {
	uint32_t n; /* bytes of payload */
	uint8_t type;
	uint8_t fds; /* descriptors that came with the frame */
	uint16_t zero;
};

struct wire_conf {
	uint64_t memory_bytes;
	uint64_t files_bytes;
	uint32_t files_count;
	uint32_t output_chars;
	uint32_t concurrency;
	uint32_t log_level;
	uint32_t take_files;    /* 1: a call's files go with its result */
	uint32_t sessions;      /* that may live at once */
	uint32_t ready;         /* children made while the room is idle */
	uint32_t deterministic; /* 1: clock and random bytes are fixed */
	wall_set allowed; /* walls that may be missing by the operator's word */
	uint32_t room;    /* enum room_id */
	/* Of a worker: its processes, thousandths of a processor, and whether
	 * its program may start others. */
	uint32_t processes, cpus_milli, allow_processes;
	char artifacts_dir[4096];
	/* Of the kinds that have a use for it; empty: the kind's own choice. */
	char python[512], root[512];
	char preload[1024]; /* modules, with commas */
	char engine[256], runtime[256], image[256];
	char deno[512], pyodide[512], pyodide_packages[512];
};

/* Which walls a room has. Each is in one of the first two sets, or concerns
 * another kind of room. */
struct wire_grade {
	wall_set raised, missing;
	wall_set required;    /* of its kind: the floor */
	wall_set allowed;     /* missing, and named by --allow-missing */
	int32_t landlock_abi; /* 0: none */
	char why[WALLS][WALL_WHY_MAX]; /* of a missing one */
};

/* The parts of a job, in this order, in bytes. */
struct wire_parts {
	uint32_t code_n;
	uint32_t stdin_n;
	uint32_t options_n;
	uint32_t files_n;
};

struct wire_call {
	uint32_t id;
	uint32_t wall_ms;
	uint32_t use; /* enum session_use */
	uint32_t session, origin;
	uint32_t watched; /* 1: BEGUN is wanted */
	struct wire_parts parts;
};

struct wire_cancel {
	uint32_t id;
};

struct wire_session {
	uint32_t session;
	char why[96]; /* of ENDED, NUL-terminated */
};

struct wire_begun {
	uint32_t id;
};

struct wire_result {
	uint32_t id;
	uint32_t outcome; /* enum outcome */
	int32_t exit_code;
	uint32_t never_ran; /* its child never began: the call may go again */
	uint32_t session_alive; /* it goes on, and holds: */
	uint64_t session_bytes;
	uint64_t queued_us; /* waiting in the keeper */
	uint64_t wall_us;
	uint64_t cpu_us;
	uint64_t memory_peak_bytes;
	char note[160]; /* a line for stderr; empty: none */
};

struct wire_fork {
	uint32_t child;
	uint32_t twin;    /* 1: it is to die at a forbidden call */
	uint32_t grouped; /* 1: the third descriptor is there to be joined; 0:
			   * it is a copy of the second */
	uint32_t session; /* 1: it may be told to stay and to branch */
};

struct wire_child {
	uint32_t child;
	int32_t pid; /* 0: the fork failed, no descriptor comes */
};

struct wire_exit {
	uint32_t child;
	int32_t status; /* as wait4 gives it */
	uint64_t cpu_us;
};

struct wire_job {
	struct wire_parts parts;
	uint32_t stay; /* 1: another job may come */
};

/* How a guest's turn ended. */
enum turn_end {
	TURN_RETURNED, /* with a status */
	TURN_EXITED,   /* proc_exit: os._exit and its like */
	TURN_TRAPPED,  /* the machine stopped it */
};

struct wire_done {
	uint32_t end; /* enum turn_end */
	int32_t status;
	uint32_t out_of_memory; /* trapped with the memory at its limit */
	uint32_t stays;         /* 1: it takes another job */
	uint32_t interrupted; /* 1: in its turn it was told to come to an end */
	uint32_t signal;      /* that killed the program; 0: none */
	uint64_t cpu_us;
	uint64_t memory_peak_bytes;
	uint64_t memory_bytes; /* now */
	char trap[96];         /* the reason of a trap, NUL-terminated */
};

/* A whole frame in a reader's buffer; borrowed from it. */
struct frame {
	enum frame_type type;
	unsigned fds;
	struct span payload;
};

/* Looks at the front of bytes. 1: *ret_frame is whole and *ret_n bytes long;
 * 0: more bytes are needed; -EPROTO: no frame may begin like this. allowed is
 * the set of types (1u << type) that this peer may send now. */
int wire_next(struct span bytes, uint32_t allowed, struct frame *ret_frame,
    size_t *ret_n, struct err *err);

/* Copies the fixed part of a payload, n bytes, into record, and leaves what
 * follows in *ret_rest (NULL: nothing may follow). 0 or -EPROTO. */
int wire_take(const struct frame *frame, void *record, size_t n,
    struct span *ret_rest, struct err *err);

/* Adds a frame whose payload is record and then the tails (of 0 bytes where
 * unused). 0, -ENOBUFS or -ENOMEM. */
int wire_put(struct buf *buf, enum frame_type type, const void *record,
    size_t n, const struct span tails[WIRE_TAILS]);

/* True if the parts are n bytes together. */
bool wire_parts_fit(const struct wire_parts *parts, size_t n);

/* The descriptors that a frame of this type carries. */
unsigned wire_fds(enum frame_type type);

#endif
