/* wasi_setup.h: a guest's world for tests: 64 KiB of guest memory, a clock that
 * the test sets, and calls by name through the table that the engine uses.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_WASI_SETUP_H
#define TESTS_UNIT_WASI_SETUP_H

#include "conf/limits.h"
#include "wasm/imports.h"

#define WASI_MODULE  "wasi_snapshot_preview1"
#define MEMORY_BYTES 65536u
#define OUTSIDE      (MEMORY_BYTES + 8u)
#define DATA_ROOT    "/lib/all.zip/data"

/* Where tests put things in guest memory. */
#define AT_RET   16u
#define AT_IOVEC 1024u
#define AT_PATH  2048u
#define AT_PATH2 3072u
#define AT_BUF   8192u

struct setup {
	struct wasi *wasi;
	uint8_t *memory;
	uint64_t now_ns[4];
	uint64_t slept_ns;
	struct buf out[3];
	struct wasi_sys sys;
};

/* A setup in *state, for cmocka. */
int set_up(void **state);
int tear_down(void **state);

/* What the world's tree holds; wasi_config takes it. */
struct memfs *tree_new(void);

/* A fresh world in place of the present one. */
void setup_again(struct setup *setup);

/* Calls the import of this name with the arguments, the rest zeros. */
#define CALL(setup, name, ...) \
	call(setup, name, (struct import_args){ { __VA_ARGS__ } })
uint32_t call(struct setup *setup, const char *name, struct import_args args);

/* The guest memory at an address. */
uint32_t get_u32(const struct setup *setup, size_t at);
uint64_t get_u64(const struct setup *setup, size_t at);
uint32_t put_text(struct setup *setup, uint32_t at, const char *text);
void put_iovec(struct setup *setup, unsigned index, uint32_t at, uint32_t n);

uint32_t try_open(struct setup *setup, uint32_t dir, const char *path,
    uint32_t oflags, uint64_t rights, uint32_t fdflags);

/* Opens or makes path below "/" with all rights. */
uint32_t open_file(struct setup *setup, const char *path, uint32_t fdflags);

uint32_t write_text(struct setup *setup, uint32_t fd, const char *text);

/* Reads n bytes and compares them with all of text. */
void assert_reads(
    struct setup *setup, uint32_t fd, uint32_t n, const char *text);

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
