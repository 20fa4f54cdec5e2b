/* world.h: what a guest finds when it wakes up: the file tree, its arguments
 * and its environment. The big files are mapped from the artifacts and shared
 * by all rooms of the machine.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_WORLD_H
#define WASM_WORLD_H

#include "base/err.h"
#include "wasm/memfs.h"
#include "wasm/wasi.h"

#include <stdbool.h>

/* The guest's side of the names. */
#define GUEST_STDLIB    "/usr/local/lib/python315.zip"
#define GUEST_MPLDATA   GUEST_STDLIB "/matplotlib/mpl-data"
#define GUEST_PACKAGES  "/usr/local/lib/python3.15/site-packages"
#define GUEST_WORKSPACE "/workspace" /* where a program starts */
#define GUEST_BUILD     "/build"     /* exists only while a snapshot is made */

struct world_options {
	const char *stdlib_path;
	const char *mpldata_path; /* NULL: matplotlib's data is not there yet */
	/* Packs of packages; NULL in a guest that is being prepared. */
	const char *shelf_path, *added_path;
	struct memfs_limits limits;
	bool building; /* with GUEST_BUILD */
};

/* 0 or -errno. The mappings last as long as the process. */
int world_new(const struct world_options *options, struct wasi **ret_wasi,
    struct err *err);

#endif
