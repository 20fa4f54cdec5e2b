/* test_base64.c: both kinds of base64, by the vectors of RFC 4648, and that a
 * value has one spelling; hexadecimal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "base/hex.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *bytes, *padded, *url;
} vectors[] = {
	{ "", "", "" },
	{ "f", "Zg==", "Zg" },
	{ "fo", "Zm8=", "Zm8" },
	{ "foo", "Zm9v", "Zm9v" },
	{ "foob", "Zm9vYg==", "Zm9vYg" },
	{ "fooba", "Zm9vYmE=", "Zm9vYmE" },
	{ "foobar", "Zm9vYmFy", "Zm9vYmFy" },
	{ "\xfb\xff\xfe", "+//+", "-__-" },
};

static void
equals(const struct buf *buf, const char *text)
{
	assert_int_equal(buf->n, strlen(text));
	if (buf->n > 0)
		assert_memory_equal(buf->p, text, buf->n);
}

static void
check(enum base64_kind kind, const char *bytes, const char *text)
{
	struct buf buf;

	buf_init(&buf, strlen(text));
	assert_int_equal(base64_write(kind, span_of(bytes), &buf), 0);
	equals(&buf, text);
	buf_done(&buf);
	buf_init(&buf, strlen(bytes));
	assert_int_equal(base64_read(kind, span_of(text), &buf), 0);
	equals(&buf, bytes);
	buf_done(&buf);
}

static void
has_the_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		check(BASE64_PADDED, vectors[i].bytes, vectors[i].padded);
		check(BASE64_URL, vectors[i].bytes, vectors[i].url);
	}
}

static void
refuses(enum base64_kind kind, const char *text)
{
	struct buf buf;

	buf_init(&buf, 64);
	assert_int_equal(base64_read(kind, span_of(text), &buf), -EINVAL);
	buf_done(&buf);
}

static void
has_one_spelling(void **state)
{
	static const char *const padded[] = { "Zg",
		"Zg=", "Zg===", "Zh==", "Zm9=", "=",
		"====", "Z===", "Zg==Zg==", "Zm 8", "Zm8\n", "-__-", "Z" };
	static const char *const url[] = { "Zg==", "Zh", "Zm9", "Z", "+//+",
		"Zm 8", "Zm8=" };

	(void)state;
	for (size_t i = 0; i < sizeof(padded) / sizeof(padded[0]); i++)
		refuses(BASE64_PADDED, padded[i]);
	for (size_t i = 0; i < sizeof(url) / sizeof(url[0]); i++)
		refuses(BASE64_URL, url[i]);
}

static void
keeps_to_the_maximum(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 2);
	assert_int_equal(
	    base64_read(BASE64_URL, span_of("Zm9v"), &buf), -ENOBUFS);
	buf_done(&buf);
	buf_init(&buf, 3);
	assert_int_equal(
	    base64_write(BASE64_PADDED, span_of("foo"), &buf), -ENOBUFS);
	buf_done(&buf);
}

static void
has_hexadecimal(void **state)
{
	static const uint8_t bytes[] = { 0x00, 0x9f, 0xa0, 0xff };
	uint8_t read[sizeof(bytes)];
	char text[2 * sizeof(bytes) + 1];

	(void)state;
	hex_write(bytes, sizeof(bytes), text);
	assert_string_equal(text, "009fa0ff");
	assert_true(hex_read("009FA0fF", sizeof(bytes), read));
	assert_memory_equal(read, bytes, sizeof(bytes));
	assert_false(hex_read("009fa0fg", sizeof(bytes), read));
	assert_false(hex_read("009fa0 f", sizeof(bytes), read));
	/* Not even what is a digit with another bit. */
	for (int c = 0; c < 256; c++)
		assert_int_equal(hex_value((uint8_t)c) >= 0,
		    c != 0 && strchr("0123456789abcdefABCDEF", c) != NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_the_vectors),
		cmocka_unit_test(has_one_spelling),
		cmocka_unit_test(keeps_to_the_maximum),
		cmocka_unit_test(has_hexadecimal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
