/* wasi_dir.c: listing a directory.
 * Hostile input: buffer, length, cookie; fuzzed by fuzz_wasi.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasi_state.h"

#include <string.h>

static uint32_t
add_cut(
    uint8_t *into, uint32_t used, uint32_t len, const uint8_t *bytes, size_t n)
{
	if (n > len - used)
		n = len - used;
	memcpy(into + used, bytes, n);
	return used + (uint32_t)n;
}

/* Fills the buffer to its last byte, cutting the last entry: a full buffer
 * tells the guest to ask again, with a larger one if need be. */
static uint32_t
list_entries(
    const struct memfs_node *dir, uint64_t cookie, uint8_t *into, uint32_t len)
{
	struct memfs_dirent entry;
	uint32_t used = 0;

	while (used < len && memfs_next_entry(dir, cookie, &entry)) {
		uint8_t record[WASI_DIRENT_BYTES] = { 0 };

		record_put_u64(record, 0, entry.cookie);
		record_put_u64(record, 8, entry.ino);
		record_put_u32(record, 16, (uint32_t)entry.name.n);
		record[20] = (uint8_t)entry.type;
		used = add_cut(into, used, len, record, sizeof(record));
		used = add_cut(into, used, len, entry.name.p, entry.name.n);
		cookie = entry.cookie;
	}
	return used;
}

IMPORT(fd_readdir)
{
	struct guest_ptr ret = guest_ptr_of(args->slot[4]);
	uint32_t len = (uint32_t)args->slot[2];
	struct memfs_node *dir;
	uint8_t *into;
	enum wasi_errno e = fd_dir(wasi, args->slot[0], &dir);

	if (e != WASI_OK)
		return e;
	into = guest_at(&wasi->mem, guest_ptr_of(args->slot[1]), len);
	if (!into || !guest_at(&wasi->mem, ret, sizeof(len)))
		return WASI_FAULT;
	(void)guest_put_u32(
	    &wasi->mem, ret, list_entries(dir, args->slot[3], into, len));
	return WASI_OK;
}
