/* deno_cell.h: where a worker of the room deno runs: a root in memory that holds
 * Deno, the libraries that it is linked with, Pyodide, the runner, and nothing
 * else of the host; not even /proc.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_DENO_CELL_H
#define ROOMS_DENO_CELL_H

#include "base/err.h"
#include "rooms/factory.h"

#include <limits.h>
#include <stdbool.h>

#define DENO_LIBRARIES_MAX 16u

/* What is put into it; paths are the host's or begin at the factory's working
 * directory, and are empty where there is none. */
struct deno_parts {
	char deno[PATH_MAX], pyodide[PATH_MAX], snapshot[PATH_MAX],
	    packages[PATH_MAX];
	/* The first is the loader, at the place that Deno names. */
	char library[DENO_LIBRARIES_MAX][256];
	unsigned libraries;
};

/* Finds the parts, by the room's configuration or where they were installed; a
 * part that is absent is named. Executes Deno's loader. 0 or -errno. */
int deno_parts_find(const struct factory_start *start,
    struct deno_parts *ret_parts, struct err *err);

/* In the first process of a new namespace of process numbers: raises all walls
 * and becomes Deno, whose input and output are the stream. Returns only where
 * it cannot. */
void deno_cell_enter(const struct factory_start *start,
    const struct deno_parts *parts, const int ends[FACTORY_FDS],
    struct err *err);

#endif
