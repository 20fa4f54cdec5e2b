/* worker.h: the frames between a worker and its proxy. A frame is a header of
 * eight bytes (the payload's length, little-endian, in four; the type; three
 * zeroes) and the payload.
 *
 * Hostile input: the program in a worker's room may have taken the worker over,
 * and then chooses every byte. A payload is passed on in the pieces in which it
 * comes, so that nothing is held but what is said to be whole. Pure; fuzzed by
 * fuzz_worker.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_WORKER_H
#define ROOMS_WORKER_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define WORKER_HEADER 8u

enum worker_frame {
	/* to it: */
	WORKER_SETTINGS = 'S', /* JSON; the first */
	WORKER_CODE = 'C',     /* of a job; each may come in several pieces */
	WORKER_INPUT = 'I',
	WORKER_OPTIONS = 'O',
	WORKER_FILES = 'F',
	WORKER_GO = 'G',        /* u32: 1: another job may come */
	WORKER_INTERRUPT = 'K', /* the program is to come to an end */

	/* from its factory: */
	WORKER_PIDFD = 'p',   /* with a descriptor */
	WORKER_REFUSED = 'X', /* text: why there is none */

	/* from it: */
	WORKER_READY = 'R', /* JSON: what it is */
	WORKER_OUT = '1',
	WORKER_ERR = '2',
	WORKER_VALUE = 'V',
	WORKER_HINT = 'H',
	WORKER_IMAGE = 'P',     /* whole */
	WORKER_FILE = 'N',      /* u64: its size; its name */
	WORKER_FILE_DATA = 'D', /* the next piece of it */
	WORKER_END = 'E',       /* struct worker_end, 32 bytes */
};

enum worker_flag {
	WORKER_INTERRUPTED = 1,   /* the program was told to come to an end */
	WORKER_OUT_OF_MEMORY = 2, /* it was killed, and its group had no more */
};

struct worker_end {
	int32_t status;
	uint32_t signal; /* that killed the program; 0: none */
	uint32_t stays;
	uint32_t flags; /* of enum worker_flag */
	uint64_t cpu_us, memory_peak_bytes;
};

void worker_header(
    uint8_t header[WORKER_HEADER], enum worker_frame type, size_t n);

/* Who reads a worker's frames. */
struct worker_reader {
	/* A piece of a payload that may be cut anywhere: OUT, ERR, VALUE, HINT,
	 * FILE_DATA. */
	void (*piece)(void *arg, enum worker_frame type, struct span bytes);
	/* A whole payload: READY, REFUSED, PIDFD, IMAGE, FILE, END. */
	void (*whole)(void *arg, enum worker_frame type, struct span bytes);
	void *arg;

	uint8_t header[WORKER_HEADER];
	size_t header_n;
	size_t left;     /* of the payload */
	struct buf held; /* of a whole one */
};

void worker_reader_init(struct worker_reader *reader);
void worker_reader_done(struct worker_reader *reader);

/* Takes what came. 0; -EPROTO: no worker of ours says that; -ENOMEM. */
int worker_feed(
    struct worker_reader *reader, struct span bytes, struct err *err);

/* The record of an END's payload. False: it has another size. */
bool worker_end_read(struct span payload, struct worker_end *ret_end);

/* Size and name in a FILE's payload. False: it is too short. */
bool worker_file_read(
    struct span payload, uint64_t *ret_size, struct span *ret_name);

#endif
