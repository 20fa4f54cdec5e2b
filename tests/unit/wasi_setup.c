/* wasi_setup.c: see wasi_setup.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasi_setup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a system below that the test can see ---- */

static bool
fake_clock(void *arg, uint32_t id, uint64_t *ret_ns)
{
	const struct setup *setup = arg;

	if (id > WASI_CLOCK_THREAD)
		return false;
	*ret_ns = setup->now_ns[id];
	return true;
}

static bool
fake_res(void *arg, uint32_t id, uint64_t *ret_ns)
{
	(void)arg;
	*ret_ns = 1;
	return id <= WASI_CLOCK_THREAD;
}

static uint64_t
fake_sleep(void *arg, uint64_t ns)
{
	struct setup *setup = arg;

	setup->slept_ns += ns;
	setup->now_ns[WASI_CLOCK_REALTIME] += ns;
	setup->now_ns[WASI_CLOCK_MONOTONIC] += ns;
	return 0;
}

static void
fake_random(void *arg, uint8_t *bytes, size_t n)
{
	(void)arg;
	memset(bytes, 0x5a, n);
}

static void
keep_output(void *arg, int stream, const uint8_t *bytes, size_t n)
{
	struct setup *setup = arg;

	assert_true(n > 0);
	assert_int_equal(0, buf_add(&setup->out[stream], bytes, n));
}

struct memfs *
tree_new(void)
{
	static const struct memfs_limits limits = {
		.bytes = 1024u * 1024u,
		.entries = 2000,
		.file_size = GUEST_FILE_SIZE_MAX,
	};
	struct memfs *fs = memfs_new(&limits);

	assert_non_null(fs);
	assert_int_equal(0, memfs_add_root(fs, DATA_ROOT));
	assert_int_equal(
	    0, memfs_add_file(fs, "/lib/all.zip", span_of("PK"), true, 5));
	assert_int_equal(0, memfs_add_file(fs, DATA_ROOT "/a.ttf",
				span_of("0123456789"), true, 5));
	assert_int_equal(0, memfs_add_device(fs, "/dev/null", MEMFS_NULL));
	assert_int_equal(0, memfs_add_device(fs, "/dev/urandom", MEMFS_RANDOM));
	return fs;
}

static const char *const test_argv[] = { "python", NULL };
static const char *const test_env[] = { "HOME=/workspace", "LANG=C", NULL };

static void
world_new(struct setup *setup)
{
	struct wasi_config config = {
		.fs = tree_new(),
		.argv = test_argv,
		.env = test_env,
		.sys = &setup->sys,
		.write_out = keep_output,
		.write_arg = setup,
	};

	assert_int_equal(0, wasi_new(&config, &setup->wasi, NULL));
	wasi_set_memory(
	    setup->wasi, (struct guest_mem){ setup->memory, MEMORY_BYTES });
}

int
set_up(void **state)
{
	struct setup *setup = calloc(1, sizeof(*setup));

	assert_non_null(setup);
	setup->sys = (struct wasi_sys){ setup, fake_clock, fake_res, fake_sleep,
		fake_random };
	buf_init(&setup->out[1], MIB);
	buf_init(&setup->out[2], MIB);
	setup->now_ns[WASI_CLOCK_REALTIME] = 1000000;
	setup->memory = calloc(1, MEMORY_BYTES);
	assert_non_null(setup->memory);
	world_new(setup);
	*state = setup;
	return 0;
}

void
setup_again(struct setup *setup)
{
	wasi_free(setup->wasi);
	world_new(setup);
}

int
tear_down(void **state)
{
	struct setup *setup = *state;

	wasi_free(setup->wasi);
	buf_done(&setup->out[1]);
	buf_done(&setup->out[2]);
	free(setup->memory);
	free(setup);
	return 0;
}

/* ---- calling ---- */

uint32_t
call(struct setup *setup, const char *name, struct import_args args)
{
	const struct import *import =
	    import_find(span_of(WASI_MODULE), span_of(name));

	assert_non_null(import);
	return import->call(setup->wasi, &args);
}

uint32_t
get_u32(const struct setup *setup, size_t at)
{
	return record_get_u32(setup->memory, at);
}

uint64_t
get_u64(const struct setup *setup, size_t at)
{
	return record_get_u64(setup->memory, at);
}

uint32_t
put_text(struct setup *setup, uint32_t at, const char *text)
{
	memcpy(setup->memory + at, text, strlen(text));
	return (uint32_t)strlen(text);
}

void
put_iovec(struct setup *setup, unsigned index, uint32_t at, uint32_t n)
{
	record_put_u32(setup->memory, AT_IOVEC + index * 8, at);
	record_put_u32(setup->memory, AT_IOVEC + index * 8 + 4, n);
}

uint32_t
try_open(struct setup *setup, uint32_t dir, const char *path, uint32_t oflags,
    uint64_t rights, uint32_t fdflags)
{
	uint32_t n = put_text(setup, AT_PATH, path);

	return CALL(setup, "path_open", dir, WASI_LOOKUP_FOLLOW, AT_PATH, n,
	    oflags, rights, WASI_RIGHTS_ALL, fdflags, AT_RET);
}

uint32_t
open_file(struct setup *setup, const char *path, uint32_t fdflags)
{
	assert_int_equal(WASI_OK, try_open(setup, 3, path, WASI_OPEN_CREATE,
				      WASI_RIGHTS_ALL, fdflags));
	return get_u32(setup, AT_RET);
}

uint32_t
write_text(struct setup *setup, uint32_t fd, const char *text)
{
	put_iovec(setup, 0, AT_BUF, put_text(setup, AT_BUF, text));
	return CALL(setup, "fd_write", fd, AT_IOVEC, 1, AT_RET);
}

void
assert_reads(struct setup *setup, uint32_t fd, uint32_t n, const char *text)
{
	memset(setup->memory + AT_BUF, 0, n);
	put_iovec(setup, 0, AT_BUF, n);
	assert_int_equal(
	    WASI_OK, CALL(setup, "fd_read", fd, AT_IOVEC, 1, AT_RET));
	assert_int_equal(strlen(text), get_u32(setup, AT_RET));
	assert_memory_equal(setup->memory + AT_BUF, text, strlen(text));
}
