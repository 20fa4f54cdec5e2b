/* test_engine_config.c: the engine's configuration, by what it does: a module
 * that uses a part of WebAssembly which the guest does not use is refused,
 * and it is our switch that refuses it: with that one turned on, all others
 * left, the same bytes are taken.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/engine_config.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STACK ((size_t)1u * MIB)

/* The pieces of modules by hand. FUNC is a module with one function of the
 * type ()->(); n is the length of its body with the count of locals (none)
 * and the end, below 60. */
#define MAGIC "\0asm\1\0\0\0"
#define TYPE  "\1\4\1\x60\0\0"
#define FUNC(n, body)         \
	MAGIC TYPE "\3\2\1\0" \
		   "\xa" LENGTH(n, 2) "\1" LENGTH(n, 0) "\0" body "\xb"
#define LENGTH(n, more) LENGTH_##n##_##more
#define LENGTH_4_0      "\4"
#define LENGTH_4_2      "\6"
#define LENGTH_5_0      "\5"
#define LENGTH_5_2      "\7"
#define LENGTH_6_0      "\6"
#define LENGTH_6_2      "\10"
#define LENGTH_14_0     "\16"
#define LENGTH_14_2     "\20"

struct bytes {
	const char *p;
	size_t n;
};
#define BYTES(text)                    \
	{                              \
		text, sizeof(text) - 1 \
	}

/* ---- switches ---- */

#ifdef WASMTIME_FEATURE_THREADS
static void
threads(wasm_config_t *config)
{
	wasmtime_config_wasm_threads_set(config, true);
	wasmtime_config_shared_memory_set(config, true);
}
#else
#define threads NULL
#endif

static void
tail_call(wasm_config_t *config)
{
	wasmtime_config_wasm_tail_call_set(config, true);
}

static void
function_references(wasm_config_t *config)
{
	wasmtime_config_wasm_function_references_set(config, true);
}

static void
garbage(wasm_config_t *config)
{
	function_references(config); /* it is built on them */
	wasmtime_config_wasm_gc_set(config, true);
}

static void
relaxed_simd(wasm_config_t *config)
{
	wasmtime_config_wasm_relaxed_simd_set(config, true);
}

static void
multi_memory(wasm_config_t *config)
{
	wasmtime_config_wasm_multi_memory_set(config, true);
}

static void
memory64(wasm_config_t *config)
{
	wasmtime_config_wasm_memory64_set(config, true);
}

static void
wide_arithmetic(wasm_config_t *config)
{
	wasmtime_config_wasm_wide_arithmetic_set(config, true);
}

static void
page_sizes(wasm_config_t *config)
{
	wasmtime_config_wasm_custom_page_sizes_set(config, true);
}

static void
stack_switching(wasm_config_t *config)
{
	function_references(config); /* it is built on them */
	wasmtime_config_wasm_stack_switching_set(config, true);
}

/* ---- modules ---- */

