/* snapshot.h: a started guest as a file: linear memory, the writable files,
 * the open descriptors. A process that maps it goes on where the snapshot was
 * taken, in a few milliseconds. The file is trusted like the program itself
 * (the artifacts' checks see to its owner and mode), yet every size in it is
 * checked against the file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_SNAPSHOT_H
#define WASM_SNAPSHOT_H

#include "base/err.h"
#include "wasm/engine.h"
#include "wasm/interrupt.h"
#include "wasm/wasi.h"

#include <stdint.h>

/* CPython's idea of its C stack: three words in linear memory. The stack
 * begins at top and grows down; below soft, Python raises RecursionError. */
struct stack_window {
	uint32_t at; /* the guest address of {top, soft, hard} */
	uint32_t top;
};

struct snapshot_info {
	uint64_t memory_bytes; /* of linear memory */
	struct stack_window window;
	struct interrupt interrupt;
};

/* Finds the window in a started guest. 0; -ENOENT if it is not there exactly
 * once. */
int snapshot_find_window(const struct guest_mem *mem,
    struct stack_window *ret_window, struct err *err);

/* Sets the window to so many bytes. */
int snapshot_set_window(const struct guest_mem *mem,
    const struct stack_window *window, uint32_t bytes, struct err *err);

/* Writes path (mode 0600, must not exist), with the words of info that the
 * memory does not tell itself. 0 or -errno. */
int snapshot_write(const char *path, struct engine *engine, struct wasi *wasi,
    const struct snapshot_info *info, struct err *err);

/* The sizes in a snapshot: what an engine must allow for. */
int snapshot_read_info(
    const char *path, struct snapshot_info *ret_info, struct err *err);

/* Maps the snapshot, copy on write, over the memory of a new engine, and
 * restores files and descriptors. 0 or -errno. */
int snapshot_restore(const char *path, struct engine *engine, struct wasi *wasi,
    struct err *err);

#endif
