/* test_text.c: bytes of output to text, at every boundary.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define FFFD "\xef\xbf\xbd"

/* Bytes, the text they become, and how many characters that is: the values
 * of Python's bytes.decode("utf-8", "replace"). */
static const struct {
	const char *bytes, *text;
	unsigned chars;
} cases[] = {
	{ "", "", 0 },
	{ "plain ascii", "plain ascii", 11 },
	{ "h\xc3\xa9llo", "h\xc3\xa9llo", 5 },
	{ "\xe2\x82\xac", "\xe2\x82\xac", 1 },
	{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", 1 },
	{ "\xff\xfeok", FFFD FFFD "ok", 4 },
	{ "\xc3", FFFD, 1 },
	{ "\xc3(", FFFD "(", 2 },
	{ "\xe2\x82", FFFD, 1 },
	{ "\xe2\x82x", FFFD "x", 2 },
	{ "\xf0\x9f\x98", FFFD, 1 },
	{ "\xf0\x9f\x98z", FFFD "z", 2 },
	{ "\xed\xa0\x80", FFFD FFFD FFFD, 3 }, /* a surrogate */
	{ "\xc0\xaf", FFFD FFFD, 2 },          /* overlong */
	{ "\xe0\x80\x80", FFFD FFFD FFFD, 3 },
	{ "\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD, 4 },
	{ "\x80\x80", FFFD FFFD, 2 },
	{ "a\xf1\x80\x80\xe1\x80\xc2z", "a" FFFD FFFD FFFD "z", 5 },
};

static void
becomes_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf text = { .max = 4096 };

		assert_int_equal(
		    text_add(&text, span_of(cases[i].bytes), 1000), 0);
		assert_int_equal(text.n, strlen(cases[i].text));
		if (text.n > 0)
			assert_memory_equal(text.p, cases[i].text, text.n);
		assert_int_equal(
		    text_count(span_of(cases[i].bytes)), cases[i].chars);
		buf_done(&text);
	}
}

/* Skipping n characters and taking the rest is the whole, for every n. */
static void
skips_by_character(void **state)
{
	struct span bytes = span_of("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"
				    "\xff"
				    "bcdefghijkl\xc3\xa9z");
	uint64_t all = text_count(bytes);

	(void)state;
	assert_int_equal(all, 18);
	for (uint64_t n = 0; n <= all + 1; n++) {
		struct span rest = text_skip(bytes, n);

		assert_int_equal(text_count(rest), n < all ? all - n : 0);
	}
}

static void
stops_at_max(void **state)
{
	struct buf text = { .max = 4096 };

	(void)state;
	assert_int_equal(
	    text_add(&text, span_of("12345678\xc3\xa9tail"), 9), 0);
	assert_int_equal(text.n, 10);
	assert_memory_equal(text.p, "12345678\xc3\xa9", 10);
	buf_done(&text);
}

/* As the rule says it, one character after the other. */
static uint64_t
add_slowly(struct buf *text, struct span bytes, uint64_t max)
{
	uint64_t count = 0;
	bool valid;
	size_t n;

	for (; count < max && (n = text_char(bytes, &valid)) > 0; count++) {
		(void)(valid ? buf_add(text, bytes.p, n)
			     : buf_add(text, FFFD, 3));
		bytes.p += n;
		bytes.n -= n;
	}
	return count;
}

/* Runs are taken at once: that changes nothing, whatever they are made of. */
static void
runs_change_nothing(void **state)
{
	static const char *const pieces[] = { "a", "12345678", "\xc3\xa9",
		"\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xff", "\xe2\x82", "\xc3",
		"\xed\xa0\x80", "\xe0\xa0\x80", "\xe0\x80", "\x80", "\0" };
	uint32_t random = 1;

	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		struct buf bytes = { .max = 4096 }, text = { .max = 4096 },
			   slow = { .max = 4096 };
		uint64_t count, all, last, left;
		struct span rest;

		for (unsigned j = 0; j < i % 30; j++) {
			random = random * 1103515245u + 12345u;
			(void)buf_add_text(&bytes, pieces[(random >> 16) % 13]);
		}
		count = add_slowly(&slow, buf_span(&bytes), i % 17);
		all = text_count(buf_span(&bytes));
		rest = buf_span(&bytes);
		left = i % 17;
		assert_int_equal(text_take(&text, &rest, &left), 0);
		assert_int_equal(i % 17 - left, count);
		assert_int_equal(text_count(rest), all - count);
		assert_int_equal(text.n, slow.n);
		if (text.n > 0)
			assert_memory_equal(text.p, slow.p, text.n);
		assert_int_equal(text_count_valid(buf_span(&text)), count);
		last = i % 5;
		rest = text_last_valid(buf_span(&text), last);
		assert_int_equal(text_count(rest), last < count ? last : count);
		if (rest.n > 0)
			assert_ptr_equal(rest.p + rest.n, text.p + text.n);
		buf_done(&bytes);
		buf_done(&text);
		buf_done(&slow);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(becomes_text),
		cmocka_unit_test(skips_by_character),
		cmocka_unit_test(stops_at_max),
		cmocka_unit_test(runs_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
