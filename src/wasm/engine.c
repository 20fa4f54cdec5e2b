/* engine.c: an instance of the guest, and turns in it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/engine.h"

#include "conf/limits.h"
#include "wasm/engine_config.h"
#include "wasm/imports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUEST_IMPORTS_MAX 64u    /* the guest has 42 */
#define GUEST_PAGE        65536u /* of WebAssembly's memory */

struct binding { /* what a called import needs to know */
	struct engine *engine;
	const struct import *import;
	size_t arity;
	bool has_result;
};

struct engine {
	struct wasi *wasi;
	wasm_engine_t *engine;
	wasmtime_module_t *module;
	wasmtime_store_t *store;
	wasmtime_context_t *context;
	wasmtime_linker_t *linker;
	wasmtime_memory_t memory;
	wasmtime_func_t turn, host_alloc;
	wasmtime_instance_t instance;
	uint64_t memory_max;
	struct binding bindings[GUEST_IMPORTS_MAX];
};

struct guest_mem
engine_memory(struct engine *engine)
{
	return (struct guest_mem){
		.base = wasmtime_memory_data(engine->context, &engine->memory),
		.size =
		    wasmtime_memory_data_size(engine->context, &engine->memory),
	};
}

/* ---- imports ---- */

static wasm_trap_t *
import_called(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *values,
    size_t values_n)
{
	const struct binding *binding = env;
	struct engine *engine = binding->engine;
	struct import_args args = { 0 };
	uint32_t result, code;

	(void)caller;
	(void)values_n;
	for (size_t i = 0; i < binding->arity; i++)
		args.slot[i] = binding->import->signature[i] == 'j'
				   ? (uint64_t)values[i].i64
				   : (uint32_t)values[i].i32;
	wasi_set_memory(engine->wasi, engine_memory(engine));
	result = binding->import->call(engine->wasi, &args);
	if (binding->has_result)
		values[0].i32 = (int32_t)result;
	else if (wasi_exited(engine->wasi, &code))
		return wasmtime_trap_new("exit", 4); /* unwinds the guest */
	return NULL;
}

static struct span
name_span(const wasm_name_t *name)
{
	return (struct span){ (const uint8_t *)name->data, name->size };
}

static int
import_define(struct engine *engine, size_t index,
    const wasm_importtype_t *type, struct err *err)
{
	const wasm_name_t *module = wasm_importtype_module(type);
	const wasm_name_t *name = wasm_importtype_name(type);
	const wasm_functype_t *function =
	    wasm_externtype_as_functype_const(wasm_importtype_type(type));
	struct binding *binding = &engine->bindings[index];
	wasmtime_error_t *error;

	*binding = (struct binding){ .engine = engine,
		.import = import_find(name_span(module), name_span(name)) };
	if (!binding->import || !function)
		return fail(err, ENOSYS, "the guest wants an unknown %.*s",
		    (int)name->size, name->data);
	binding->arity = import_arity(binding->import);
	binding->has_result = wasm_functype_results(function)->size == 1;
	if (wasm_functype_params(function)->size != binding->arity)
		return fail(err, ENOSYS, "the guest wants another %.*s",
		    (int)name->size, name->data);
	error = wasmtime_linker_define_func_unchecked(engine->linker,
	    module->data, module->size, name->data, name->size, function,
	    import_called, binding, NULL);
	return error ? engine_fail(err, error, NULL, "define an import") : 0;
}

static int
imports_define(struct engine *engine, struct err *err)
{
	wasm_importtype_vec_t types;
	int r = 0;

	wasmtime_module_imports(engine->module, &types);
	if (types.size > GUEST_IMPORTS_MAX)
		r = fail(err, ENOSYS, "the guest has %zu imports", types.size);
	for (size_t i = 0; i < types.size && r == 0; i++)
		r = import_define(engine, i, types.data[i], err);
	wasm_importtype_vec_delete(&types);
	return r;
}

/* ---- opening ---- */

static int
export_get(struct engine *engine, const char *name, wasmtime_extern_kind_t kind,
    wasmtime_extern_t *ret_export, struct err *err)
{
	if (!wasmtime_instance_export_get(engine->context, &engine->instance,
		name, strlen(name), ret_export) ||
	    ret_export->kind != kind)
		return fail(err, ENOSYS, "the guest has no export %s", name);
	return 0;
}

static int
exports_get(struct engine *engine, struct err *err)
{
	wasmtime_extern_t found;
	int r =
	    export_get(engine, "memory", WASMTIME_EXTERN_MEMORY, &found, err);

	if (r < 0)
		return r;
	engine->memory = found.of.memory;
	r = export_get(engine, "turn", WASMTIME_EXTERN_FUNC, &found, err);
	if (r < 0)
		return r;
	engine->turn = found.of.func;
	r = export_get(engine, "host_alloc", WASMTIME_EXTERN_FUNC, &found, err);
	if (r == 0)
		engine->host_alloc = found.of.func;
	return r;
}

static int
instantiate(struct engine *engine, struct err *err)
{
	wasm_trap_t *trap = NULL;
	wasmtime_error_t *error = wasmtime_linker_instantiate(engine->linker,
	    engine->context, engine->module, &engine->instance, &trap);

	if (error || trap)
		return engine_fail(err, error, trap, "instantiate the guest");
	return exports_get(engine, err);
}

static int
open_module(struct engine *engine, const struct engine_options *options,
    struct err *err)
{
	wasmtime_error_t *error;
	int r =
	    engine_configure(options->stack_bytes, false, &engine->engine, err);

