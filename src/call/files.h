/* files.h: what a program left in /workspace, as its result carries it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_FILES_H
#define CALL_FILES_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct file {
	char *name;        /* below /workspace; valid UTF-8, no "..", no NUL */
	uint64_t size;     /* what the program would see */
	struct buf bytes;  /* all of it, if it was taken along */
	bool taken;        /* false: listed only; too large, or too many */
};

/* The files of one result, in the order of their names. */
struct file_list {
	struct file *files;
	unsigned n;
	bool more; /* there were others that are not even listed */
};

void file_list_init(struct file_list *list);
void file_list_done(struct file_list *list);

#endif