static const struct feature {
	const char *name;
	struct bytes module;
	/* NULL: nothing turns it on in this engine */
	void (*turn_on)(wasm_config_t *config);
} refused[] = {
	{ "tail calls", BYTES(FUNC(4, "\x12\0")), tail_call },
	/* a parameter of the type (ref 0) */
	{ "function references", BYTES(MAGIC "\1\x9\2\x60\0\0\x60\1\x64\0\0"),
	    function_references },
	{ "GC: a struct", BYTES(MAGIC "\1\3\1\x5f\0"), garbage },
	{ "GC: anyref", BYTES(MAGIC "\1\5\1\x60\1\x6e\0"), garbage },
	/* two splats, i8x16.relaxed_swizzle, drop */
	{ "relaxed SIMD",
	    BYTES(FUNC(14, "\x41\0\xfd\xf\x41\0\xfd\xf\xfd\x80\2\x1a")),
	    relaxed_simd },
	{ "two memories", BYTES(MAGIC "\5\5\2\0\1\0\1"), multi_memory },
	{ "64-bit memory", BYTES(MAGIC "\5\3\1\4\1"), memory64 },
	{ "64-bit table", BYTES(MAGIC "\4\4\1\x70\4\1"), memory64 },
	/* four zeros, i64.add128, two drops */
	{ "wide arithmetic",
	    BYTES(FUNC(14, "\x42\0\x42\0\x42\0\x42\0\xfc\x13\x1a\x1a")),
	    wide_arithmetic },
	/* pages of one byte */
	{ "page sizes", BYTES(MAGIC "\5\4\1\10\1\0"), page_sizes },
	/* a type of continuations */
	{ "stack switching", BYTES(MAGIC "\1\6\2\x60\0\0\x5d\0"),
	    stack_switching },
	{ "shared memory", BYTES(MAGIC "\5\4\1\3\1\1"), threads },
	{ "atomics", BYTES(FUNC(5, "\xfe\3\0")), threads },
	/* try, catch_all */
	{ "old exceptions", BYTES(FUNC(6, "\6\x40\x19\xb")), NULL },
	{ "a component", BYTES("\0asm\xd\0\1\0"), NULL },
};

/* What the guest is made of. */
static const struct feature taken[] = {
	{ "a function", BYTES(FUNC(4, "\1\1")), NULL },
	/* try_table without a catch; Winch, the other compiler, has none */
	{ "exceptions", BYTES(FUNC(6, "\x1f\x40\0\xb")), NULL },
	{ "an exception's tag", BYTES(MAGIC TYPE "\xd\3\1\0\0"), NULL },
	{ "exnref", BYTES(MAGIC "\1\5\1\x60\1\x69\0"), NULL },
	/* i32.const 0, i8x16.splat, drop */
	{ "SIMD", BYTES(FUNC(14, "\x41\0\xfd\xf\x1a\1\1\1\1\1\1\1")), NULL },
	{ "several results", BYTES(MAGIC "\1\6\1\x60\0\2\x7f\x7f"), NULL },
	/* a global of 1 + 2 */
	{ "extended constants", BYTES(MAGIC "\6\x9\1\x7f\0\x41\1\x41\2\x6a\xb"),
	    NULL },
	/* a memory; three zeros, memory.fill */
	{ "bulk memory",
	    BYTES(MAGIC TYPE "\3\2\1\0\5\3\1\0\1"
			     "\xa\xd\1\xb\0\x41\0\x41\0\x41\0\xfc\xb\0\xb"),
	    NULL },
};

/* Compiles the module under our settings, changed by turn_on. */
static bool
compiles(const struct feature *feature, void (*turn_on)(wasm_config_t *config))
{
	wasm_config_t *config = engine_config_new(STACK, false);
	wasmtime_module_t *module = NULL;
	wasmtime_error_t *error;
	wasm_engine_t *engine;

	assert_non_null(config);
	if (turn_on)
		turn_on(config);
	engine = wasm_engine_new_with_config(config);
	assert_non_null(engine);
	error = wasmtime_module_new(engine, (const uint8_t *)feature->module.p,
	    feature->module.n, &module);
	if (error)
		wasmtime_error_delete(error);
	else
		wasmtime_module_delete(module);
	wasm_engine_delete(engine);
	return !error;
}

static void
test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		const struct feature *feature = &refused[i];

		if (compiles(feature, NULL))
			fail_msg("%s: on", feature->name);
		if (feature->turn_on && !compiles(feature, feature->turn_on))
			fail_msg(
			    "%s: this module proves nothing", feature->name);
	}
}

static void
test_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (!compiles(&taken[i], NULL))
			fail_msg("%s: off", taken[i].name);
}

/* ---- what watches the code ---- */

/* A store with an instance of a module that exports the function "f", made
 * under our settings, changed by turn_on. */
