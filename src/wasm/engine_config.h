/* engine_config.h: the engine's configuration, one for compiling and running:
 * code made under another one is refused by the engine when it is loaded.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_ENGINE_CONFIG_H
#define WASM_ENGINE_CONFIG_H

#include "base/err.h"
#include "conf/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <wasmtime.h>

#define ENGINE_STACK_MAX ((size_t)64u * MIB)

/* An engine with our settings; stack_bytes bounds the compiled code's stack.
 * parallel: compile with threads. NULL without memory. */
wasm_engine_t *engine_configure(size_t stack_bytes, bool parallel);

/* Fills err from what Wasmtime gave (either may be NULL), frees both, and
 * returns -EIO. */
int engine_fail(struct err *err, wasmtime_error_t *error, wasm_trap_t *trap,
    const char *what);

#endif
