/* op.h: what a stand-in for a broken guest can do: named operations, each a
 * few raw system calls or pointer writes. A program for it is a text of lines,
 * "NAME ARGUMENT...", done one after the other.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MUTATE_OP_H
#define MUTATE_OP_H

#include "call/output.h"
#include "rooms/kind.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OP_WORDS_MAX 8u
#define OP_CHILD_FD  3 /* a child's socket to its keeper */

struct op_run {
	const char *words[OP_WORDS_MAX]; /* its name and its arguments */
	unsigned words_n;
	struct output *output;
	char said[512]; /* what it found out; empty: nothing */
};

struct op {
	const char *name;
	unsigned words_min; /* its name counts */
	/* 0: it could be done; -errno: it could not. */
	int (*run)(struct op_run *run);
};

/* One system call with these arguments, as a shell-code would make it: for
 * operations that are no more than that. */
struct op_call {
	const char *name;
	long number;
	long args[6];
};

extern const struct op ops_files[], ops_sockets[], ops_processes[],
    ops_memory[], ops_frames[]; /* each ends with a NULL name */
extern const struct op_call op_calls[];

/* An argument as a number, 0 where there is none. */
long op_number(const struct op_run *run, unsigned word);

/* What a system call gave as the result of an operation. */
#define OP_RESULT(call)              \
	({                           \
		long r_ = (call);    \
		r_ < 0 ? -errno : 0; \
	})

/* Adds to run->said. */
void op_say(struct op_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Ways in which this keeper differs from the real one, by the words on its
 * command line. */
struct mutation {
	uint32_t off;    /* walls that are not raised */
	uint32_t lies;   /* walls that are said to be, and are not */
	bool early_done; /* a child speaks before it is ready */
	bool two_tasks;  /* a child has another thread */
	bool twin_lives; /* a twin makes no forbidden call */
};
extern struct mutation mutation;

/* The kind of room that stands in the place of kind, with its floor. */
struct room_kind hostile_for(const struct room_kind *kind);

#endif
