/* test_package_list.c: lists of wheels, and what may be asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/own.h"
#include "conf/package_list.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SUM "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define GOOD                                                      \
	"breakroom packages 1\na 1.0 " SUM " asked\nb-c 2+x " SUM \
	" needed\nend\n"

static int
setup(void **state)
{
	*state = calloc(1, sizeof(struct package_list));
	assert_non_null(*state);
	return 0;
}

static int
teardown(void **state)
{
	free(*state);
	return 0;
}

static void
test_there_and_back(void **state)
{
	struct package_list *list = *state;
	own_buf struct buf text = { .max = 4096 };

	assert_int_equal(package_list_parse(span_of(GOOD), list, NULL), 0);
	assert_int_equal(list->n, 2);
	assert_true(list->all[0].asked);
	assert_false(list->all[1].asked);
	assert_string_equal(list->all[1].version, "2+x");
	assert_int_equal(package_list_format(list, &text), 0);
	assert_true(span_is(buf_span(&text), GOOD));
}

static void
test_no_lists(void **state)
{
	static const char *const texts[] = { "", "end\n",
		"breakroom packages 2\nend\n", "breakroom packages 1\n",
		"breakroom packages 1\nend", "breakroom packages 1\nend\n ",
		"breakroom packages 1\na 1 " SUM " asked\n",
		"breakroom packages 1\na 1 " SUM "\nend\n",
		"breakroom packages 1\na 1 " SUM " wanted\nend\n",
		"breakroom packages 1\na 1 " SUM "0 asked\nend\n",
		"breakroom packages 1\na  1 " SUM " asked\nend\n",
		"breakroom packages 1\nA 1 " SUM " asked\nend\n",
		"breakroom packages 1\na_b 1 " SUM " asked\nend\n",
		"breakroom packages 1\n../a 1 " SUM " asked\nend\n",
		"breakroom packages 1\na ../1 " SUM " asked\nend\n",
		"breakroom packages 1\nb 1 " SUM " asked\na 1 " SUM
		" asked\nend\n",
		"breakroom packages 1\na 1 " SUM " asked\na 2 " SUM
		" asked\nend\n" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (package_list_parse(span_of(texts[i]), *state, NULL) !=
		    -EBADMSG)
			fail_msg("\"%s\" is taken", texts[i]);
}

/* However it is cut, and whichever byte is another one. */
static void
test_no_list_but_that(void **state)
{
	char text[] = GOOD;

	for (size_t n = 0; n < sizeof(text) - 1; n++)
		assert_int_equal(
		    package_list_parse(
			(struct span){ (uint8_t *)text, n }, *state, NULL),
		    -EBADMSG);
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		char kept = text[i];

		text[i] = '\0';
		assert_int_equal(
		    package_list_parse(
			(struct span){ (uint8_t *)text, sizeof(text) - 1 },
			*state, NULL),
		    -EBADMSG);
		text[i] = kept;
	}
}

static void
test_put(void **state)
{
	struct package_list *list = *state;
	struct package package = { .name = "m", .version = "1" };

	assert_int_equal(package_list_put(list, &package), 0);
	(void)strcpy(package.name, "a");
	assert_int_equal(package_list_put(list, &package), 0);
	(void)strcpy(package.version, "2");
	assert_int_equal(package_list_put(list, &package), 0);
	assert_int_equal(list->n, 2);
	assert_string_equal(list->all[0].version, "2");
	assert_string_equal(package_list_find(list, "m")->version, "1");
	assert_null(package_list_find(list, "b"));
	for (int i = 0; list->n < PACKAGES_MAX; i++) {
		(void)snprintf(package.name, sizeof(package.name), "x%d", i);
		assert_int_equal(package_list_put(list, &package), 0);
	}
	(void)strcpy(package.name, "zz");
	assert_int_equal(package_list_put(list, &package), -ENOSPC);
}

/* What the program was built with is a list, and every wheel is asked for. */
static void
test_shelf(void **state)
{
	struct package_list *list = *state;

	assert_int_equal(
	    package_list_parse(span_of(package_shelf_text), list, NULL), 0);
	assert_non_null(package_list_find(list, "requests"));
	for (size_t i = 0; i < list->n; i++)
		assert_true(list->all[i].asked);
}

static void
test_wanted(void **state)
{
	static const char *const yes[] = { "a", "A.b_c-d", "x==1.0",
		"x==1!2.0+cpu", "./a.whl", "/a/b.whl",
		"../a-1-py3-none-any.whl" };
	static const char *const no[] = { "", "-r", "--pre", "a b", "a[x]",
		"a>=1", "a==", "a== 1", "==1", "a;b", "a@b", "a/b", "a.", "_a",
		"http://x/a.whl", "file:///a.whl", "a.whl/", "./a.tar.gz",
		".whl", "a==1 --pre", "a\n", "a==1\n", "\xc3\xa9" };

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!package_wanted_is(yes[i]))
			fail_msg("'%s' is refused", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (package_wanted_is(no[i]))
			fail_msg("'%s' is taken", no[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    test_there_and_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_no_list_but_that, setup, teardown),
		cmocka_unit_test_setup_teardown(test_put, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shelf, setup, teardown),
		cmocka_unit_test(test_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
