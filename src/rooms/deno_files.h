/* deno_files.h: the runner of the room deno, as bytes: it travels in the keeper,
 * so that there is no file of it to be found or mistaken.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_DENO_FILES_H
#define ROOMS_DENO_FILES_H

#include <stdint.h>

struct deno_file {
	const char *name;
	const uint8_t *bytes;
	unsigned n;
};

extern const struct deno_file deno_files[];
extern const unsigned deno_files_n;

#endif
