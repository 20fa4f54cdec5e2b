/* bench_memory.h: what the processes of a room hold, by /proc.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_BENCH_MEMORY_H
#define SERVER_BENCH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct room_memory {
	unsigned processes;
	uint64_t bytes; /* of pages that several share, each has its part */
	bool shared;    /* ... or, where that is not told, each has all */
};

/* The present moment, as the kernel counts starts of processes. */
uint64_t memory_moment(void);

/* Adds up what those hold that have started since, and descend from this
 * process. elsewhere: or that an engine started for it, with our name in their
 * arguments, and their descendants. */
void memory_look(
    uint64_t since, bool elsewhere, struct room_memory *ret_memory);

#endif
