/* test_output.c: the output region: what is written comes out as text, cut in
 * the middle at character boundaries, whatever a child does to its region.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "call/output.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define CHARS 100u /* the limit of these streams */

struct region {
	int fd;
	struct output *output;
};

static struct region
region_new(void)
{
	struct err err;
	struct region region = { .fd = output_create(CHARS, &err) };

	assert_true(region.fd >= 0);
	region.output = output_map(region.fd, CHARS);
	assert_non_null(region.output);
	return region;
}

static void
region_done(struct region *region)
{
	output_unmap(region->output);
	fd_close(region->fd);
}

static void
write_text(const struct region *region, const char *text)
{
	output_write(
	    region->output, OUTPUT_OUT, (const uint8_t *)text, strlen(text));
}

static struct stream
read_out(const struct region *region)
{
	struct stream stream = { .text = { .max = 100000 } };
	struct err err = { 0 };

	assert_int_equal(
	    output_read(region->fd, CHARS, OUTPUT_OUT, &stream, &err), 0);
	return stream;
}

static void
shows(const struct region *region, const char *text, uint64_t total, bool cut)
{
	struct stream stream = read_out(region);

	assert_int_equal(stream.text.n, strlen(text));
	if (stream.text.n > 0)
		assert_memory_equal(stream.text.p, text, stream.text.n);
	assert_int_equal(stream.total_chars, total);
	assert_int_equal(stream.cut, cut);
	buf_done(&stream.text);
}

static void
is_empty_at_first(void **state)
{
	struct region region = region_new();

	(void)state;
	shows(&region, "", 0, false);
	region_done(&region);
}

/* n copies of a character, and what must be shown of them. */
static void
many(const char *one, unsigned n)
{
	struct region region = region_new();
	char want[8192] = "";
	char mark[64];

	for (unsigned i = 0; i < n; i++)
		write_text(&region, one);
	for (unsigned i = 0; i < (n <= CHARS ? n : CHARS / 2); i++)
		strcat(want, one);
	if (n > CHARS) {
		(void)snprintf(
		    mark, sizeof(mark), "\n[truncated, %u chars total]\n", n);
		strcat(want, mark);
		for (unsigned i = 0; i < CHARS / 2; i++)
			strcat(want, one);
	}
	shows(&region, want, n, n > CHARS);
	region_done(&region);
}

static void
cuts_at_the_limit_and_not_before(void **state)
{
	static const char *const ones[] = { "x", "\xc3\xa9", "\xe2\x82\xac",
		"\xf0\x9f\x98\x80" };
	static const unsigned counts[] = { 1, CHARS - 1, CHARS, CHARS + 1,
		2 * CHARS, 4 * CHARS - 1, 4 * CHARS, 4 * CHARS + 1, 6 * CHARS,
		13 * CHARS + 3 };

	(void)state;
	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++)
		for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
			many(ones[i], counts[k]);
}

/* Adds what a look at the stream gives. */
static void
peek(const struct region *region, uint64_t *at, struct buf *seen)
{
	struct err err = { 0 };

	assert_int_equal(
	    output_peek(region->fd, CHARS, OUTPUT_OUT, at, seen, &err), 0);
}

/* Looks while it is written see the beginning of what is read at the end. */
static void
peeks_at_what_is_there(void **state)
{
	static const char all[] = "one \xe2\x82\xac two\n\xff \xc3 "
				  "\xf0\x9f\x98\x80 end\xe2\x82";

	(void)state;
	for (size_t step = 1; step < sizeof(all); step++) {
		struct region region = region_new();
		struct stream stream;
		struct buf seen;
		uint64_t at = 0;

		buf_init(&seen, 1000);
		for (size_t i = 0; i < sizeof(all) - 1; i += step) {
			size_t left = sizeof(all) - 1 - i;

			output_write(region.output, OUTPUT_OUT,
			    (const uint8_t *)all + i,
			    left < step ? left : step);
			peek(&region, &at, &seen);
		}
		stream = read_out(&region);
		assert_int_equal(at, sizeof(all) - 1 - 2); /* not whole */
		assert_true(seen.n < stream.text.n);
		assert_memory_equal(seen.p, stream.text.p, seen.n);
		buf_done(&stream.text);
		buf_done(&seen);
		region_done(&region);
	}
}

/* Of a long stream the head, a bounded part at a time; a counter is only
 * believed so far. */
static void
peeks_no_further_than_the_head(void **state)
{
	struct region region = region_new();
	struct buf seen;
	uint64_t at = 0, lie = UINT64_MAX;

	(void)state;
	buf_init(&seen, 4u * MIB);
	for (unsigned i = 0; i < 5000; i++)
		write_text(&region, "x");
	for (unsigned i = 0; i < 3; i++)
		peek(&region, &at, &seen);
	assert_int_equal(seen.n, 4 * CHARS);
	assert_int_equal(pwrite(region.fd, &lie, sizeof(lie), 0), sizeof(lie));
	peek(&region, &at, &seen);
	assert_int_equal(at, 4 * CHARS);
	at = UINT64_MAX;
	peek(&region, &at, &seen);
	assert_int_equal(seen.n, 4 * CHARS);
	buf_done(&seen);
	region_done(&region);
}

