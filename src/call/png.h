/* png.h: whether bytes are a PNG image that may be handed on, and how large it
 * is. The picture itself is never decoded here.
 * Hostile input: the bytes. Pure; fuzzed by fuzz_files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_PNG_H
#define CALL_PNG_H

#include "base/buf.h"
#include "call/files.h"

#include <stdbool.h>
#include <stdint.h>

struct png {
	uint32_t width, height;
};

/* True if bytes are chunks from IHDR to IEND with nothing behind them, and the
 * header's sizes and kinds are possible ones, within PNG_SIDE_MAX and
 * PNG_PIXELS_MAX. */
bool png_look(struct span bytes, struct png *ret_png);

/* Takes the bytes from images that are none: listed only, from then on. */
void png_sift(struct file_list *images);

#endif
