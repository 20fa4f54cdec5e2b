/* fuzz_wasi.c: random calls of every import with pointers in, around and far
 * outside a small guest memory: no access outside it, no crash.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_input.h"

#include "base/err.h"
#include "wasm/imports.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_BYTES 4096u
#define PATHS_AT     3072u /* paths that make sense, 8 bytes each */

static const char paths[][8] = { "a", "b", "a/b", "a/c", "..", "z", "lib/zip",
	"f" };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small numbers, numbers at the end of the memory, and far too large ones;
 * an i32 slot has zeros above it, as the engine promises. */
static uint64_t
take_slot(struct input *input, char type)
{
	uint8_t kind = take(input), low = take(input);
	uint64_t value = low;

	if (kind < 40)
		value = low * 16u;
	else if (kind < 64)
		value = PATHS_AT + low % 8 * 8;
	else if (kind < 80)
		value = MEMORY_BYTES - low % 32;
	else if (kind < 90)
		value = UINT32_MAX - low;
	else if (kind < 96)
		value = UINT64_MAX - low;
	else if (kind < 110)
		value = (uint64_t)low << (kind % 64);
	else if (kind < 200)
		value = low % 8;
	return type == 'i' ? (uint32_t)value : value;
}

static bool
fake_clock(void *arg, uint32_t id, uint64_t *ret_ns)
{
	uint64_t *now = arg;

	*ret_ns = *now += 1000;
	return id <= WASI_CLOCK_THREAD;
}

static uint64_t
fake_sleep(void *arg, uint64_t ns)
{
	*(uint64_t *)arg += ns;
	return 0;
}

static void
fake_random(void *arg, uint8_t *bytes, size_t n)
{
	(void)arg;
	memset(bytes, 7, n);
}

static void
touch_output(void *arg, int stream, const uint8_t *bytes, size_t n)
{
	uint8_t *sum = arg;

	for (size_t i = 0; i < n; i++)
		*sum = (uint8_t)(*sum + bytes[i] + stream);
}

static struct memfs *
tree_new(void)
{
	static const struct memfs_limits limits = {
		.bytes = 1u << 16,
		.entries = 64,
		.file_size = 1ull << 40,
	};
	struct memfs *fs = memfs_new(&limits);

	if (!fs || memfs_add_root(fs, "/lib/zip/data") < 0 ||
	    memfs_add_file(fs, "/lib/zip", span_of("PK"), true, 1) < 0 ||
	    memfs_add_file(fs, "/lib/zip/data/f", span_of("font"), true, 1) <
		0 ||
	    memfs_add_dir(fs, "/a", false) < 0 ||
	    memfs_add_device(fs, "/z", MEMFS_RANDOM) < 0)
		BUG("no memory");
	return fs;
}

/* Opens a file and the read-only one, so that few inputs are spent on it. */
static void
open_two(struct wasi *wasi)
{
	const struct import *open = import_find(
	    span_of("wasi_snapshot_preview1"), span_of("path_open"));
	struct import_args file = { { 3, 0, PATHS_AT + 8, 1, WASI_OPEN_CREATE,
	    WASI_RIGHTS_ALL, WASI_RIGHTS_ALL, 0, 8 } };
	struct import_args font = { { 4, 0, PATHS_AT + 56, 1, 0,
	    WASI_RIGHT_READ, WASI_RIGHTS_ALL, 0, 8 } };

	if (open->call(wasi, &file) != WASI_OK ||
	    open->call(wasi, &font) != WASI_OK)
		BUG("cannot open");
}

static void
call_one(struct wasi *wasi, struct input *input)
{
	const struct import *import = &imports[take(input) % imports_count];
	struct import_args args = { 0 };

	for (size_t i = 0; i < import_arity(import); i++)
		args.slot[i] = take_slot(input, import->signature[i]);
	(void)import->call(wasi, &args);
}

/* What was saved is refused while its numbers are open, else comes back. */
static void
save_and_load(struct wasi *wasi)
{
	struct buf saved;
	struct import_args args = { 0 };

	buf_init(&saved, 1u << 20);
	if (wasi_save(wasi, &saved, NULL) == 0) {
		if (saved.n > 0 && wasi_load(wasi, buf_span(&saved), NULL) == 0)
			BUG("loaded onto open descriptors");
		for (; args.slot[0] < 64; args.slot[0]++)
			(void)import_find(span_of("wasi_snapshot_preview1"),
			    span_of("fd_close"))
			    ->call(wasi, &args);
		(void)wasi_load(wasi, buf_span(&saved), NULL);
	}
	buf_done(&saved);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const words[] = { "one", "two=2", NULL };
	struct input input = { data, size };
	uint64_t now = 0;
	uint8_t sum = 0;
	struct wasi_sys sys = { &now, fake_clock, fake_clock, fake_sleep,
		fake_random };
	struct wasi_config config = {
		.fs = tree_new(),
		.argv = words,
		.env = words,
		.sys = &sys,
		.write_out = touch_output,
		.write_arg = &sum,
	};
	struct wasi *wasi;
	uint8_t *memory = malloc(MEMORY_BYTES);

	if (!memory || wasi_new(&config, &wasi, NULL) < 0)
		BUG("no memory");
	memset(memory, 0, MEMORY_BYTES);
	/* The head of the input is the memory's: paths, iovecs, events. */
	for (size_t i = 0; i < 256 && input.n > 64; i++)
		memory[i * 16 % 1024 + i / 64] = take(&input);
	memcpy(memory + PATHS_AT, paths, sizeof(paths));
	wasi_set_memory(wasi, (struct guest_mem){ memory, MEMORY_BYTES });
	wasi_set_input(
	    wasi, span_of("input\n"), span_of("print(1)\n"), span_of("{}"));
	open_two(wasi);
	while (input.n > 0)
		call_one(wasi, &input);
	save_and_load(wasi);
	wasi_free(wasi);
	free(memory);
	return 0;
}