struct machine {
	wasm_engine_t *engine;
	wasmtime_store_t *store;
	wasmtime_context_t *context;
};

static void
machine_open(struct machine *machine, void (*turn_on)(wasm_config_t *config))
{
	wasm_config_t *config = engine_config_new(STACK, false);

	assert_non_null(config);
	if (turn_on)
		turn_on(config);
	machine->engine = wasm_engine_new_with_config(config);
	assert_non_null(machine->engine);
	machine->store = wasmtime_store_new(machine->engine, NULL, NULL);
	assert_non_null(machine->store);
	machine->context = wasmtime_store_context(machine->store);
}

static void
machine_close(struct machine *machine)
{
	wasmtime_store_delete(machine->store);
	wasm_engine_delete(machine->engine);
}

/* True if the engine made an instance of the module; its start function, if
 * any, has run. */
static bool
instantiates(const struct machine *machine, struct bytes bytes)
{
	wasmtime_instance_t instance;
	wasmtime_module_t *module;
	wasm_trap_t *trap = NULL;
	wasmtime_error_t *error = wasmtime_module_new(
	    machine->engine, (const uint8_t *)bytes.p, bytes.n, &module);

	assert_null(error);
	error = wasmtime_instance_new(
	    machine->context, module, NULL, 0, &instance, &trap);
	wasmtime_module_delete(module);
	if (error)
		wasmtime_error_delete(error);
	if (trap)
		wasm_trap_delete(trap);
	return !error && !trap;
}

/* The function starts by itself: fuel and epochs are asked at its entry. */
static const struct bytes starts =
    BYTES(MAGIC TYPE "\3\2\1\0\x8\1\0\xa\6\1\4\0\1\1\xb");

static void
fuel(wasm_config_t *config)
{
	wasmtime_config_consume_fuel_set(config, true);
}

static void
epochs(wasm_config_t *config)
{
	wasmtime_config_epoch_interruption_set(config, true);
}

static void
test_fuel(void **state)
{
	struct machine machine;
	wasmtime_error_t *error;

	(void)state;
	machine_open(&machine, NULL);
	error = wasmtime_context_set_fuel(machine.context, 0);
	assert_non_null(error); /* there is none to set */
	wasmtime_error_delete(error);
	assert_true(instantiates(&machine, starts));
	machine_close(&machine);
	machine_open(&machine, fuel);
	assert_null(wasmtime_context_set_fuel(machine.context, 0));
	assert_false(instantiates(&machine, starts));
	machine_close(&machine);
}

static void
test_epochs(void **state)
{
	struct machine machine;

	(void)state;
	machine_open(&machine, NULL);
	wasmtime_engine_increment_epoch(machine.engine);
	assert_true(instantiates(&machine, starts));
	machine_close(&machine);
	machine_open(&machine, epochs);
	wasmtime_engine_increment_epoch(machine.engine);
	assert_false(instantiates(&machine, starts));
	machine_close(&machine);
}

/* ---- what is in the compiled code ---- */

static void
debug_info(wasm_config_t *config)
{
	wasmtime_config_debug_info_set(config, true);
}

static void
unwind_info(wasm_config_t *config)
{
	wasmtime_config_native_unwind_info_set(config, true);
}

static bool
compiled_has(const char *section, void (*turn_on)(wasm_config_t *config))
{
	struct machine machine;
	wasmtime_module_t *module;
	wasm_byte_vec_t code;
	bool found;

	machine_open(&machine, turn_on);
	assert_null(wasmtime_module_new(
	    machine.engine, (const uint8_t *)starts.p, starts.n, &module));
	assert_null(wasmtime_module_serialize(module, &code));
	found = memmem(code.data, code.size, section, strlen(section) + 1);
	wasm_byte_vec_delete(&code);
	wasmtime_module_delete(module);
	machine_close(&machine);
	return found;
}

