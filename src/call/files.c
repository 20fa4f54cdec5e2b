/* files.c: the files of a call, listed by a child, taken by the server.
 * Hostile input: the index and the heap of a region; fuzzed by fuzz_files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/files.h"

#include "base/own.h"
#include "call/file_name.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
file_list_init(struct file_list *list)
{
	*list = (struct file_list){ 0 };
}

void
file_list_done(struct file_list *list)
{
	for (unsigned i = 0; i < list->n; i++) {
		free(list->files[i].name);
		buf_done(&list->files[i].bytes);
	}
	free(list->files);
	file_list_init(list);
}

/* ---- the writer ---- */

bool
files_add(struct files_writer *writer, struct span name, uint64_t size,
    uint8_t **ret_bytes)
{
	struct files_entry *entry;

	*ret_bytes = NULL;
	if (name.n == 0 || name.n > RESULT_NAME_MAX) {
		writer->more = true;
		return true;
	}
	if (writer->n == RESULT_FILES_MAX) {
		writer->more = true;
		return false;
	}
	entry = &writer->index->entries[writer->n++];
	*entry = (struct files_entry){
		.size = size,
		.at = writer->used,
		.name_n = (uint32_t)name.n,
		.taken = size <= RESULT_FILES_BYTES - writer->taken_bytes,
	};
	memcpy(writer->heap + writer->used, name.p, name.n);
	writer->used += name.n;
	if (entry->taken) {
		*ret_bytes = writer->heap + writer->used;
		writer->used += (size_t)size;
		writer->taken_bytes += size;
	}
	return true;
}

void
files_end(struct files_writer *writer)
{
	if (writer->n == 0 && !writer->more)
		return; /* as the region was born */
	writer->index->more = writer->more;
	writer->index->n = writer->n;
}

/* ---- the reader ---- */

static int
read_at(int fd, uint64_t at, void *bytes, size_t n, struct err *err)
{
	uint8_t *p = bytes;

	while (n > 0) {
		ssize_t got = pread(fd, p, n, (off_t)at);

		if (got < 0)
			return fail_errno(err, "read a region's files");
		if (got == 0)
			return fail(err, EPROTO, "region is too short");
		p += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

static int
entry_check(
    const struct files_entry *entry, uint64_t taken_before, struct err *err)
{
	uint64_t bytes = entry->taken ? entry->size : 0;

	if (entry->name_n == 0 || entry->name_n > RESULT_NAME_MAX)
		return fail(err, EPROTO, "file name of %u bytes",
		    (unsigned)entry->name_n);
	if (entry->taken > 1 || entry->size > GUEST_FILE_SIZE_MAX)
		return fail(err, EPROTO, "file of impossible size");
	if (bytes > RESULT_FILES_BYTES - taken_before)
		return fail(err, EPROTO, "more file bytes than there may be");
	if (entry->at > FILES_HEAP_BYTES ||
	    entry->name_n + bytes > FILES_HEAP_BYTES - entry->at)
		return fail(err, EPROTO, "file beyond the end of its region");
	return 0;
}

static int
name_read(int fd, uint64_t at, uint32_t n, char **ret_name, struct err *err)
{
	uint8_t raw[RESULT_NAME_MAX];
	char shown[FILE_NAME_SHOWN_MAX];
	int r = read_at(fd, at, raw, n, err);

	if (r < 0)
		return r;
	if (!file_name_is_plain((struct span){ raw, n }))
		return fail(err, EPROTO, "file name that is none");
	file_name_show((struct span){ raw, n }, shown, sizeof(shown));
	*ret_name = strdup(shown);
	return *ret_name ? 0 : fail(err, ENOMEM, "no memory for a file name");
}

static int
bytes_read(int fd, uint64_t at, size_t n, struct buf *bytes, struct err *err)
{
	int r;

	buf_init(bytes, n);
	if (buf_reserve(bytes, n) < 0)
		return fail(err, ENOMEM, "no memory for a file");
	r = read_at(fd, at, bytes->p, n, err);
	if (r == 0)
		bytes->n = n;
	return r;
}

static int
entry_read(int fd, uint64_t heap_at, const struct files_entry *entry,
    struct file *file, struct err *err)
{
	uint64_t at = heap_at + entry->at;
	int r = name_read(fd, at, entry->name_n, &file->name, err);

	file->size = entry->size;
	file->taken = entry->taken;
	if (r == 0 && file->taken && file->size > 0)
		r = bytes_read(fd, at + entry->name_n, (size_t)file->size,
		    &file->bytes, err);
	return r;
}

static int
by_name(const void *a, const void *b)
{
	const struct file *one = a, *other = b;

	return strcmp(one->name, other->name);
}

static int
list_sort(struct file_list *list, struct err *err)
{
	qsort(list->files, list->n, sizeof(*list->files), by_name);
	for (unsigned i = 1; i < list->n; i++)
		if (by_name(&list->files[i - 1], &list->files[i]) == 0)
			return fail(err, EPROTO, "two files of one name");
	return 0;
}

/* index is a copy. */
static int
list_read(int fd, const struct files_index *index, uint64_t heap_at,
    struct file_list *list, struct err *err)
{
	uint64_t taken = 0;
	int r = 0;

	list->more = index->more;
	if (index->n == 0)
		return 0;
	list->files = calloc(index->n, sizeof(*list->files));
	if (!list->files)
		return fail(err, ENOMEM, "no memory for a list of files");
	for (unsigned i = 0; i < index->n && r == 0; i++) {
		const struct files_entry *entry = &index->entries[i];

		r = entry_check(entry, taken, err);
		if (r < 0)
			break;
		list->n++;
		r = entry_read(fd, heap_at, entry, &list->files[i], err);
		taken += entry->taken ? entry->size : 0;
	}
	return r < 0 ? r : list_sort(list, err);
}

int
files_read(int fd, uint64_t index_at, uint64_t heap_at, struct file_list *list,
    struct err *err)
{
	const size_t head_n = offsetof(struct files_index, entries);
	struct files_index index;
	int r = read_at(fd, index_at, &index, head_n, err);

	if (r < 0 || (index.n == 0 && index.more == 0))
		return r;
	if (index.n > RESULT_FILES_MAX || index.more > 1)
		return fail(err, EPROTO, "list of %u files", index.n);
	r = read_at(fd, index_at + head_n, index.entries,
	    index.n * sizeof(index.entries[0]), err);
	if (r == 0)
		r = list_read(fd, &index, heap_at, list, err);
	if (r < 0)
		file_list_done(list);
	return r;
}
