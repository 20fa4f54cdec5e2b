/* test_files.c: files through a region: what the writer lists comes back, names
 * made fit to be shown, and what no writer of ours could have written is
 * refused as a whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/files.h"

#include "base/fd.h"
#include "call/output.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define CHARS 100u

struct region {
	int fd;
	struct output *output;
	struct files_writer writer;
	struct file_list list;
};

static int
setup(void **state)
{
	struct region *region = calloc(1, sizeof(*region));
	struct err err;

	region->fd = output_create(CHARS, &err);
	assert_true(region->fd >= 0);
	region->output = output_map(region->fd, CHARS);
	assert_non_null(region->output);
	region->writer = output_files(region->output);
	file_list_init(&region->list);
	*state = region;
	return 0;
}

static int
teardown(void **state)
{
	struct region *region = *state;

	file_list_done(&region->list);
	output_unmap(region->output);
	fd_close(region->fd);
	free(region);
	return 0;
}

static void
add(struct region *region, const char *name, const char *bytes)
{
	uint8_t *to;

	assert_true(
	    files_add(&region->writer, span_of(name), strlen(bytes), &to));
	assert_non_null(to);
	memcpy(to, bytes, strlen(bytes));
}

static int
take(struct region *region)
{
	struct err err = { 0 };

	return output_read_files(region->fd, CHARS, &region->list, &err);
}

static void
nothing_at_first(void **state)
{
	struct region *region = *state;

	files_end(&region->writer);
	assert_int_equal(take(region), 0);
	assert_int_equal(region->list.n, 0);
	assert_false(region->list.more);
}

static void
comes_back_in_order(void **state)
{
	struct region *region = *state;
	const struct file *files;

	add(region, "z", "last");
	add(region, "a/b", "");
	add(region, "a", "first");
	assert_int_equal(take(region), 0);
	assert_int_equal(region->list.n, 0); /* not before the end */
	files_end(&region->writer);
	assert_int_equal(take(region), 0);
	files = region->list.files;
	assert_int_equal(region->list.n, 3);
	assert_string_equal(files[0].name, "a");
	assert_memory_equal(files[0].bytes.p, "first", 5);
	assert_string_equal(files[1].name, "a/b");
	assert_int_equal(files[1].bytes.n, 0);
	assert_true(files[1].taken);
	assert_string_equal(files[2].name, "z");
	assert_int_equal(files[2].size, 4);
}

/* Streams and files do not touch each other. */
static void
stands_beside_the_streams(void **state)
{
	struct region *region = *state;
	struct stream stream = { .text = { .max = 100000 } };
	struct err err;

	for (unsigned i = 0; i < 2000; i++)
		output_write(
		    region->output, OUTPUT_ERR, (const uint8_t *)"e", 1);
	add(region, "a", "bytes");
	files_end(&region->writer);
	for (unsigned i = 0; i < 2000; i++)
		output_write(
		    region->output, OUTPUT_OUT, (const uint8_t *)"o", 1);
	assert_int_equal(take(region), 0);
	assert_memory_equal(region->list.files[0].bytes.p, "bytes", 5);
	assert_int_equal(
	    output_read(region->fd, CHARS, OUTPUT_ERR, &stream, &err), 0);
	assert_int_equal(stream.total_chars, 2000);
	assert_null(memchr(stream.text.p, 'o', 50));
	buf_done(&stream.text);
}

static void
has_limits(void **state)
{
	struct region *region = *state;
	struct files_writer *writer = &region->writer;
	char name[16];
	uint8_t *to;

	assert_true(files_add(writer, span_of("huge"), 1ull << 40, &to));
	assert_null(to);
	assert_true(
	    files_add(writer, span_of("most"), RESULT_FILES_BYTES - 10, &to));
	assert_non_null(to);
	to[RESULT_FILES_BYTES - 11] = 7;
	assert_true(files_add(writer, span_of("more"), 11, &to));
	assert_null(to);
	assert_true(files_add(writer, span_of("rest"), 10, &to));
	assert_non_null(to);
	assert_true(files_add(writer, (struct span){ 0 }, 1, &to)); /* long */
	for (unsigned i = writer->n; i < RESULT_FILES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		assert_true(files_add(writer, span_of(name), 0, &to));
	}
	assert_false(files_add(writer, span_of("one more"), 0, &to));
	files_end(writer);
	assert_int_equal(take(region), 0);
	assert_int_equal(region->list.n, RESULT_FILES_MAX);
	assert_true(region->list.more);
	for (unsigned i = 0; i < region->list.n; i++) {
		const struct file *file = &region->list.files[i];

		if (strcmp(file->name, "huge") == 0)
			assert_int_equal(file->size, 1ull << 40);
		if (strcmp(file->name, "most") == 0)
			assert_int_equal(
			    file->bytes.p[RESULT_FILES_BYTES - 11], 7);
		assert_int_equal(file->taken,
		    strcmp(file->name, "huge") && strcmp(file->name, "more"));
	}
}

