/* call.h: the types that travel: a call on its way in, a result on its way
 * out. One owner at a time: the front's message becomes a call, the room owns
 * the call until it hands call and result to call->done, exactly once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_CALL_H
#define CALL_CALL_H

#include "base/buf.h"
#include "base/random_id.h"
#include "call/files.h"
#include "call/principal.h"
#include "conf/limits.h"
#include "conf/wall.h"

#include <stdbool.h>
#include <stdint.h>

/* What happened to a call: part of the interface, listed in the man page. */
enum outcome {
	OUTCOME_OK,        /* exit code 0 */
	OUTCOME_RAISED,    /* an uncaught exception, or a non-zero exit code */
	OUTCOME_TIMEOUT,   /* ended at its wall-time limit */
	OUTCOME_MEMORY,    /* the room's memory limit ended it */
	OUTCOME_KILLED,    /* cancelled, crashed, or killed from outside */
	OUTCOME_ROOM_LOST, /* the room died under it */
	OUTCOME_REFUSED,   /* never ran: a limit of the server, or no room */
};

#define OUTCOMES (OUTCOME_REFUSED + 1)

/* Why a refused call may well be taken a little later. */
enum busy {
	BUSY_NOT,    /* it would be refused again */
	BUSY_CALLER, /* whoever it is for has all that they may have */
	BUSY_SERVER, /* all of them together have */
};

/* "ok", "raised", "timeout", ...: the word in results and logs. */
const char *outcome_name(enum outcome outcome);

/* What a call has to do with a session: an interpreter that goes on. */
enum session_use {
	SESSION_NONE,   /* a fresh one, which ends with the call */
	SESSION_NEW,    /* a fresh one, which stays */
	SESSION_GO_ON,  /* that of an earlier call */
	SESSION_BRANCH, /* a copy of that, as it stands */
};

struct result;

struct call {
	uint32_t id; /* chosen by the room at room_submit */
	struct buf code;
	struct buf stdin_bytes;
	struct buf options; /* a JSON object for the room's Python; empty: the
			     * defaults */
	struct buf files;   /* given to the program: see files_in.h */
	enum session_use use;
	char session_id[RANDOM_ID_SIZE]; /* GO_ON: whose; BRANCH: of what */
	uint32_t session; /* its number towards the keeper; 0: none */
	uint32_t origin;  /* SESSION_BRANCH: whose copy */
	struct principal *principal; /* held; NULL: the only one */
	uint32_t wall_ms;            /* from the hand-over of the code */
	uint64_t submitted_us;       /* clock_us() at room_submit */
	void (*done)(struct call *call, struct result *result);
	/* NULL: what it prints is told at its end alone. Else also while it
	 * runs, new text as it appears; never within room_submit. */
	void (*on_output)(struct call *call, bool err, struct span text);
	void *owner; /* for the one who set these */
};

/* One output stream: valid UTF-8, with a mark where it was cut. */
struct stream {
	struct buf text;
	uint64_t total_chars; /* written in all; claimed by the child */
	uint32_t kept_chars;  /* of more, the middle was cut out */
	size_t note_n;        /* bytes at the end that the room added */
	bool cut;
	bool ended; /* by the room: it might have become longer */
};

struct usage {
	uint64_t queued_us; /* waiting for a child */
	uint64_t wall_us;   /* from the hand-over of the code to the result */
	uint64_t cpu_us;    /* of a killed child: its whole life, or 0 */
	uint64_t memory_peak_bytes; /* taken beyond the snapshot, files too */
};

struct result {
	enum outcome outcome;
	enum busy busy; /* of a refused one */
	int exit_code;  /* the program's own; -1 after a time-out or a kill */
	bool timed_out;
	struct stream out, err;
	struct stream value;     /* of the last expression */
	struct stream hints;     /* a line each: what to do instead */
	struct file_list files;  /* that the program left in /workspace */
	struct file_list images; /* that it showed: PNG, by the child's word */
	char session[RANDOM_ID_SIZE]; /* goes on with it; empty: none */
	bool session_alive;           /* the session that it ran in goes on */
	uint64_t session_bytes;       /* that holds so much */
	struct usage usage;
	wall_set walls_missing; /* of the room that ran it */
	wall_set walls_allowed; /* those of them that the operator named */
};

/* An empty call with the default limits, for nobody in particular. NULL
 * without memory. */
struct call *call_new(void);
void call_free(struct call *call);

/* Adds a line of the room's own behind what the program wrote; nothing if note
 * is empty. */
void stream_note(struct stream *stream, const char *note);

void result_init(struct result *result);
void result_done(struct result *result);

#endif
