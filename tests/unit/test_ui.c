/* test_ui.c: which paths are files of the playground, and where it may be
 * served.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/ui.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void
test_paths(void **state)
{
	static const char *const wrong[] = { "", "app.js", "/app.jsx", "/app.j",
		"/index.html", "//", "/APP.JS", "/style.css/" };
	const struct ui_file *file = ui_find(span_of("/"));

	(void)state;
	assert_non_null(file);
	assert_string_equal(file->type, "text/html; charset=utf-8");
	assert_true(file->bytes.n > 0);
	assert_memory_equal(file->bytes.p, "<!doctype html>", 15);
	assert_non_null(ui_find(span_of("/app.js")));
	assert_non_null(ui_find(span_of("/style.css")));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (ui_find(span_of(wrong[i])))
			fail_msg("'%s' is a file", wrong[i]);
}

static void
test_bind(void **state)
{
	static const char *const own[] = { "127.0.0.1:80", "127.1.2.3:1",
		"[::1]:8080" };
	static const char *const wide[] = { "0.0.0.0:80", "[::]:80",
		"192.0.2.1:80", "unix:/run/x", "128.0.0.1:1", "" };
	const struct conf with = { .ui = true }, without = { .ui = false };
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		assert_int_equal(ui_bind_check(&with, own[i], &err), 0);
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		assert_int_equal(ui_bind_check(&with, wide[i], &err), -EACCES);
		assert_non_null(strstr(err.text, "no loopback address"));
		assert_int_equal(ui_bind_check(&without, wide[i], &err), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_bind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
