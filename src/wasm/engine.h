/* engine.h: Wasmtime, the machine that runs the guest. Everything else here
 * is engine-neutral; this is the only module that sees its C API. Nothing is
 * switched on that the guest does not use: no fuel, no epochs, no threads, no
 * component model. Only engine_compile makes threads, and only it compiles.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_ENGINE_H
#define WASM_ENGINE_H

#include "base/buf.h"
#include "base/err.h"
#include "call/wire.h"
#include "wasm/guest.h"
#include "wasm/wasi.h"

#include <stddef.h>
#include <stdint.h>

struct engine;

struct engine_options {
	const char *module_path; /* from engine_compile */
	uint64_t memory_max;     /* of the linear memory, bytes */
	size_t stack_bytes;      /* of compiled code; see stack_setup */
	struct wasi *wasi;       /* borrowed: the guest's world */
};

/* How a turn went. */
struct turn {
	enum turn_end end;
	int status;         /* returned, or given to proc_exit */
	bool out_of_memory; /* trapped while the memory was at its limit */
	char trap[96];      /* why it trapped; empty if it did not */
};

/* Compiles the guest ahead of time; takes half a minute and 2 GB. 0 or
 * -errno. The calling process has threads afterwards: end it. */
int engine_compile(struct span wasm, const char *module_path, struct err *err);

/* Maps the compiled guest and instantiates it. 0 or -errno. */
int engine_open(const struct engine_options *options,
    struct engine **ret_engine, struct err *err);

/* Runs the guest's constructors: on a new memory only, never on a restored
 * one. */
int engine_start(struct engine *engine, struct err *err);

/* Runs Python source in the guest's interpreter. */
void engine_turn(
    struct engine *engine, struct span source, struct turn *ret_turn);

/* The linear memory as it is now; its base never moves. */
struct guest_mem engine_memory(struct engine *engine);

/* Makes the memory at least so large. 0 or -errno. */
int engine_memory_grow(struct engine *engine, uint64_t bytes, struct err *err);

#endif
