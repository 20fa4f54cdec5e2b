/* test_run_figures.c: figures on a terminal, and which terminals take them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "server/run_figures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* An environment of one variable, for the functions below. */
#define ENVIRONMENT(function, variable, value)                       \
	static const char *function(const char *name)                \
	{                                                            \
		return strcmp(name, variable) == 0 ? (value) : NULL; \
	}

ENVIRONMENT(in_kitty, "KITTY_WINDOW_ID", "1")
ENVIRONMENT(in_ghostty, "TERM_PROGRAM", "ghostty")
ENVIRONMENT(in_iterm, "TERM_PROGRAM", "iTerm.app")
ENVIRONMENT(in_iterm_over_ssh, "LC_TERMINAL", "iTerm2")
ENVIRONMENT(in_xterm, "TERM", "xterm-256color")
ENVIRONMENT(in_empty, "KITTY_WINDOW_ID", "")

static void
terminals_are_known(void **state)
{
	(void)state;
	assert_int_equal(figures_terminal(in_kitty), FIGURES_KITTY);
	assert_int_equal(figures_terminal(in_ghostty), FIGURES_KITTY);
	assert_int_equal(figures_terminal(in_iterm), FIGURES_ITERM);
	assert_int_equal(figures_terminal(in_iterm_over_ssh), FIGURES_ITERM);
	assert_int_equal(figures_terminal(in_xterm), FIGURES_COUNTED);
	assert_int_equal(figures_terminal(in_empty), FIGURES_COUNTED);
}

static void
iterm_gets_it_in_one(void **state)
{
	struct buf text;

	(void)state;
	buf_init(&text, 1000);
	assert_int_equal(
	    figures_draw(FIGURES_ITERM, span_of("abcd"), &text), 0);
	assert_int_equal(buf_add(&text, "", 1), 0);
	assert_string_equal(
	    (char *)text.p, "\x1b]1337;File=inline=1;size=4:YWJjZA==\a\n");
	buf_done(&text);
}

/* Pieces of at most 4096 characters, and the image is whole behind them. */
static void
kitty_gets_it_in_pieces(void **state)
{
	static const size_t sizes[] = { 1, 3072, 3073, 10000 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct buf image, text, joined, back;
		char *p, *end;

		buf_init(&image, 20000);
		for (size_t k = 0; k < sizes[i]; k++)
			(void)buf_add(&image, &(uint8_t){ (uint8_t)k }, 1);
		buf_init(&text, 40000);
		assert_int_equal(
		    figures_draw(FIGURES_KITTY, buf_span(&image), &text), 0);
		assert_int_equal(buf_add(&text, "", 1), 0);
		p = (char *)text.p;
		assert_int_equal(strncmp(p, "\x1b_Ga=T,f=100,q=2,m=", 19), 0);
		buf_init(&joined, 40000);
		while (*p == '\x1b') {
			char *data = strchr(p, ';') + 1;

			end = strstr(data, "\x1b\\");
			assert_non_null(end);
			assert_true(end - data <= 4096);
			/* The last one says so. */
			assert_int_equal(data[-2] == '0', end[2] == '\n');
			(void)buf_add(&joined, data, (size_t)(end - data));
			p = end + 2;
		}
		assert_string_equal(p, "\n");
		buf_init(&back, 20000);
		assert_int_equal(
		    base64_read(BASE64_PADDED, buf_span(&joined), &back), 0);
		assert_int_equal(back.n, image.n);
		assert_memory_equal(back.p, image.p, image.n);
		buf_done(&back);
		buf_done(&joined);
		buf_done(&text);
		buf_done(&image);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terminals_are_known),
		cmocka_unit_test(iterm_gets_it_in_one),
		cmocka_unit_test(kitty_gets_it_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
