/* pngs.h: PNG images for tests: right in their chunks, of noise in their data.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_PNGS_H
#define TESTS_UNIT_PNGS_H

#include "base/buf.h"

#include <stdint.h>
#include <string.h>

static inline void
png_number(struct buf *png, uint32_t number)
{
	uint8_t bytes[4] = { (uint8_t)(number >> 24), (uint8_t)(number >> 16),
		(uint8_t)(number >> 8), (uint8_t)number };

	(void)buf_add(png, bytes, sizeof(bytes));
}

/* A chunk of n bytes, those of data or, if that is NULL, of noise. */
static inline void
png_chunk(struct buf *png, const char *type, const void *data, uint32_t n)
{
	png_number(png, n);
	(void)buf_add(png, type, 4);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t byte = data ? ((const uint8_t *)data)[i]
				    : (uint8_t)(i * 197u + i / 251u);

		(void)buf_add(png, &byte, 1);
	}
	png_number(png, 0);
}

/* A header chunk; the last five bytes are depth, colour and three kinds. */
static inline void
png_header(struct buf *png, uint32_t width, uint32_t height, const char *kinds)
{
	struct buf data;

	buf_init(&data, 13);
	png_number(&data, width);
	png_number(&data, height);
	(void)buf_add(&data, kinds, 5);
	png_chunk(png, "IHDR", data.p, 13);
	buf_done(&data);
}

#define PNG_SIGNATURE "\x89PNG\r\n\x1a\n"
#define PNG_RGBA      "\x08\x06\x00\x00\x00"

/* A whole image with n bytes of data. */
static inline void
png_make(struct buf *png, uint32_t width, uint32_t height, uint32_t n)
{
	buf_init(png, n + 100);
	(void)buf_add(png, PNG_SIGNATURE, 8);
	png_header(png, width, height, PNG_RGBA);
	png_chunk(png, "IDAT", NULL, n);
	png_chunk(png, "IEND", NULL, 0);
}

#endif
