/* test_int64.c: the table of changed bytes fits the pinned module and no
 * other. keeper/ is a program's, not a library's: it is compiled in here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/int64.c"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MODULE SOURCE_ROOT "/build/guest-files/" GUEST_WASM_NAME

struct module {
	uint8_t *bytes;
	size_t n;
};

/* Fresh pages for each test: what it writes is nobody else's. */
static int
setup(void **state)
{
	static struct module module;
	struct stat about;
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC);

	*state = NULL;
	if (fd < 0)
		return 0;
	assert_int_equal(fstat(fd, &about), 0);
	module.n = (size_t)about.st_size;
	module.bytes =
	    mmap(NULL, module.n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_true(module.bytes != MAP_FAILED);
	(void)close(fd);
	*state = &module;
	return 0;
}

static int
teardown(void **state)
{
	struct module *module = *state;

	return module ? munmap(module->bytes, module->n) : 0;
}

static struct module *
module_of(void **state)
{
	if (!*state) {
		print_message("%s is not there\n", MODULE);
		skip();
	}
	return *state;
}

static void
test_applies(void **state)
{
	struct module *module = module_of(state);
	struct err err = { 0 };
	size_t changed = 0;

	assert_int_equal(int64_apply(module->bytes, module->n, &err), 0);
	for (size_t i = 0; i < SITES; i++) {
		assert_memory_equal(module->bytes + sites[i].offset,
		    sites[i].becomes, sites[i].n);
		changed += sites[i].n;
	}
	assert_int_equal(changed, 23);
	/* A changed module is another module. */
	assert_int_equal(int64_apply(module->bytes, module->n, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "begins with b0ef26de0daa, not"));
}

/* The digest refuses one changed byte anywhere, and one that is missing. */
static void
test_another_module(void **state)
{
	struct module *module = module_of(state);
	uint8_t was[] = "\x07";
	struct err err = { 0 };

	module->bytes[module->n / 2] ^= 1;
	assert_int_equal(int64_apply(module->bytes, module->n, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "this is not the module"));
	assert_non_null(strstr(err.text, "not d41926055c3f"));
	module->bytes[module->n / 2] ^= 1;
	assert_int_equal(
	    int64_apply(module->bytes, module->n - 1, &err), -EBADMSG);
	for (size_t i = 0; i < SITES; i++)
		assert_memory_equal(
		    module->bytes + sites[i].offset, sites[i].was, sites[i].n);
	assert_int_equal(int64_apply(was, 0, &err), -EBADMSG);
}

/* Each site is looked at by itself, and its function is named. */
static void
test_each_site(void **state)
{
	struct module *module = module_of(state);
	struct err err = { 0 };

	assert_int_equal(check_sites(module->bytes, module->n, &err), 0);
	for (size_t i = 0; i < SITES; i++) {
		uint8_t *last =
		    module->bytes + sites[i].offset + sites[i].n - 1;

		*last ^= 0x20;
		assert_int_equal(
		    check_sites(module->bytes, module->n, &err), -EBADMSG);
		assert_non_null(strstr(err.text, sites[i].function));
		*last ^= 0x20;
	}
	assert_int_equal(
	    check_sites(module->bytes, sites[SITES - 1].offset, &err),
	    -EBADMSG);
	assert_int_equal(check_sites(module->bytes, 0, &err), -EBADMSG);
}

/* In the order of the file, apart, and each a change. */
static void
test_table(void **state)
{
	uint32_t end = 0;

	(void)state;
	for (size_t i = 0; i < SITES; i++) {
		assert_true(sites[i].offset >= end && sites[i].n > 0);
		assert_memory_not_equal(
		    sites[i].was, sites[i].becomes, sites[i].n);
		end = sites[i].offset + sites[i].n;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_applies, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_another_module, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_each_site, setup, teardown),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
