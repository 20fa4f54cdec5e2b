/* png.c: the skeleton of a PNG image: its signature, its header, its chunks.
 * Hostile input: the bytes. Pure; fuzzed by fuzz_files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/png.h"

#include "conf/limits.h"

#include <string.h>

#define SIGNATURE   "\x89PNG\r\n\x1a\n"
#define SIGNATURE_N 8u
#define HEADER_N    13u /* bytes of an IHDR */
#define AROUND_N    12u /* of a chunk: its length, its type, its check */

struct chunk {
	struct span type, data;
};

static uint32_t
number_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static bool
type_is(const struct chunk *chunk, const char *type)
{
	return memcmp(chunk->type.p, type, 4) == 0;
}

/* Takes the next chunk off *rest; false: there is no whole one. */
static bool
take_chunk(struct span *rest, struct chunk *ret_chunk)
{
	uint32_t n;

	if (rest->n < AROUND_N)
		return false;
	n = number_at(rest->p);
	if (n > rest->n - AROUND_N)
		return false;
	ret_chunk->type = (struct span){ rest->p + 4, 4 };
	ret_chunk->data = (struct span){ rest->p + 8, n };
	rest->p += AROUND_N + n;
	rest->n -= AROUND_N + n;
	return true;
}

/* Which depths each kind of colour may have, a bit for each. */
static bool
kind_is_possible(uint8_t depth, uint8_t colour)
{
	static const uint32_t depths[] = {
		[0] = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 16,
		[2] = 1u << 8 | 1u << 16,
		[3] = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8,
		[4] = 1u << 8 | 1u << 16,
		[6] = 1u << 8 | 1u << 16,
	};

	return colour < sizeof(depths) / sizeof(depths[0]) && depth <= 16 &&
	       (depths[colour] & 1u << depth) != 0;
}

static bool
read_header(const struct chunk *chunk, struct png *ret_png)
{
	const uint8_t *p = chunk->data.p;
	struct png png;

	if (!type_is(chunk, "IHDR") || chunk->data.n != HEADER_N)
		return false;
	png = (struct png){ number_at(p), number_at(p + 4) };
	if (png.width == 0 || png.width > PNG_SIDE_MAX || png.height == 0 ||
	    png.height > PNG_SIDE_MAX ||
	    (uint64_t)png.width * png.height > PNG_PIXELS_MAX)
		return false;
	/* One compression, one filter, two ways of interlacing. */
	if (!kind_is_possible(p[8], p[9]) || p[10] != 0 || p[11] != 0 ||
	    p[12] > 1)
		return false;
	*ret_png = png;
	return true;
}

bool
png_look(struct span bytes, struct png *ret_png)
{
	struct chunk chunk;
	struct png png;
	bool data = false;

	if (bytes.n < SIGNATURE_N ||
	    memcmp(bytes.p, SIGNATURE, SIGNATURE_N) != 0)
		return false;
	bytes.p += SIGNATURE_N;
	bytes.n -= SIGNATURE_N;
	if (!take_chunk(&bytes, &chunk) || !read_header(&chunk, &png))
		return false;
	while (take_chunk(&bytes, &chunk)) {
		if (type_is(&chunk, "IHDR"))
			return false;
		data = data || type_is(&chunk, "IDAT");
		if (!type_is(&chunk, "IEND"))
			continue;
		if (!data || chunk.data.n != 0 || bytes.n != 0)
			return false;
		*ret_png = png;
		return true;
	}
	return false;
}

void
png_sift(struct file_list *images)
{
	for (unsigned i = 0; i < images->n; i++) {
		struct file *file = &images->files[i];
		struct png png;

		if (!file->taken || png_look(buf_span(&file->bytes), &png))
			continue;
		buf_done(&file->bytes);
		file->taken = false;
	}
}
