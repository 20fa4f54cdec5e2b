/* test_machine.c: what is read out of the kernel's text files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/own.h"
#include "conf/machine.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char text[] = "MemTotal:       100 kB\n"
			   "MemAvailableX:  7 kB\n"
			   "MemAvailable:   24000 kB\n"
			   "MemAvailable:   9 kB\n"
			   "model name\t: Some CPU: fast\n"
			   "flags no colon\n"
			   "empty:\n"
			   "huge: 99999999999999999999999\n"
			   "word: twelve\n";

static int
setup(void **state)
{
	char *path = strdup("/tmp/breakroom-test-XXXXXX");
	own_fd int fd = -1;

	assert_non_null(path);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, sizeof(text) - 1), 0);
	*state = path;
	return 0;
}

static int
teardown(void **state)
{
	int r = unlink(*state);

	free(*state);
	return r;
}

static void
test_fields(void **state)
{
	char value[32] = "kept";

	assert_int_equal(machine_field(*state, "flags", value, 32), -ENOENT);
	assert_int_equal(machine_field(*state, "Mem", value, 32), -ENOENT);
	assert_int_equal(
	    machine_field("/nonexistent", "x", value, 32), -ENOENT);
	assert_string_equal(value, "kept");
	assert_int_equal(machine_field(*state, "model name", value, 32), 0);
	assert_string_equal(value, "Some CPU: fast");
	assert_int_equal(machine_field(*state, "model name", value, 5), 0);
	assert_string_equal(value, "Some");
	assert_int_equal(machine_field(*state, "empty", value, 32), 0);
	assert_string_equal(value, "");
}

static void
test_numbers(void **state)
{
	uint64_t number = 5;

	assert_int_equal(machine_number(*state, "word", &number), -EINVAL);
	assert_int_equal(machine_number(*state, "empty", &number), -EINVAL);
	assert_int_equal(machine_number(*state, "huge", &number), -EINVAL);
	assert_int_equal(machine_number(*state, "absent", &number), -ENOENT);
	assert_int_equal(number, 5);
	assert_int_equal(machine_number(*state, "MemAvailable", &number), 0);
	assert_int_equal(number, 24000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
	};

	return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