static void
names_can_be_shown(void **state)
{
	static const char *const rows[][2] = {
		{ "plain.txt", "plain.txt" },
		{ "\xc3\xa9\xf0\x9f\x98\x80", "\xc3\xa9\xf0\x9f\x98\x80" },
		{ "a\nb\x1b[31m", "a\\x0ab\\x1b[31m" },
		{ "\xff\xfe", "\\xff\\xfe" },
		{ "\\xff", "\\\\xff" }, /* another file than the one above */
		{ "\xc2\x85", "\\xc2\\x85" },
		{ "a\xe2\x80\xae"
		  "b",
		    "a\\xe2\\x80\\xaeb" },
		{ "\xe2\x82", "\\xe2\\x82" },
		{ "\xe2\x81\xa6\xe2\x80\xa8",
		    "\\xe2\\x81\\xa6\\xe2\\x80\\xa8" },
		{ "..a/...", "..a/..." },
		{ "\x7f", "\\x7f" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct region *region;

		(void)setup(state);
		region = *state;
		add(region, rows[i][0], "x");
		files_end(&region->writer);
		assert_int_equal(take(region), 0);
		assert_string_equal(region->list.files[0].name, rows[i][1]);
		(void)teardown(state);
	}
}

/* A lie about the list above: what it does, and nothing of the list is taken. */
static void
lies_are_refused(void **state)
{
	enum {
		LIES = 12
	};

	for (unsigned lie = 0; lie < LIES; lie++) {
		struct files_entry *entry;
		struct region *region;

		(void)setup(state);
		region = *state;
		add(region, "a", "bytes");
		add(region, "b/c", "bytes");
		files_end(&region->writer);
		entry = &region->writer.index->entries[1];
		switch (lie) {
		case 0:
			region->writer.index->n = RESULT_FILES_MAX + 1;
			break;
		case 1:
			region->writer.index->n = UINT32_MAX;
			break;
		case 2:
			entry->name_n = 0;
			break;
		case 3:
			entry->name_n = RESULT_NAME_MAX + 1;
			break;
		case 4:
			entry->size = RESULT_FILES_BYTES - 4;
			break;
		case 5:
			entry->at = UINT64_MAX;
			break;
		case 6:
			entry->at = FILES_HEAP_BYTES - 7;
			break;
		case 7:
			entry->size = UINT64_MAX;
			break;
		case 8:
			entry->taken = 2;
			break;
		case 9:
			entry->at = 0; /* the name of the other */
			entry->name_n = 1;
			break;
		case 10:
			region->writer.index->more = 2;
			break;
		default:
			entry->taken = 0;
			entry->size = GUEST_FILE_SIZE_MAX + 1;
			break;
		}
		assert_int_equal(take(region), -EPROTO);
		assert_int_equal(region->list.n, 0);
		assert_null(region->list.files);
		(void)teardown(state);
	}
}

static void
names_that_lead_elsewhere(void **state)
{
	static const struct {
		const char *name;
		size_t n;
	} rows[] = { { "..", 2 }, { "/a", 2 }, { "a/", 2 }, { "a//b", 4 },
		{ "a/../b", 6 }, { ".", 1 }, { "./a", 3 }, { "a/..", 4 },
		{ "a\0b", 3 }, { "/", 1 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct region *region;
		uint8_t *to;

		(void)setup(state);
		region = *state;
		assert_true(files_add(&region->writer,
		    (struct span){ (const uint8_t *)rows[i].name, rows[i].n },
		    1, &to));
		files_end(&region->writer);
		assert_int_equal(take(region), -EPROTO);
		assert_int_equal(region->list.n, 0);
		(void)teardown(state);
	}
}

static void
a_short_region_is_refused(void **state)
{
	struct region *region = *state;
	struct err err;
	int fd = memfd_create("short", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(
	    output_read_files(fd, CHARS, &region->list, &err), -EPROTO);
	fd_close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    nothing_at_first, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    comes_back_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    stands_beside_the_streams, setup, teardown),
		cmocka_unit_test_setup_teardown(has_limits, setup, teardown),
		cmocka_unit_test(names_can_be_shown),
		cmocka_unit_test(lies_are_refused),
		cmocka_unit_test(names_that_lead_elsewhere),
		cmocka_unit_test_setup_teardown(
		    a_short_region_is_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
