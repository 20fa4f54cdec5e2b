/* fuzz_files.c: the files of a call, as a child that was taken over may list
 * them: whatever its region holds, the server takes all of a list that is one,
 * with names that can be shown and lead nowhere, or nothing. And the files that
 * a client gives, by their names; and what may pass for an image.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_input.h"

#include "base/fd.h"
#include "call/file_name.h"
#include "call/files_in.h"
#include "call/output.h"
#include "call/png.h"
#include "call/text.h"

#include <stddef.h>
#include <string.h>

#define CHARS     16u
#define FIELDS    5u
#define ENTRIES   6u /* most of what can happen, happens between few */
#define PIECE_MAX 64u
#define NEAR_HEAP 256u

#define ENTRIES_GIVEN 16u /* compared with each other */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t
take_bytes(struct input *input, uint8_t *bytes)
{
	size_t n = take(input) % PIECE_MAX;

	for (size_t i = 0; i < n; i++)
		bytes[i] = take(input);
	return n;
}

/* Small ones, powers of two and their neighbours, and any. */
static uint64_t
take_number(struct input *input)
{
	uint8_t kind = take(input);
	uint64_t number = 0;

	if (kind < 128)
		return kind;
	if (kind < 192)
		return (1ull << (kind & 63)) + take(input) % 8 - 4;
	for (unsigned i = 0; i < 8; i++)
		number = number << 8 | take(input);
	return number;
}

/* As a child of ours does it. */
static void
list_file(struct files_writer *writer, struct input *input)
{
	uint8_t name[PIECE_MAX], *bytes;
	size_t n = take_bytes(input, name);
	uint64_t size = take_number(input);

	(void)files_add(writer, (struct span){ name, n }, size, &bytes);
	if (bytes && size > 0)
		*bytes = take(input);
}

static void
write_entry(const struct files_writer *writer, struct input *input)
{
	struct files_entry *entry =
	    &writer->index->entries[take(input) % ENTRIES];
	unsigned field = take(input) % FIELDS;
	uint64_t number = take_number(input);

	if (field == 0)
		entry->size = number;
	else if (field == 1)
		entry->at = number;
	else if (field == 2)
		entry->name_n = (uint32_t)number;
	else if (field == 3)
		entry->taken = (uint32_t)number;
	else
		writer->index->n = (uint32_t)number;
}

static void
write_heap(const struct files_writer *writer, struct input *input)
{
	uint8_t bytes[PIECE_MAX];
	size_t at = take(input) % NEAR_HEAP;
	size_t n = take_bytes(input, bytes);

	memcpy(writer->heap + at, bytes, n);
}

static void
write_region(struct output *output, struct input *input)
{
	struct files_writer writer = output_files(output);

	while (input->n > 0) {
		switch (take(input) % 5) {
		case 0:
		case 1:
			list_file(&writer, input);
			break;
		case 2:
			write_entry(&writer, input);
			break;
		case 3:
			write_heap(&writer, input);
			break;
		default:
			files_end(&writer);
			break;
		}
	}
}

/* ---- what must hold ---- */

static void
check_name(const char *name)
{
	struct span rest = span_of(name);
	const char *part = name;
	bool valid;
	size_t n;

	check(*name != '\0', "a name");
	while (part) {
		size_t length = strcspn(part, "/");

		check(length > 0, "no empty part of a path");
		check(!(length == 1 && part[0] == '.') &&
			  !(length == 2 && memcmp(part, "..", 2) == 0),
		    "no path that leads up");
		part = part[length] ? part + length + 1 : NULL;
	}
	while ((n = text_char(rest, &valid)) > 0) {
		check(valid, "a name of valid UTF-8");
		check(rest.p[0] >= 0x20 && rest.p[0] != 0x7f,
		    "a name without control characters");
		rest.p += n;
		rest.n -= n;
	}
}

static void
check_list(const struct file_list *list)
{
	uint64_t taken = 0;

	check(list->n <= RESULT_FILES_MAX, "no more files than may be");
	for (unsigned i = 0; i < list->n; i++) {
		const struct file *file = &list->files[i];

		check_name(file->name);
		check(i == 0 || strcmp(list->files[i - 1].name, file->name) < 0,
		    "an order, and no name twice");
		check(file->size <= GUEST_FILE_SIZE_MAX, "a possible size");
		check(file->bytes.n == (file->taken ? file->size : 0),
		    "all of a file or nothing");
		taken += file->bytes.n;
	}
	check(taken <= RESULT_FILES_BYTES, "no more bytes than may be");
}

