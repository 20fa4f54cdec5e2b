/* pack.h: a packed directory: many files in one, mapped, so that a room's
 * tree borrows their bytes and all rooms of the machine share them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_PACK_H
#define WASM_PACK_H

#include "base/buf.h"
#include "base/err.h"
#include "wasm/memfs.h"

/* 2026-01-01: a fixed time, so that two installations are alike. */
#define LIBRARY_TIME_NS (1767225600ull * 1000000000ull)

/* Maps a whole file, for as long as the process lives. 0 or -errno. */
int pack_map(const char *path, struct span *ret_bytes, struct err *err);

/* Adds the pack's files below the directory under, read-only; what is there
 * already stays. 0; -EPROTO when
 * it is none, or names a place elsewhere; -errno. */
int pack_load(
    struct memfs *fs, struct span pack, const char *under, struct err *err);

#endif
