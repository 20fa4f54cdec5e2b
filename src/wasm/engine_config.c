/* engine_config.c: the engine's configuration, and its errors as ours.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/engine_config.h"

#include <errno.h>

wasm_engine_t *
engine_configure(size_t stack_bytes, bool parallel)
{
	wasm_config_t *config = wasm_config_new();

	if (!config)
		return NULL;
	/* The guest's setjmp and C++ use exceptions; the deadline is a kill
	 * from outside, so neither fuel nor epochs slow the loops. */
	wasmtime_config_wasm_exceptions_set(config, true);
	wasmtime_config_consume_fuel_set(config, false);
	wasmtime_config_epoch_interruption_set(config, false);
	wasmtime_config_native_unwind_info_set(config, false);
	wasmtime_config_cranelift_opt_level_set(
	    config, WASMTIME_OPT_LEVEL_SPEED);
	wasmtime_config_parallel_compilation_set(config, parallel);
	/* The async stack is never used, but must not be the smaller one. */
	wasmtime_config_async_stack_size_set(config, stack_bytes + MIB);
	wasmtime_config_max_wasm_stack_set(config, stack_bytes);
	return wasm_engine_new_with_config(config);
}

int
engine_fail(struct err *err, wasmtime_error_t *error, wasm_trap_t *trap,
    const char *what)
{
	wasm_byte_vec_t message = { 0 };

	if (error)
		wasmtime_error_message(error, &message);
	else if (trap)
		wasm_trap_message(trap, &message);
	(void)fail(err, EIO, "%s: %.*s", what, (int)message.size, message.data);
	wasm_byte_vec_delete(&message);
	if (error)
		wasmtime_error_delete(error);
	if (trap)
		wasm_trap_delete(trap);
	return -EIO;
}