static void
test_compiled(void **state)
{
	(void)state;
	assert_false(compiled_has(".debug_info", NULL));
	assert_true(compiled_has(".debug_info", debug_info));
	assert_false(compiled_has(".eh_frame", NULL));
	assert_true(compiled_has(".eh_frame", unwind_info));
}

static void
memory_moves(wasm_config_t *config)
{
	wasmtime_config_memory_may_move_set(config, true);
}

static void
no_signals(wasm_config_t *config)
{
	wasmtime_config_signals_based_traps_set(config, false);
}

/* Whether an engine of our settings, changed by turn_on, takes what one of
 * our settings compiled. */
static bool
loads(void (*turn_on)(wasm_config_t *config))
{
	struct machine ours, other;
	wasmtime_module_t *module;
	wasmtime_error_t *error;
	wasm_byte_vec_t code;

	machine_open(&ours, NULL);
	assert_null(wasmtime_module_new(
	    ours.engine, (const uint8_t *)starts.p, starts.n, &module));
	assert_null(wasmtime_module_serialize(module, &code));
	wasmtime_module_delete(module);
	machine_open(&other, turn_on);
	error = wasmtime_module_deserialize(
	    other.engine, (const uint8_t *)code.data, code.size, &module);
	if (error)
		wasmtime_error_delete(error);
	else
		wasmtime_module_delete(module);
	wasm_byte_vec_delete(&code);
	machine_close(&other);
	machine_close(&ours);
	return !error;
}

/* What no module can ask for shows in what is refused when it is loaded. */
static void
test_loads(void **state)
{
	(void)state;
	assert_true(loads(NULL));
	assert_false(loads(memory_moves));
	assert_false(loads(no_signals));
}

static unsigned
tasks(void)
{
	DIR *folder = opendir("/proc/self/task");
	unsigned n = 0;

	assert_non_null(folder);
	while (readdir(folder))
		n++;
	(void)closedir(folder);
	return n - 2;
}

/* The zygote forks: no thread may be left of its engine. */
static void
test_threads(void **state)
{
	unsigned before = tasks();

	(void)state;
	assert_true(compiles(&taken[0], NULL));
	assert_int_equal(tasks(), before);
}

/* ---- the store's limits ---- */

static void
check_limit(const char *name, struct bytes fits, struct bytes too_much)
{
	struct machine machine;

	machine_open(&machine, NULL);
	engine_limit(machine.store, 2u * MIB);
	if (instantiates(&machine, too_much))
		fail_msg("%s: no limit", name);
	machine_close(&machine);
	machine_open(&machine, NULL);
	engine_limit(machine.store, 2u * MIB);
	if (!instantiates(&machine, fits))
		fail_msg("%s: what fits is refused", name);
	machine_close(&machine);
}

static void
test_limits(void **state)
{
	/* pages of 64 KiB: 32 are 2 MiB */
	static const struct bytes memory = BYTES(MAGIC "\5\3\1\0\x20");
	static const struct bytes memory_big = BYTES(MAGIC "\5\3\1\0\x21");
	/* 65,536 and one more */
	static const struct bytes table = BYTES(MAGIC "\4\6\1\x70\0\x80\x80\4");
	static const struct bytes table_big =
	    BYTES(MAGIC "\4\6\1\x70\0\x81\x80\4");
	static const struct bytes tables =
	    BYTES(MAGIC "\4\7\2\x70\0\1\x70\0\1");
	static const struct bytes nothing = BYTES(MAGIC);
	struct machine machine;

	(void)state;
	check_limit("memory", memory, memory_big);
	check_limit("table", table, table_big);
	check_limit("tables", table, tables);
	machine_open(&machine, NULL);
	engine_limit(machine.store, 2u * MIB);
	assert_true(instantiates(&machine, nothing));
	assert_false(instantiates(&machine, nothing));
	machine_close(&machine);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_fuel),
		cmocka_unit_test(test_epochs),
		cmocka_unit_test(test_compiled),
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
