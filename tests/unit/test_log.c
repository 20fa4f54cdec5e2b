/* test_log.c: one line an event, whatever is in it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "conf/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PIPE_SIZE 8192

static int ends[2];

static int
setup(void **state)
{
	(void)state;
	if (pipe(ends) < 0)
		return -1;
	log_setup(ends[1], LOG_INFO);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	(void)close(ends[0]);
	(void)close(ends[1]);
	return 0;
}

/* What was logged, as a string. */
static char *
logged(char text[PIPE_SIZE])
{
	ssize_t n = read(ends[0], text, PIPE_SIZE - 1);

	assert_true(n > 0);
	text[n] = '\0';
	return text;
}

static void
test_one_line(void **state)
{
	static const struct {
		const char *value, *shown;
	} cases[] = {
		{ "plain", "plain" },
		{ "a\nlevel=error", "a?level=error" },
		{ "a\r\tb\x1b[31m\x7f", "a??b?[31m?" },
		{ "caf\u00e9 \u4f60\u597d", "caf\u00e9 \u4f60\u597d" },
		{ "\U0001f40d", "\U0001f40d" },
		{ "a\xc2\x85"
		  "b\xc2\x9b"
		  "31m",
		    "a??b??31m" }, /* C1 */
		{ "a\xc2\xa0"
		  "b",
		    "a\xc2\xa0"
		    "b" },
		{ "a\u2028b\u2029c", "a???b???c" }, /* line, paragraph */
		{ "\u202etxt.exe\u2066", "???txt.exe???" }, /* turned around */
		{ "\u2027 \u202f", "\u2027 \u202f" },
	};
	char text[PIPE_SIZE], want[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		log_info("event=test id=\"%s\"", cases[i].value);
		(void)snprintf(want, sizeof(want),
		    " level=info event=test id=\"%s\"\n", cases[i].shown);
		assert_non_null(strstr(logged(text), want));
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	}
}

static void
test_long_line(void **state)
{
	char value[2 * LOG_LINE_MAX], text[PIPE_SIZE];

	(void)state;
	/* Cut within a character that is replaced, at every place. */
	for (size_t begin = 0; begin < 4; begin++) {
		memset(value, 'x', sizeof(value));
		for (size_t i = begin; i + 3 < sizeof(value); i += 3)
			memcpy(value + i, "\u2028", 3);
		value[sizeof(value) - 1] = '\0';
		log_info("%s", value);
		assert_true(strlen(logged(text)) <= LOG_LINE_MAX);
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
		assert_null(strstr(text, "\u2028"));
	}
}

static void
test_levels(void **state)
{
	char text[PIPE_SIZE];

	(void)state;
	log_debug("event=hidden");
	log_error("event=shown");
	assert_null(strstr(logged(text), "hidden"));
	assert_non_null(strstr(text, " level=error event=shown\n"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_line, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_long_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_levels, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
