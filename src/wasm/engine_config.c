/* engine_config.c: the engine's configuration, and its errors as ours.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/engine_config.h"

#include "wasm/engine_versions.h"

#include <errno.h>

/* Parts of WebAssembly that the guest does not use: a module which does is
 * refused. Each is said here, whatever a version's default is: a proposal is
 * often switched on by an update, and most of the engine's faults were in
 * what few programs use. */
static void
features_off(wasm_config_t *config)
{
#ifdef WASMTIME_FEATURE_THREADS
	wasmtime_config_wasm_threads_set(config, false);
#endif
	wasmtime_config_shared_memory_set(config, false);
	wasmtime_config_wasm_tail_call_set(config, false);
	wasmtime_config_wasm_function_references_set(config, false);
	wasmtime_config_wasm_gc_set(config, false);
	wasmtime_config_wasm_relaxed_simd_set(config, false);
	wasmtime_config_wasm_multi_memory_set(config, false);
	wasmtime_config_wasm_memory64_set(config, false);
	wasmtime_config_wasm_wide_arithmetic_set(config, false);
	wasmtime_config_wasm_custom_page_sizes_set(config, false);
	wasmtime_config_wasm_stack_switching_set(config, false);
	wasmtime_config_wasm_branch_hinting_set(config, false);
#ifdef WASMTIME_FEATURE_COMPONENT_MODEL
	wasmtime_config_wasm_component_model_set(config, false);
#endif
#ifdef WASMTIME_FEATURE_COMPONENT_MODEL_ASYNC
	wasmtime_config_wasm_component_model_async_set(config, false);
	wasmtime_config_concurrency_support_set(config, false);
#endif
}

/* What the guest is made of: LLVM's target features of python.wasm, and
 * setjmp and C++ by exceptions, whose references need the engine's "GC"
 * types (the proposal of that name is off). */
static void
features_on(wasm_config_t *config)
{
	wasmtime_config_gc_support_set(config, true);
	wasmtime_config_wasm_exceptions_set(config, true);
	wasmtime_config_wasm_reference_types_set(config, true);
	wasmtime_config_wasm_simd_set(config, true);
	wasmtime_config_wasm_bulk_memory_set(config, true);
	wasmtime_config_wasm_multi_value_set(config, true);
}

/* The one compiler that had no escape on x86-64, and nothing that watches
 * the code: the deadline is a kill from outside, so neither fuel nor epochs
 * slow the loops. */
static void
compiler_set(wasm_config_t *config, bool parallel)
{
	wasmtime_config_strategy_set(config, WASMTIME_STRATEGY_CRANELIFT);
	wasmtime_config_cranelift_opt_level_set(
	    config, WASMTIME_OPT_LEVEL_SPEED);
	wasmtime_config_cranelift_debug_verifier_set(config, false);
	wasmtime_config_cranelift_nan_canonicalization_set(config, false);
	wasmtime_config_consume_fuel_set(config, false);
	wasmtime_config_epoch_interruption_set(config, false);
	wasmtime_config_debug_info_set(config, false);
	wasmtime_config_profiler_set(config, WASMTIME_PROFILING_STRATEGY_NONE);
	wasmtime_config_native_unwind_info_set(config, false);
#ifdef WASMTIME_FEATURE_PARALLEL_COMPILATION
	wasmtime_config_parallel_compilation_set(config, parallel);
#else
	(void)parallel;
#endif
}

wasm_config_t *
engine_config_new(size_t stack_bytes, bool parallel)
{
	wasm_config_t *config = wasm_config_new();

	if (!config)
		return NULL;
	features_off(config);
	features_on(config);
	compiler_set(config, parallel);
	/* Every address that 32 bits can say is reserved, and a guard behind
	 * it: bounds are kept by the processor, and the memory never moves. */
	wasmtime_config_memory_reservation_set(config, ENGINE_RESERVATION);
	wasmtime_config_memory_guard_size_set(config, ENGINE_GUARD);
	wasmtime_config_memory_may_move_set(config, false);
	wasmtime_config_signals_based_traps_set(config, true);
	/* The async stack is never used, but must not be the smaller one. */
	wasmtime_config_async_stack_size_set(config, stack_bytes + MIB);
	wasmtime_config_max_wasm_stack_set(config, stack_bytes);
	return config;
}

int
engine_configure(size_t stack_bytes, bool parallel, wasm_engine_t **ret_engine,
    struct err *err)
{
	int r = engine_version_check(WASMTIME_VERSION, err);
	wasm_config_t *config;
	wasm_engine_t *engine;

	if (r < 0)
		return r;
	config = engine_config_new(stack_bytes, parallel);
	engine = config ? wasm_engine_new_with_config(config) : NULL;
	if (!engine)
		return fail(err, ENOMEM, "set up the engine");
	*ret_engine = engine;
	return 0;
}

void
engine_limit(wasmtime_store_t *store, uint64_t memory_max)
{
	wasmtime_store_limiter(
	    store, (int64_t)memory_max, ENGINE_TABLE_MAX, 1, 1, 1);
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
