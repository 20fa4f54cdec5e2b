/* test_interrupt.c: finding the words of an interpreter, and writing them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/interrupt.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A guest of 17 MiB whose interpreter is laid out like this: */
#define BYTES       (17u << 20)
#define RUNTIME     16777280u /* the table begins it */
#define INTERPRETER 16785408u
#define THREAD      16793600u
#define EXCEPTION   16800000u

#define FIRST_INTERPRETER 924u
#define FIRST_THREAD      3696u
#define THREAD_ID         108u

static struct guest_mem mem;

static void
put_u32(uint32_t at, uint32_t value)
{
	assert_true(guest_put_u32(&mem, (struct guest_ptr){ at }, value));
}

static uint32_t
get_u32(uint32_t at)
{
	uint32_t value = 0;

	assert_true(guest_get_u32(&mem, (struct guest_ptr){ at }, &value));
	return value;
}

static void
table_put(unsigned word, uint64_t value)
{
	assert_true(guest_put_u64(
	    &mem, (struct guest_ptr){ RUNTIME + 8 * word }, value));
}

static int
set_up(void **state)
{
	(void)state;
	mem = (struct guest_mem){ calloc(1, BYTES), BYTES };
	assert_non_null(mem.base);
	memcpy(mem.base + RUNTIME, "xdebugpy", 8);
	table_put(5, FIRST_INTERPRETER);
	table_put(9, FIRST_THREAD);
	table_put(30, THREAD_ID);
	put_u32(RUNTIME + FIRST_INTERPRETER, INTERPRETER);
	put_u32(INTERPRETER + FIRST_THREAD, THREAD);
	put_u32(THREAD + 8, INTERPRETER);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	free(mem.base);
	return 0;
}

static void
is_found_and_raised(void **state)
{
	struct interrupt at;
	struct err err;

	(void)state;
	assert_int_equal(interrupt_find(&mem, EXCEPTION, &at, &err), 0);
	assert_int_equal(at.breaker, THREAD + 12);
	assert_int_equal(at.async_exc, THREAD + 104);
	put_u32(at.breaker, 0x41); /* other flags stay */
	interrupt_raise(&mem, &at);
	assert_int_equal(get_u32(at.breaker), 0x49);
	assert_int_equal(get_u32(at.async_exc), EXCEPTION);
	interrupt_clear(&mem, &at);
	assert_int_equal(get_u32(at.breaker), 0x41);
	assert_int_equal(get_u32(at.async_exc), 0);
}

/* Another build of CPython: nothing may be written where something else is. */
static void
is_not_found_elsewhere(void **state)
{
	static const struct {
		uint32_t at, value;
	} other[] = {
		{ RUNTIME, 0 },                         /* no table */
		{ RUNTIME + 8 * 30, 0 },                /* no offset */
		{ RUNTIME + 8 * 9 + 4, 1 },             /* a huge one */
		{ RUNTIME + FIRST_INTERPRETER, BYTES }, /* outside */
		{ RUNTIME + FIRST_INTERPRETER, ~0u },
		{ INTERPRETER + FIRST_THREAD, BYTES - 8 }, /* cut off */
		{ THREAD + 8, INTERPRETER + 4 },           /* another's */
		{ THREAD + 12, 8 },                        /* not at rest */
		{ THREAD + 104, 4 },
	};
	struct interrupt at;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		uint32_t before = get_u32(other[i].at);

		put_u32(other[i].at, other[i].value);
		assert_int_equal(
		    interrupt_find(&mem, EXCEPTION, &at, &err), -ENOENT);
		put_u32(other[i].at, before);
	}
	assert_int_equal(interrupt_find(&mem, BYTES, &at, &err), -ENOENT);
	assert_int_equal(interrupt_find(&mem, 4, &at, &err), -ENOENT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    is_found_and_raised, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    is_not_found_elsewhere, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