/* A character whose bytes come one by one is one character. */
static void
joins_characters_across_writes(void **state)
{
	struct region region = region_new();
	static const uint8_t bytes[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";

	(void)state;
	for (unsigned round = 0; round < 40; round++)
		for (size_t i = 0; i < sizeof(bytes) - 1; i++)
			output_write(region.output, OUTPUT_OUT, bytes + i, 1);
	{
		struct stream stream = read_out(&region);

		assert_int_equal(stream.total_chars, 40 * 5);
		assert_true(stream.cut);
		assert_null(
		    memmem(stream.text.p, stream.text.n, "\xef\xbf\xbd", 3));
		buf_done(&stream.text);
	}
	region_done(&region);
}

static void
keeps_first_and_last_of_a_flood(void **state)
{
	struct region region = region_new();
	char line[32];

	(void)state;
	for (unsigned i = 1; i <= 100000; i++) {
		(void)snprintf(line, sizeof(line), "%u\n", i);
		write_text(&region, line);
	}
	{
		struct stream stream = read_out(&region);

		assert_memory_equal(stream.text.p, "1\n2\n3\n", 6);
		assert_memory_equal(stream.text.p + stream.text.n - 14,
		    "\n99999\n100000\n", 14);
		assert_int_equal(stream.total_chars, 588895);
		buf_done(&stream.text);
	}
	region_done(&region);
}

static void
takes_one_huge_write(void **state)
{
	struct region region = region_new();
	size_t n = 1000003;
	uint8_t *bytes = malloc(n);

	(void)state;
	memset(bytes, 'x', n);
	bytes[n - 1] = '!';
	output_write(region.output, OUTPUT_OUT, bytes, n);
	{
		struct stream stream = read_out(&region);

		assert_int_equal(stream.total_chars, n);
		assert_int_equal(stream.text.p[stream.text.n - 1], '!');
		buf_done(&stream.text);
	}
	free(bytes);
	region_done(&region);
}

static void
streams_are_apart_and_can_be_cleared(void **state)
{
	struct region region = region_new();

	(void)state;
	output_write(region.output, OUTPUT_ERR, (const uint8_t *)"err", 3);
	shows(&region, "", 0, false);
	write_text(&region, "out");
	shows(&region, "out", 3, false);
	output_clear(region.output);
	shows(&region, "", 0, false);
	region_done(&region);
}

/* A child that was taken over: every byte of its region is any byte. */
#define BEARS_BYTES (256 * 1024)

static void
bears_any_region(void **state)
{
	unsigned seed = 7;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct region region = region_new();
		off_t size = lseek(region.fd, 0, SEEK_END);
		uint8_t *bytes = mmap(NULL, (size_t)size,
		    PROT_READ | PROT_WRITE, MAP_SHARED, region.fd, 0);
		struct stream stream;

		assert_ptr_not_equal(bytes, MAP_FAILED);
		/* What lies behind the streams is not read by this. */
		for (off_t i = 0; i < size && i < BEARS_BYTES; i++)
			bytes[i] = (uint8_t)rand_r(&seed);
		stream = read_out(&region);
		/* U+FFFD has three bytes; the mark has less than 64. */
		assert_true(stream.text.n <= 4 * CHARS + 64);
		buf_done(&stream.text);
		(void)munmap(bytes, (size_t)size);
		region_done(&region);
	}
}

static void
size_is_sealed(void **state)
{
	struct region region = region_new();

	(void)state;
	assert_int_equal(ftruncate(region.fd, 1), -1);
	assert_int_equal(ftruncate(region.fd, 1 << 30), -1);
	region_done(&region);
}

/* What a large region keeps is shown as a small one would have kept it. */
static void
shows_as_if_it_had_kept_no_more(void **state)
{
	static const char *const pieces[] = { "a", "\n", "\xc3\xa9",
		"\xf0\x9f\x98\x80", "\xff", "\xe2\x82", "abcdefgh" };
	uint32_t random = 7;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		struct region small = region_new(), large = { 0 };
		struct stream one, other = { .text = { .max = 1000000 } };
		struct buf shown = { .max = 1000000 };
		struct err err;
		bool missing;

		large.fd = output_create(5 * CHARS, &err);
		large.output = output_map(large.fd, 5 * CHARS);
		for (unsigned j = 0; j < i * 11; j++) {
			random = random * 1103515245u + 12345u;
			write_text(&small, pieces[(random >> 16) % 7]);
			write_text(&large, pieces[(random >> 16) % 7]);
		}
		one = read_out(&small);
		assert_int_equal(
		    output_read(large.fd, 5 * CHARS, OUTPUT_OUT, &other, &err),
		    0);
		(void)buf_add_text(&other.text, "[note]");
		other.note_n = 6;
		missing = output_show(&other, CHARS, &shown);
		assert_int_equal(missing, one.cut);
		assert_int_equal(shown.n, one.text.n + 6);
		assert_memory_equal(shown.p, one.text.p, one.text.n);
		assert_memory_equal(shown.p + one.text.n, "[note]", 6);
		buf_done(&shown);
		buf_done(&one.text);
		buf_done(&other.text);
		region_done(&small);
		region_done(&large);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_empty_at_first),
		cmocka_unit_test(cuts_at_the_limit_and_not_before),
		cmocka_unit_test(peeks_at_what_is_there),
		cmocka_unit_test(peeks_no_further_than_the_head),
		cmocka_unit_test(joins_characters_across_writes),
		cmocka_unit_test(keeps_first_and_last_of_a_flood),
		cmocka_unit_test(takes_one_huge_write),
		cmocka_unit_test(streams_are_apart_and_can_be_cleared),
		cmocka_unit_test(bears_any_region),
		cmocka_unit_test(size_is_sealed),
		cmocka_unit_test(shows_as_if_it_had_kept_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
