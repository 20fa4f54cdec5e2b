/* memfs_data.c: the bytes of a file, held in chunks so that holes cost
 * nothing, nor do bytes that are borrowed and were not written to.
 * Hostile input: offsets and sizes. Pure; fuzzed by fuzz_memfs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/memfs_impl.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_GRAIN 256u /* the smallest a chunk holds: most files are small */

/* Where the chunk with this index is, or would be. */
static uint32_t
chunk_place(const struct data *data, uint64_t index)
{
	uint32_t low = 0, high = data->chunks_n;

	/* Most files are written from front to back. */
	if (high > 0 && data->chunks[high - 1].index < index)
		return high;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (data->chunks[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct chunk *
chunk_find(const struct data *data, uint64_t index)
{
	uint32_t place = chunk_place(data, index);

	if (place == data->chunks_n || data->chunks[place].index != index)
		return NULL;
	return &data->chunks[place];
}

static struct chunk *
chunk_insert(struct data *data, uint64_t index)
{
	uint32_t place = chunk_place(data, index);
	struct chunk *chunks = data->chunks;

	if (data->chunks_n == data->chunks_cap) {
		uint32_t cap = data->chunks_cap ? data->chunks_cap * 2 : 1;

		chunks = realloc(chunks, cap * sizeof(*chunks));
		if (!chunks)
			return NULL;
		data->chunks = chunks;
		data->chunks_cap = cap;
	}
	memmove(chunks + place + 1, chunks + place,
	    (data->chunks_n - place) * sizeof(*chunks));
	chunks[place] = (struct chunk){ .index = index };
	data->chunks_n++;
	return &chunks[place];
}

static void
chunk_remove(struct data *data, struct chunk *chunk)
{
	size_t place = (size_t)(chunk - data->chunks);

	free(chunk->bytes);
	memmove(
	    chunk, chunk + 1, (data->chunks_n - place - 1) * sizeof(*chunk));
	data->chunks_n--;
}

static uint32_t
grain_up(uint32_t n)
{
	return (n + CHUNK_GRAIN - 1) / CHUNK_GRAIN * CHUNK_GRAIN;
}

/* How much a chunk of have bytes should hold to reach want: twice as much
 * as before where the quota allows it, else what is needed, else what is
 * left. */
static uint32_t
chunk_size(const struct memfs *fs, uint32_t have, uint32_t want)
{
	uint64_t left =
	    fs->limits.bytes > fs->bytes ? fs->limits.bytes - fs->bytes : 0;
	uint32_t size = CHUNK_GRAIN;

	while (size < want)
		size *= 2;
	if (size - have > left)
		size = grain_up(want);
	if (size - have > left)
		size = have + (uint32_t)left;
	return size;
}

static bool
chunk_resize(struct memfs *fs, struct chunk *chunk, uint32_t size)
{
	uint8_t *bytes = realloc(chunk->bytes, size);

	if (!bytes)
		return false;
	if (size > chunk->cap) {
		memset(bytes + chunk->cap, 0, size - chunk->cap);
		memfs_charge(fs, size - chunk->cap);
	} else {
		fs->bytes -= chunk->cap - size;
	}
	chunk->bytes = bytes;
	chunk->cap = size;
	return true;
}

/* How many of the chunk's bytes are borrowed. */
static uint32_t
chunk_borrowed(const struct data *data, uint64_t index)
{
	uint64_t start = index * CHUNK_BYTES;

	if (start >= data->borrowed_n)
		return 0;
	return data->borrowed_n - start < CHUNK_BYTES
		   ? (uint32_t)(data->borrowed_n - start)
		   : CHUNK_BYTES;
}

/* A new chunk of size bytes. NULL without memory. */
static struct chunk *
chunk_make(struct memfs *fs, struct data *data, uint64_t index, uint32_t size)
{
	struct chunk *chunk = chunk_insert(data, index);
	uint32_t old = chunk_borrowed(data, index);

	if (!chunk)
		return NULL;
	if (!chunk_resize(fs, chunk, size)) {
		chunk_remove(data, chunk);
		return NULL;
	}
	if (old > 0)
		memcpy(chunk->bytes, data->borrowed + index * CHUNK_BYTES, old);
	return chunk;
}

/* Makes as many of the n bytes at this place writable as the quota allows.
 * *ret_bytes is where they are. */
static enum wasi_errno
chunk_reserve(struct memfs *fs, struct data *data, uint64_t offset, size_t n,
    uint8_t **ret_bytes, size_t *ret_n)
{
	uint32_t in = (uint32_t)(offset % CHUNK_BYTES);
	uint32_t want = n < CHUNK_BYTES - in ? in + (uint32_t)n : CHUNK_BYTES;
	uint64_t index = offset / CHUNK_BYTES;
	struct chunk *chunk = chunk_find(data, index);
	uint32_t have = chunk ? chunk->cap : 0;
	uint32_t least = chunk ? 0 : chunk_borrowed(data, index);
	uint32_t size = have;

	if (have < want || have < least)
		size = chunk_size(fs, have, want > least ? want : least);
	if (size <= in || size < least)
		return WASI_NOSPC;
	if (!chunk)
		chunk = chunk_make(fs, data, index, size);
	else if (size > have && !chunk_resize(fs, chunk, size))
		chunk = NULL;
	if (!chunk)
		return WASI_NOMEM;
	*ret_bytes = chunk->bytes + in;
	*ret_n = (want < size ? want : size) - in;
	return WASI_OK;
}

enum wasi_errno
data_write(struct memfs *fs, struct data *data, uint64_t offset,
    const uint8_t *bytes, size_t n, size_t *ret_n)
{
	size_t done = 0, part;
	uint8_t *at;
	enum wasi_errno e;

	if (n > 0 && offset >= fs->limits.file_size)
		return WASI_FBIG;
	if (n > fs->limits.file_size - offset)
		n = (size_t)(fs->limits.file_size - offset);
	while (done < n) {
		e = chunk_reserve(
		    fs, data, offset + done, n - done, &at, &part);
		if (e != WASI_OK && done == 0)
			return e;
		if (e != WASI_OK)
			break;
		memcpy(at, bytes + done, part);
		done += part;
		if (offset + done > data->size)
			data->size = offset + done;
	}
	*ret_n = done;
	return WASI_OK;
}

/* Copies what there is of the n bytes at this place, which are within one
 * chunk; zeros for the rest. */
static void
chunk_read(const struct data *data, uint64_t at, uint8_t *bytes, size_t n)
{
	const struct chunk *chunk = chunk_find(data, at / CHUNK_BYTES);
	uint32_t in = (uint32_t)(at % CHUNK_BYTES);
	uint32_t cap =
	    chunk ? chunk->cap : chunk_borrowed(data, at / CHUNK_BYTES);
	size_t held = cap > in ? cap - in : 0;

	if (held > n)
		held = n;
	if (held > 0)
		memcpy(bytes, chunk ? chunk->bytes + in : data->borrowed + at,
		    held);
	memset(bytes + held, 0, n - held);
}

size_t
data_read(const struct data *data, uint64_t offset, uint8_t *bytes, size_t n)
{
	size_t done, part;

	if (offset >= data->size)
		return 0;
	if (n > data->size - offset)
		n = (size_t)(data->size - offset);
	if (data->chunks_n == 0 && data->borrowed_n == data->size) {
		memcpy(bytes, data->borrowed + offset, n);
		return n;
	}
	for (done = 0; done < n; done += part) {
		uint64_t at = offset + done;
		uint32_t in = (uint32_t)(at % CHUNK_BYTES);

		part = n - done;
		if (part > CHUNK_BYTES - in)
			part = CHUNK_BYTES - in;
		chunk_read(data, at, bytes + done, part);
	}
	return n;
}

/* Frees what a chunk holds from keep on; zeros what it goes on holding. */
static void
chunk_cut(struct memfs *fs, struct chunk *chunk, uint32_t keep)
{
	uint32_t size = grain_up(keep);

	if (chunk->cap <= keep)
		return;
	memset(chunk->bytes + keep, 0, chunk->cap - keep);
	/* Where no smaller block can be had, the old one serves as well. */
	if (size < chunk->cap)
		(void)chunk_resize(fs, chunk, size);
}

void
data_resize(struct memfs *fs, struct data *data, uint64_t size)
{
	uint64_t index = size / CHUNK_BYTES;
	uint32_t in = (uint32_t)(size % CHUNK_BYTES);
	uint32_t first = chunk_place(data, index + (in > 0));
	struct chunk *edge = in > 0 ? chunk_find(data, index) : NULL;

	for (uint32_t i = first; i < data->chunks_n; i++) {
		fs->bytes -= data->chunks[i].cap;
		free(data->chunks[i].bytes);
	}
	data->chunks_n = first;
	if (edge)
		chunk_cut(fs, edge, in);
	if (first == 0) {
		free(data->chunks);
		data->chunks = NULL;
		data->chunks_cap = 0;
	}
	data->size = size;
	if (data->borrowed_n > size)
		data->borrowed_n = size;
	if (size == 0)
		data->borrowed = NULL;
}
