/* fuzz_files.c: the files of a call, as a child that was taken over may list
 * them: whatever its region holds, the server takes all of a list that is one,
 * with names that can be shown and lead nowhere, or nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_input.h"

#include "base/fd.h"
#include "call/output.h"
#include "call/text.h"

#include <stddef.h>
#include <string.h>

#define CHARS     16u
#define FIELDS    5u
#define ENTRIES   6u /* most of what can happen, happens between few */
#define PIECE_MAX 64u
#define NEAR_HEAP 256u

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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct file_list list;
	struct err err = { 0 };
	int fd = output_create(CHARS, &err);
	struct output *output = output_map(fd, CHARS);

	check(output != NULL, "a region can be mapped");
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
