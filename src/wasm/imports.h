/* imports.h: what the guest may call, as one table. The engine finds a
 * function by module and name, compares the signature and adapts; nothing
 * here knows the engine, so tests and fuzzers call the same table.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_IMPORTS_H
#define WASM_IMPORTS_H

#include "wasm/wasi.h"

#include <stddef.h>
#include <stdint.h>

#define IMPORT_ARGS_MAX 9 /* path_open has the most */

/* One slot per parameter, an i32 with zeros above it. */
struct import_args {
	uint64_t slot[IMPORT_ARGS_MAX];
};

struct import {
	const char *module;
	const char *name;
	const char *signature; /* i: i32, j: i64; "iij->i", "i->" */
	/* The result for the guest, if the signature has one: an errno, or
	 * for host.call -1. After proc_exit the guest must not go on: look at
	 * wasi_exited when the signature has no result. */
	uint32_t (*call)(struct wasi *wasi, const struct import_args *args);
};

extern const struct import imports[];
extern const size_t imports_count;

/* NULL if there is no such function. */
const struct import *import_find(struct span module, struct span name);

/* How many parameters the signature has. */
size_t import_arity(const struct import *import);

#endif