/* ---- files that a call is given ---- */

static void
check_given(struct span rest)
{
	struct span name, bytes, others[ENTRIES_GIVEN];
	unsigned n = 0;

	while (files_in_next(&rest, &name, &bytes)) {
		check(file_name_is_plain(name), "a name that leads nowhere");
		for (unsigned i = 0; i < n; i++) {
			size_t m = name.n < others[i].n ? name.n : others[i].n;

			check(memcmp(name.p, others[i].p, m) != 0 ||
				  (name.n != others[i].n &&
				      (name.n > m ? name.p[m]
						  : others[i].p[m]) != '/'),
			    "no name twice, and no file for a directory");
		}
		if (n < ENTRIES_GIVEN)
			others[n++] = name;
	}
	check(rest.n == 0, "all that was packed comes out");
}

/* As a client names them; then as no packer of ours would write them. */
static void
give_files(struct input input)
{
	struct span rest = { input.p, input.n }, name, bytes;
	struct buf files;
	struct err err;

	while (files_in_next(&rest, &name, &bytes))
		check(bytes.p + bytes.n == rest.p, "no byte left out");
	buf_init(&files, FILES_IN_PACKED_MAX);
	while (input.n > 0) {
		uint8_t text[PIECE_MAX];
		size_t n = take_bytes(&input, text);

		(void)files_in_add(
		    &files, (struct span){ text, n }, span_of("x"), &err);
	}
	check_given(buf_span(&files));
	buf_done(&files);
}

/* ---- images ---- */

#define PNG_BEGINNING   "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"
#define PNG_BEGINNING_N 16u

/* Exactly as long as it says, so that a sanitizer sees a byte too many. */
static bool
passes(const struct buf *image, size_t n, struct png *png)
{
	uint8_t *copy = malloc(n);
	bool is;

	check(copy != NULL, "memory");
	memcpy(copy, image->p, n);
	is = png_look((struct span){ copy, n }, png);
	free(copy);
	return is;
}

/* Chunks of any type and length behind a header of any content. */
static void
look_at_image(struct input input)
{
	static const char *const types[] = { "IDAT", "IEND", "IHDR", "tEXt" };
	struct buf image = { .max = MIB };
	struct png png = { 0 };

	(void)buf_add(&image, PNG_BEGINNING, PNG_BEGINNING_N);
	for (unsigned i = 0; i < 17; i++)
		(void)buf_add(&image, &(uint8_t){ take(&input) }, 1);
	while (input.n > 0) {
		uint8_t kind = take(&input), bytes[PIECE_MAX];
		size_t n = take_bytes(&input, bytes);
		uint32_t said =
		    kind & 64 ? (uint32_t)take_number(&input) : (uint32_t)n;

		for (int shift = 24; shift >= 0; shift -= 8)
			(void)buf_add(
			    &image, &(uint8_t){ (uint8_t)(said >> shift) }, 1);
		(void)buf_add(&image, types[kind % 4], 4);
		(void)buf_add(&image, bytes, n);
		(void)buf_add(&image, "crc!", 4);
	}
	if (passes(&image, image.n, &png)) {
		check(png.width - 1 < PNG_SIDE_MAX &&
			  png.height - 1 < PNG_SIDE_MAX &&
			  png.width * png.height <= PNG_PIXELS_MAX,
		    "a size that may be");
		check(!passes(&image, image.n - 1, &png), "no front of one");
		(void)buf_add(&image, "", 1);
		check(!passes(&image, image.n, &png), "no tail of one");
	}
	buf_done(&image);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct file_list list;
	struct err err = { 0 };
	int fd = output_create(CHARS, &err);
	struct output *output = output_map(fd, CHARS);

	check(output != NULL, "a region can be mapped");
	give_files(input);
	look_at_image(input);
	write_region(output, &input);
	file_list_init(&list);
	if (output_read_files(fd, CHARS, &list, &err) < 0)
		check(list.n == 0 && !list.files && err.text[0],
		    "nothing of a list that is none");
	check_list(&list);
	file_list_done(&list);
	output_unmap(output);
	fd_close(fd);
	return 0;
}
