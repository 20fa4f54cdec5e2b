/* hot_file.h: the file of hot pages, and the code that it speaks of; shared
 * by those who write and read it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_HOT_FILE_H
#define WASM_HOT_FILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define HOT_MAGIC       "BRKHOT1"
#define HOT_PAGE        4096u
#define HOT_WINDOW      65536u /* what one fault maps around a page */
#define HOT_NUMBERS_MAX 65536u /* entries of a list: 256 MiB of pages */

struct hot_head { /* then the numbers, u32 each, list after list, ascending */
	char magic[8];
	uint32_t writes; /* pages of linear memory */
	uint32_t reads;  /* windows of linear memory */
	uint32_t code;   /* windows of the module's file */
	uint32_t zero;
};

/* Where the module's file is mapped as code in this process, moved back to
 * where offset 0 of the file would be; only offsets within the mapping may be
 * used. */
struct hot_code {
	const uint8_t *base;
	uint64_t start, size; /* file offsets of the mapping's start and end */
};

int hot_find_code(
    const char *module_path, struct hot_code *ret_code, struct err *err);

#endif
