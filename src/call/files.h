/* files.h: what a program left in /workspace. A child lists it in its output
 * region (output.h) when the program has ended; the server takes it from there
 * into the result. A call that leaves nothing touches nothing.
 *
 * Hostile input: the reader's: a child that was taken over may write anything
 * into its region at any time. All is copied by pread before it is looked at.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_FILES_H
#define CALL_FILES_H

#include "base/buf.h"
#include "base/err.h"
#include "conf/limits.h"

#include <stdbool.h>
#include <stdint.h>

struct file {
	/* Below /workspace: valid UTF-8 without "." and ".." and without
	 * control characters. A backslash is doubled, and a byte that could not
	 * be shown is written \xNN, so that two files never share a name. */
	char *name;
	uint64_t size;    /* what the program would see */
	struct buf bytes; /* all of it, if it was taken along */
	bool taken;       /* false: listed only, there is too much of it */
};

/* The files of one result, in the order of their names. */
struct file_list {
	struct file *files;
	unsigned n;
	bool more; /* there were others that are not even listed */
};

void file_list_init(struct file_list *list);
void file_list_done(struct file_list *list);

/* ---- the part of the region ---- */

/* The index stands in the region's first page, which every call touches; names
 * and bytes stand behind the streams. */
struct files_entry {
	uint64_t size;
	uint64_t at; /* in the heap: of the name, which the bytes follow */
	uint32_t name_n;
	uint32_t taken; /* 1: the bytes are there */
};

struct files_index {
	uint32_t n;
	uint32_t more;
	struct files_entry entries[RESULT_FILES_MAX];
};

#define FILES_HEAP_BYTES \
	((size_t)RESULT_FILES_BYTES + RESULT_FILES_MAX * RESULT_NAME_MAX)

/* The writer's side; it believes itself. */
struct files_writer {
	struct files_index *index;
	uint8_t *heap;
	size_t used;
	uint64_t taken_bytes;
	uint32_t n;
	bool more;
};

/* Lists a file, if there is a place; *ret_bytes is where its size bytes go, or
 * NULL: it is listed without. An empty name stands for one that is too long.
 * False: no more can be listed. */
bool files_add(struct files_writer *writer, struct span name, uint64_t size,
    uint8_t **ret_bytes);

/* Until then the region says that there are none. */
void files_end(struct files_writer *writer);

/* Takes the files from a region with the index and the heap at these places.
 * 0; -EPROTO: no child of ours writes that; -ENOMEM, -errno: *list is empty
 * then. */
int files_read(int fd, uint64_t index_at, uint64_t heap_at,
    struct file_list *list, struct err *err);

#endif
