/* test_buf.c: bytes within a maximum.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#undef fail /* cmocka's; ours fills an err */

static void
grows_up_to_its_maximum(void **state)
{
	struct buf buf;

	(void)state;
	for (size_t max = 1; max < 2000; max += 37) {
		buf_init(&buf, max);
		for (size_t i = 0; i < max; i++)
			assert_int_equal(buf_add(&buf, "x", 1), 0);
		assert_int_equal(buf_add(&buf, "x", 1), -ENOBUFS);
		assert_int_equal(buf.n, max);
		assert_true(buf.cap <= max || max < 256);
		buf_done(&buf);
	}
}

static void
adds_nothing_that_does_not_fit(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 10);
	assert_int_equal(buf_add_text(&buf, "123456"), 0);
	assert_int_equal(buf_add_text(&buf, "78901"), -ENOBUFS);
	assert_int_equal(buf_reserve(&buf, SIZE_MAX), -ENOBUFS);
	assert_int_equal(buf.n, 6);
	assert_memory_equal(buf.p, "123456", 6);
	buf_done(&buf);
}

static void
drops_from_the_front(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 100);
	assert_int_equal(buf_printf(&buf, "%s-%d", "abc", 42), 0);
	assert_int_equal(buf.n, 6);
	buf_drop(&buf, 4);
	assert_memory_equal(buf.p, "42", 2);
	buf_drop(&buf, 50);
	assert_int_equal(buf.n, 0);
	buf_done(&buf);
}

static void
errors_are_sentences(void **state)
{
	struct err err = { 0 };

	(void)state;
	errno = ENOENT;
	assert_int_equal(fail_errno(&err, "open %s", "/x"), -ENOENT);
	assert_string_equal(err.text, "open /x: No such file or directory");
	assert_int_equal(fail(&err, EINVAL, "%0300d", 1), -EINVAL);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_int_equal(fail(NULL, EIO, "nobody listens"), -EIO);
}

static void
compares_words(void **state)
{
	const struct span none = { NULL, 0 };

	(void)state;
	assert_true(span_is(span_of("/mcp"), "/mcp"));
	assert_false(span_is(span_of("/Mcp"), "/mcp"));
	assert_false(span_is(span_of("/mcp/"), "/mcp"));
	assert_true(span_is(span_of(""), ""));
	assert_false(span_is(none, ""));
	assert_true(span_is_word(span_of("Chunked"), "chunked"));
	assert_false(span_is_word(span_of("chunked "), "chunked"));
	assert_false(span_is_word(none, ""));
	assert_true(span_same(span_of("[::A]"), span_of("[::a]")));
	assert_false(span_same(span_of("a"), span_of("ab")));
	assert_true(span_same(none, span_of("")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_up_to_its_maximum),
		cmocka_unit_test(adds_nothing_that_does_not_fit),
		cmocka_unit_test(drops_from_the_front),
		cmocka_unit_test(compares_words),
		cmocka_unit_test(errors_are_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
