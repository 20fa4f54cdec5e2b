/* engine_config.h: the engine's configuration, one for compiling and running:
 * code made under another one is refused by the engine when it is loaded.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_ENGINE_CONFIG_H
#define WASM_ENGINE_CONFIG_H

#include "base/err.h"
#include "conf/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wasmtime.h>

#define ENGINE_STACK_MAX ((size_t)64u * MIB)

/* A 32-bit memory is reserved whole; the guard is Wasmtime's own default,
 * said here so that it cannot shrink. */
#define ENGINE_RESERVATION ((uint64_t)4096u * MIB)
#define ENGINE_GUARD       ((uint64_t)32u * MIB)

/* The guest's one table has 47,157 functions and never grows. */
#define ENGINE_TABLE_MAX 65536

/* Our settings; stack_bytes bounds the compiled code's stack. parallel:
 * compile with threads. The caller owns it. NULL without memory. */
wasm_config_t *engine_config_new(size_t stack_bytes, bool parallel);

/* An engine with these settings, if this Wasmtime has no known fault. 0 or
 * -errno. */
int engine_configure(size_t stack_bytes, bool parallel,
    wasm_engine_t **ret_engine, struct err *err);

/* Bounds what a store may hold: one instance with one memory and one table,
 * both within what the guest needs. */
void engine_limit(wasmtime_store_t *store, uint64_t memory_max);

/* Fills err from what Wasmtime gave (either may be NULL), frees both, and
 * returns -EIO. */
int engine_fail(struct err *err, wasmtime_error_t *error, wasm_trap_t *trap,
    const char *what);

#endif