	if (r < 0)
		return r;
	error = wasmtime_module_deserialize_file(
	    engine->engine, options->module_path, &engine->module);
	if (error)
		return engine_fail(err, error, NULL, options->module_path);
	engine->store = wasmtime_store_new(engine->engine, NULL, NULL);
	engine->linker = wasmtime_linker_new(engine->engine);
	if (!engine->store || !engine->linker)
		return fail(err, ENOMEM, "set up the engine's store");
	engine->context = wasmtime_store_context(engine->store);
	engine_limit(engine->store, options->memory_max);
	return 0;
}

int
engine_open(const struct engine_options *options, struct engine **ret_engine,
    struct err *err)
{
	/* Lives as long as the process: a room is never closed, only left. */
	struct engine *engine = calloc(1, sizeof(*engine));
	int r;

	if (!engine)
		return fail(err, ENOMEM, "set up the engine");
	engine->wasi = options->wasi;
	engine->memory_max = options->memory_max;
	r = open_module(engine, options, err);
	if (r == 0)
		r = imports_define(engine, err);
	if (r == 0)
		r = instantiate(engine, err);
	if (r == 0)
		*ret_engine = engine;
	return r;
}

int
engine_memory_grow(struct engine *engine, uint64_t bytes, struct err *err)
{
	struct guest_mem before = engine_memory(engine);
	wasmtime_error_t *error;
	uint64_t old;

	if (bytes <= before.size)
		return 0;
	error = wasmtime_memory_grow(engine->context, &engine->memory,
	    (bytes - before.size + GUEST_PAGE - 1) / GUEST_PAGE, &old);
	if (error)
		return engine_fail(err, error, NULL, "grow the guest's memory");
	if (engine_memory(engine).base != before.base)
		BUG("the guest's memory moved");
	return 0;
}

/* ---- calling ---- */

/* The last line of a message that has any. */
static struct span
last_line(const wasm_byte_vec_t *message)
{
	size_t end = message->size, start;

	while (end > 0 && message->data[end - 1] <= ' ')
		end--;
	start = end;
	while (start > 0 && message->data[start - 1] != '\n')
		start--;
	return (
	    struct span){ (const uint8_t *)message->data + start, end - start };
}

/* A trap's message is a backtrace; its last line is the reason, after a
 * number and "wasm trap:". */
static void
trap_reason(wasmtime_error_t *error, wasm_trap_t *trap, struct turn *turn)
{
	static const char prefix[] = "wasm trap: ";
	wasm_byte_vec_t message = { 0 };
	struct span line;
	const uint8_t *reason;

	if (trap)
		wasm_trap_message(trap, &message);
	else
		wasmtime_error_message(error, &message);
	line = last_line(&message);
	reason = memmem(line.p, line.n, prefix, sizeof(prefix) - 1);
	if (reason) {
		line.n -= (size_t)(reason - line.p) + sizeof(prefix) - 1;
		line.p = reason + sizeof(prefix) - 1;
	}
	(void)snprintf(turn->trap, sizeof(turn->trap), "%.*s", (int)line.n,
	    (const char *)line.p);
	wasm_byte_vec_delete(&message);
}

static bool
memory_is_full(struct engine *engine)
{
	/* A guest that ignored a failed allocation is within one growth. */
	return engine_memory(engine).size + 16u * MIB > engine->memory_max;
}

/* Calls a function of the guest; true if it returned. */
static bool
guest_call(struct engine *engine, const wasmtime_func_t *function,
    wasmtime_val_raw_t *values, size_t n, struct turn *turn)
{
	wasm_trap_t *trap = NULL;
	wasmtime_error_t *error = wasmtime_func_call_unchecked(
	    engine->context, function, values, n, &trap);
	uint32_t code;

	if (!error && !trap)
		return true;
	if (wasi_exited(engine->wasi, &code)) {
		turn->end = TURN_EXITED;
		turn->status = (int)(code & 0xff); /* as a process's */
	} else {
		turn->end = TURN_TRAPPED;
		turn->out_of_memory = memory_is_full(engine);
		trap_reason(error, trap, turn);
	}
	if (error)
		wasmtime_error_delete(error);
	if (trap)
		wasm_trap_delete(trap);
	return false;
}

int
engine_start(struct engine *engine, struct err *err)
{
	wasmtime_extern_t found;
	wasmtime_val_raw_t none[1] = { 0 };
	struct turn turn = { 0 };
	int r = export_get(
	    engine, "_initialize", WASMTIME_EXTERN_FUNC, &found, err);

	if (r < 0)
		return r;
	if (!guest_call(engine, &found.of.func, none, 1, &turn))
		return fail(err, EIO, "start the guest: %s", turn.trap);
	return 0;
}

void
engine_turn(struct engine *engine, struct span source, struct turn *ret_turn)
{
	wasmtime_val_raw_t values[2] = { 0 };
	struct guest_ptr place;
	struct guest_mem mem;
	uint8_t *bytes;

	*ret_turn = (struct turn){ .end = TURN_RETURNED };
	values[0].i32 = (int32_t)source.n;
	if (!guest_call(engine, &engine->host_alloc, values, 2, ret_turn))
		return;
	place = (struct guest_ptr){ (uint32_t)values[0].i32 };
	mem = engine_memory(engine);
	bytes = guest_at(&mem, place, source.n);
	if (place.off && bytes)
		memcpy(bytes, source.p, source.n);
	else
		place.off = 0; /* the guest raises MemoryError for it */
	values[0].i32 = (int32_t)place.off;
	values[1].i32 = (int32_t)source.n;
	if (guest_call(engine, &engine->turn, values, 2, ret_turn))
		ret_turn->status = values[0].i32;
}
