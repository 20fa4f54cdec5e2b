/* test_files_in.c: files given to a call: which names are taken, how much may
 * come, and that what was packed comes out again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/file_name.h"
#include "call/files_in.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LONG_255                                                           \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"

static int
add(struct buf *files, const char *name, const char *bytes, struct err *err)
{
	return files_in_add(files, span_of(name), span_of(bytes), err);
}

static void
names_are_judged(void **state)
{
	static const struct {
		const char *name;
		int r;
		const char *why; /* a part of the sentence */
	} cases[] = {
		{ "data.csv", 0, NULL },
		{ "a/b/c.txt", 0, NULL },
		{ "\xc3\xa9t\xc3\xa9/\xf0\x9f\x93\x84", 0, NULL },
		{ "with space\nand line", 0, NULL },
		{ "...", 0, NULL },
		{ "a..b", 0, NULL },
		{ "back\\slash", 0, NULL },
		{ LONG_255, 0, NULL },
		{ LONG_255 "/" LONG_255, 0, NULL },
		{ "", -EINVAL, "needs a name" },
		{ "/etc/passwd", -EINVAL, "\"/etc/passwd\" is absolute" },
		{ "..", -EINVAL, "component" },
		{ "../x", -EINVAL, "component" },
		{ "a/../x", -EINVAL, "component" },
		{ "a/..", -EINVAL, "component" },
		{ "./x", -EINVAL, "component" },
		{ "a//b", -EINVAL, "component" },
		{ "a/", -EINVAL, "component" },
		{ "caf\xe9", -EINVAL, "\"caf\\xe9\" has a name that is not" },
		{ "\xed\xa0\x80", -EINVAL, "UTF-8" },
		{ LONG_255 "x", -EINVAL, "too long" },
		{ LONG_255 "/" LONG_255 "/x", -EINVAL, "too long" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { 0 };
		struct buf files;

		buf_init(&files, FILES_IN_PACKED_MAX);
		assert_int_equal(
		    add(&files, cases[i].name, "x", &err), cases[i].r);
		if (cases[i].why && !strstr(err.text, cases[i].why))
			fail_msg("%s: %s", cases[i].name, err.text);
		if (cases[i].r < 0)
			assert_int_equal(files.n, 0);
		buf_done(&files);
	}
}

static void
a_nul_is_refused(void **state)
{
	struct buf files;
	struct err err;

	(void)state;
	buf_init(&files, FILES_IN_PACKED_MAX);
	assert_int_equal(
	    files_in_add(&files, (struct span){ (const uint8_t *)"a\0b", 3 },
		span_of("x"), &err),
	    -EINVAL);
	assert_non_null(strstr(err.text, "\"a\\x00b\""));
	buf_done(&files);
}

static void
names_that_clash(void **state)
{
	static const char *const clashes[][2] = { { "a", "a" }, { "a/b", "a" },
		{ "a", "a/b" }, { "a/b/c", "a/b" }, { "d/e", "d/e/f/g" } };
	static const char *const friends[] = { "a", "ab", "b/a", "b/ab",
		"b/abc/d", "a.txt" };
	struct buf files;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(clashes) / sizeof(clashes[0]); i++) {
		buf_init(&files, FILES_IN_PACKED_MAX);
		assert_int_equal(0, add(&files, clashes[i][0], "1", &err));
		assert_int_equal(
		    -EEXIST, add(&files, clashes[i][1], "2", &err));
		buf_done(&files);
	}
	buf_init(&files, FILES_IN_PACKED_MAX);
	for (size_t i = 0; i < sizeof(friends) / sizeof(friends[0]); i++)
		assert_int_equal(0, add(&files, friends[i], "", &err));
	buf_done(&files);
}

static void
too_many_and_too_much(void **state)
{
	static uint8_t bytes[FILES_IN_BYTES];
	struct span half = { bytes, sizeof(bytes) / 2 };
	struct buf files;
	struct err err;
	char name[8];

	(void)state;
	buf_init(&files, FILES_IN_PACKED_MAX);
	for (unsigned i = 0; i < FILES_IN_MAX; i++) {
		(void)snprintf(name, sizeof(name), "%u", i);
		assert_int_equal(0, add(&files, name, "", &err));
	}
	assert_int_equal(-E2BIG, add(&files, "more", "", &err));
	assert_string_equal(err.text, "more than 100 files");
	buf_done(&files);
	assert_int_equal(0, files_in_add(&files, span_of("a"), half, &err));
	assert_int_equal(0, files_in_add(&files, span_of("b"), half, &err));
	assert_int_equal(0, add(&files, "empty", "", &err));
	assert_int_equal(-E2BIG, add(&files, "c", "x", &err));
	assert_string_equal(err.text, "more than 16 MiB of files");
	buf_done(&files);
}

static void
what_goes_in_comes_out(void **state)
{
	static const uint8_t odd[] = { 0, 255, '\n', 0, 0x80 };
	struct span rest, name, bytes;
	struct buf files;
	struct err err;

	(void)state;
	buf_init(&files, FILES_IN_PACKED_MAX);
	assert_int_equal(0, files_in_add(&files, span_of("odd"),
				(struct span){ odd, sizeof(odd) }, &err));
	assert_int_equal(0, add(&files, "d/empty", "", &err));
	rest = buf_span(&files);
	assert_true(files_in_next(&rest, &name, &bytes));
	assert_true(span_is(name, "odd"));
	assert_int_equal(bytes.n, sizeof(odd));
	assert_memory_equal(bytes.p, odd, sizeof(odd));
	assert_true(files_in_next(&rest, &name, &bytes));
	assert_true(span_is(name, "d/empty"));
	assert_int_equal(bytes.n, 0);
	assert_false(files_in_next(&rest, &name, &bytes));
	assert_int_equal(rest.n, 0);
	/* Cut anywhere, it is never more than it is. */
	for (size_t n = 0; n < files.n; n++) {
		size_t taken = 0;

		rest = (struct span){ files.p, n };
		while (files_in_next(&rest, &name, &bytes))
			taken += 8 + name.n + bytes.n;
		assert_int_equal(taken + rest.n, n);
	}
	buf_done(&files);
}

static void
names_are_shown(void **state)
{
	static const struct {
		const char *name, *shown;
	} cases[] = {
		{ "plain.txt", "plain.txt" },
		{ "a\nb\x1b[31m", "a\\x0ab\\x1b[31m" },
		{ "a\\x0ab", "a\\\\x0ab" },
		{ "\xff\xc3\xa9", "\\xff\xc3\xa9" },
		{ "\xe2\x80\xae"
		  "gpj.exe",
		    "\\xe2\\x80\\xaegpj.exe" },
		{ "12345678901234567890", "1234567890123456..." },
	};
	char shown[40];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		file_name_show(span_of(cases[i].name), shown,
		    i + 1 < sizeof(cases) / sizeof(cases[0]) ? sizeof(shown)
							     : 20);
		assert_string_equal(shown, cases[i].shown);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_judged),
		cmocka_unit_test(a_nul_is_refused),
		cmocka_unit_test(names_that_clash),
		cmocka_unit_test(too_many_and_too_much),
		cmocka_unit_test(what_goes_in_comes_out),
		cmocka_unit_test(names_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
