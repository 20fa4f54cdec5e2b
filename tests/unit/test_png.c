/* test_png.c: which bytes pass for an image.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/png.h"
#include "conf/limits.h"
#include "pngs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static bool
passes(const struct buf *png)
{
	/* So that a sanitizer sees a byte too many. */
	uint8_t *copy = malloc(png->n ? png->n : 1);
	struct png size;
	bool is;

	assert_non_null(copy);
	if (png->n)
		memcpy(copy, png->p, png->n);
	is = png_look((struct span){ copy, png->n }, &size);
	free(copy);
	return is;
}

static void
an_image_has_a_size(void **state)
{
	struct buf bytes;
	struct png png;

	(void)state;
	png_make(&bytes, 640, 480, 1000);
	assert_true(png_look(buf_span(&bytes), &png));
	assert_int_equal(png.width, 640);
	assert_int_equal(png.height, 480);
	buf_done(&bytes);
}

/* Every front of it is none, and nothing may stand behind it. */
static void
no_part_of_one_passes(void **state)
{
	struct buf bytes;
	size_t whole;

	(void)state;
	png_make(&bytes, 3, 2, 40);
	whole = bytes.n;
	for (bytes.n = 0; bytes.n < whole; bytes.n++)
		assert_false(passes(&bytes));
	assert_true(passes(&bytes));
	(void)buf_add_text(&bytes, "<script>");
	assert_false(passes(&bytes));
	buf_done(&bytes);
}

static void
headers_are_judged(void **state)
{
	static const struct {
		uint32_t width, height;
		const char *kinds;
		bool good;
	} rows[] = {
		{ 1, 1, PNG_RGBA, true },
		{ 1, 1, "\x01\x00\x00\x00\x01", true },
		{ 1, 1, "\x10\x02\x00\x00\x00", true },
		{ 1, 1, "\x04\x03\x00\x00\x00", true },
		{ PNG_SIDE_MAX, 1, PNG_RGBA, true }, { 0, 1, PNG_RGBA, false },
		{ 1, 0, PNG_RGBA, false },
		{ PNG_SIDE_MAX + 1, 1, PNG_RGBA, false },
		{ 1, UINT32_MAX, PNG_RGBA, false },
		{ PNG_SIDE_MAX, PNG_SIDE_MAX, PNG_RGBA, false },
		{ 1, 1, "\x04\x06\x00\x00\x00", false }, /* depth */
		{ 1, 1, "\x00\x00\x00\x00\x00", false },
		{ 1, 1, "\x20\x00\x00\x00\x00", false },
		{ 1, 1, "\xff\x00\x00\x00\x00", false },
		{ 1, 1, "\x08\x01\x00\x00\x00", false }, /* colour */
		{ 1, 1, "\x08\x07\x00\x00\x00", false },
		{ 1, 1, "\x08\x06\x01\x00\x00", false }, /* compression */
		{ 1, 1, "\x08\x06\x00\x01\x00", false }, /* filter */
		{ 1, 1, "\x08\x06\x00\x00\x02", false }, /* interlace */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf bytes;

		buf_init(&bytes, 200);
		(void)buf_add(&bytes, PNG_SIGNATURE, 8);
		png_header(
		    &bytes, rows[i].width, rows[i].height, rows[i].kinds);
		png_chunk(&bytes, "IDAT", NULL, 4);
		png_chunk(&bytes, "IEND", NULL, 0);
		assert_int_equal(passes(&bytes), rows[i].good);
		buf_done(&bytes);
	}
}

/* A length that leads out of the bytes, a second header, an end with data, none
 * of the picture's data. */
static void
chunks_are_judged(void **state)
{
	struct buf bytes;

	(void)state;
	png_make(&bytes, 3, 2, 40);
	bytes.p[33] = 0xff; /* the length of IDAT */
	assert_false(passes(&bytes));
	buf_done(&bytes);
	for (unsigned i = 0; i < 4; i++) {
		buf_init(&bytes, 200);
		(void)buf_add(&bytes, PNG_SIGNATURE, 8);
		png_header(&bytes, 1, 1, PNG_RGBA);
		if (i == 0)
			png_header(&bytes, 1, 1, PNG_RGBA);
		if (i != 1)
			png_chunk(&bytes, "IDAT", NULL, 4);
		png_chunk(&bytes, "tEXt", "a", 1);
		png_chunk(&bytes, "IEND", NULL, i == 2);
		assert_int_equal(passes(&bytes), i == 3);
		buf_done(&bytes);
	}
}

static void
what_is_none_is_dropped(void **state)
{
	struct file files[3] = { { .name = (char *)"1.png", .taken = true },
		{ .name = (char *)"2.png", .taken = true },
		{ .name = (char *)"3.png" } };
	struct file_list list = { .files = files, .n = 3 };

	(void)state;
	png_make(&files[0].bytes, 3, 2, 40);
	buf_init(&files[1].bytes, 100);
	(void)buf_add_text(&files[1].bytes, "<svg/>");
	png_sift(&list);
	assert_true(files[0].taken);
	assert_false(files[1].taken);
	assert_int_equal(files[1].bytes.n, 0);
	assert_int_equal(list.n, 3);
	buf_done(&files[0].bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_image_has_a_size),
		cmocka_unit_test(no_part_of_one_passes),
		cmocka_unit_test(headers_are_judged),
		cmocka_unit_test(chunks_are_judged),
		cmocka_unit_test(what_is_none_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
