/* test_wasi.c: the imports as the guest calls them: the table, wild
 * pointers and counts, time, the standard streams.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasi_setup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the table ---- */

static void
table_is_the_guests(void **state)
{
	size_t wasi = 0;

	(void)state;
	for (size_t i = 0; i < imports_count; i++) {
		const char *signature = imports[i].signature;

		wasi += strcmp(imports[i].module, WASI_MODULE) == 0;
		assert_true(import_arity(&imports[i]) <= IMPORT_ARGS_MAX);
		assert_int_equal(
		    strspn(signature, "ij"), import_arity(&imports[i]));
		assert_non_null(strstr(signature, "->"));
		assert_ptr_equal(
		    &imports[i], import_find(span_of(imports[i].module),
				     span_of(imports[i].name)));
	}
	assert_int_equal(42, wasi);
	assert_int_equal(43, imports_count);
	assert_null(import_find(span_of(WASI_MODULE), span_of("call")));
}

static void
host_call_answers_no(void **state)
{
	struct setup *setup = *state;
	struct import_args args = { 0 };

	assert_int_equal(
	    UINT32_MAX, import_find(span_of("host"), span_of("call"))
			    ->call(setup->wasi, &args));
}

/* ---- wild pointers ---- */

/* For each function with good arguments: the slots that are pointers. */
static const struct {
	const char *name;
	struct import_args args;
	const char *pointers; /* their slots, as digits */
} wild[] = {
	{ "args_get", { { 64, 256 } }, "01" },
	{ "args_sizes_get", { { 64, 256 } }, "01" },
	{ "environ_get", { { 64, 256 } }, "01" },
	{ "environ_sizes_get", { { 64, 256 } }, "01" },
	{ "clock_res_get", { { 0, 64 } }, "1" },
	{ "clock_time_get", { { 0, 0, 64 } }, "2" },
	{ "fd_fdstat_get", { { 3, 64 } }, "1" },
	{ "fd_filestat_get", { { 3, 64 } }, "1" },
	{ "fd_pread", { { 5, AT_IOVEC, 1, 0, 64 } }, "14" },
	{ "fd_prestat_dir_name", { { 3, 64, 1 } }, "1" },
	{ "fd_prestat_get", { { 3, 64 } }, "1" },
	{ "fd_pwrite", { { 5, AT_IOVEC, 1, 0, 64 } }, "14" },
	{ "fd_read", { { 5, AT_IOVEC, 1, 64 } }, "13" },
	{ "fd_readdir", { { 3, 64, 100, 0, 512 } }, "14" },
	{ "fd_seek", { { 5, 0, 0, 64 } }, "3" },
	{ "fd_tell", { { 5, 64 } }, "1" },
	{ "fd_write", { { 5, AT_IOVEC, 1, 64 } }, "13" },
	{ "path_create_directory", { { 3, AT_PATH2, 1 } }, "1" },
	{ "path_filestat_get", { { 3, 0, AT_PATH, 1, 64 } }, "24" },
	{ "path_filestat_set_times", { { 3, 0, AT_PATH, 1, 0, 0, 1 } }, "2" },
	{ "path_link", { { 3, 0, AT_PATH, 1, 3, AT_PATH2, 1 } }, "25" },
	{ "path_open", { { 3, 0, AT_PATH, 1, 0, 2, 2, 0, 64 } }, "28" },
	{ "path_readlink", { { 3, AT_PATH2, 1, 64, 20, 512 } }, "135" },
	{ "path_remove_directory", { { 3, AT_PATH2, 1 } }, "1" },
	{ "path_rename", { { 3, AT_PATH, 1, 3, AT_PATH2, 1 } }, "14" },
	{ "path_symlink", { { AT_PATH, 1, 3, AT_PATH2, 1 } }, "03" },
	{ "path_unlink_file", { { 3, AT_PATH2, 1 } }, "1" },
	{ "poll_oneoff", { { 64, 512, 1, 1000 } }, "013" },
	{ "random_get", { { 64, 8 } }, "0" },
};

static void
assert_fault(struct setup *setup, size_t row, unsigned slot, uint64_t pointer)
{
	struct import_args args = wild[row].args;
	uint8_t *before = malloc(MEMORY_BYTES);
	struct memfs *fs = wasi_fs(setup->wasi);
	uint64_t bytes = memfs_bytes(fs), entries = memfs_entries(fs);
	uint32_t result;

	assert_non_null(before);
	memcpy(before, setup->memory, MEMORY_BYTES);
	args.slot[slot] = pointer;
	result = call(setup, wild[row].name, args);
	if (result != WASI_FAULT)
		fail_msg("%s, slot %u = %llx: %u", wild[row].name, slot,
		    (unsigned long long)pointer, result);
	assert_memory_equal(before, setup->memory, MEMORY_BYTES);
	assert_int_equal(bytes, memfs_bytes(fs));
	assert_int_equal(entries, memfs_entries(fs));
	free(before);
}

static void
wild_pointers_fault(void **state)
{
	struct setup *setup = *state;
	uint32_t fd = open_file(setup, "f", 0);

	assert_int_equal(5, fd);
	assert_int_equal(WASI_OK, write_text(setup, fd, "0123456789"));
	assert_int_equal(WASI_OK, CALL(setup, "fd_seek", fd, 0, 0, AT_RET));
	put_text(setup, AT_PATH, "f");
	put_text(setup, AT_PATH2, "g");
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		for (const char *p = wild[i].pointers; *p; p++) {
			unsigned slot = (unsigned)(*p - '0');

			assert_fault(setup, i, slot, OUTSIDE);
			assert_fault(setup, i, slot, UINT32_MAX);
			assert_fault(setup, i, slot, UINT32_MAX - 3);
		}
	}
	assert_int_equal(0, setup->slept_ns);
}

static void
lengths_past_the_end_fault(void **state)
{
	struct setup *setup = *state;
	uint32_t fd = open_file(setup, "f", 0);

	assert_int_equal(
	    WASI_FAULT, CALL(setup, "random_get", MEMORY_BYTES - 8, 9));
	assert_int_equal(
	    WASI_OK, CALL(setup, "random_get", MEMORY_BYTES - 8, 8));
	assert_int_equal(WASI_OK, CALL(setup, "random_get", MEMORY_BYTES, 0));
	assert_int_equal(WASI_FAULT, CALL(setup, "random_get", 8, UINT32_MAX));
	assert_int_equal(0x5a, setup->memory[MEMORY_BYTES - 1]);
	assert_int_equal(
	    WASI_FAULT, CALL(setup, "path_unlink_file", 3, 8, UINT32_MAX));
	assert_int_equal(WASI_FAULT,
	    CALL(setup, "fd_readdir", 3, 8, MEMORY_BYTES, 0, AT_RET));
	/* The second piece is wrong: the first must not be moved. */
	put_iovec(setup, 0, AT_BUF, 4);
	put_iovec(setup, 1, MEMORY_BYTES - 2, 3);
	assert_int_equal(
	    WASI_FAULT, CALL(setup, "fd_write", fd, AT_IOVEC, 2, AT_RET));
	assert_int_equal(
	    WASI_FAULT, CALL(setup, "fd_write", 1, AT_IOVEC, 2, AT_RET));
	assert_int_equal(0, memfs_bytes(wasi_fs(setup->wasi)));
	assert_int_equal(0, setup->out[1].n);
}

static void
counts_are_capped(void **state)
{
	struct setup *setup = *state;

	assert_int_equal(WASI_OK,
	    CALL(setup, "fd_write", 1, AT_IOVEC, GUEST_IOVECS_MAX, AT_RET));
	assert_int_equal(WASI_INVAL,
	    CALL(setup, "fd_write", 1, AT_IOVEC, GUEST_IOVECS_MAX + 1, AT_RET));
	assert_int_equal(WASI_INVAL,
	    CALL(setup, "fd_read", 0, AT_IOVEC, UINT32_MAX, AT_RET));
	assert_int_equal(
	    WASI_INVAL, CALL(setup, "poll_oneoff", 64, 512, 0, AT_RET));
	assert_int_equal(WASI_NOMEM,
	    CALL(setup, "poll_oneoff", 64, 512, GUEST_POLL_MAX + 1, AT_RET));
}

static void
bad_descriptors(void **state)
{
	static const char *const names[] = { "fd_advise", "fd_close",
		"fd_datasync", "fd_fdstat_get", "fd_fdstat_set_flags",
		"fd_filestat_get", "fd_filestat_set_size",
		"fd_filestat_set_times", "fd_pread", "fd_prestat_get",
		"fd_prestat_dir_name", "fd_pwrite", "fd_read", "fd_readdir",
		"fd_seek", "fd_sync", "fd_tell", "fd_write",
		"path_create_directory", "path_filestat_get",
		"path_filestat_set_times", "path_link", "path_open",
		"path_readlink", "path_remove_directory", "path_rename",
		"path_unlink_file", "sock_accept", "sock_recv", "sock_send",
		"sock_shutdown" };
	static const uint32_t numbers[] = { 6, 1023, 1024, UINT32_MAX };
	struct setup *setup = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (size_t j = 0; j < 4; j++)
			assert_int_equal(
			    WASI_BADF, CALL(setup, names[i], numbers[j]));
	}
}

/* ---- standard streams, the call, preopens ---- */

static void
standard_streams(void **state)
{
	struct setup *setup = *state;

	wasi_set_input(
	    setup->wasi, span_of("one\ntwo\n"), span_of("x"), span_of(""));
	assert_reads(setup, 0, 5, "one\nt");
	assert_reads(setup, 0, 100, "wo\n");
	assert_reads(setup, 0, 100, "");
	assert_int_equal(WASI_OK, write_text(setup, 1, "out"));
	assert_int_equal(3, get_u32(setup, AT_RET));
	assert_int_equal(WASI_OK, write_text(setup, 2, "err"));
	assert_memory_equal(setup->out[1].p, "out", 3);
	assert_memory_equal(setup->out[2].p, "err", 3);
	assert_int_equal(WASI_BADF, write_text(setup, 0, "x"));
	assert_int_equal(
	    WASI_BADF, CALL(setup, "fd_read", 1, AT_IOVEC, 1, AT_RET));
	assert_int_equal(WASI_SPIPE, CALL(setup, "fd_seek", 1, 0, 0, AT_RET));
	/* Not terminals: they have the seek right. */
	for (unsigned fd = 0; fd <= 2; fd++) {
		assert_int_equal(WASI_OK, CALL(setup, "fd_fdstat_get", fd, 64));
		assert_int_equal(WASI_TYPE_CHAR, setup->memory[64]);
		assert_true(get_u64(setup, 72) & WASI_RIGHT_SEEK);
	}
}

static void
the_call_is_a_file(void **state)
{
	struct setup *setup = *state;

	wasi_set_input(setup->wasi, span_of(""), span_of("print(1)\n"),
	    span_of("{\"echo\": false}"));
	assert_int_equal(
	    WASI_OK, CALL(setup, "fd_filestat_get", WASI_CALL_FD, 64));
	assert_int_equal(WASI_TYPE_FILE, setup->memory[64 + 16]);
	assert_int_equal(9, get_u64(setup, 64 + 32));
	assert_reads(setup, WASI_CALL_FD, 6, "print(");
	assert_reads(setup, WASI_CALL_FD, 100, "1)\n");
	assert_reads(setup, WASI_CALL_FD, 100, "");
	assert_int_equal(WASI_OK,
	    CALL(setup, "fd_seek", WASI_CALL_FD, (uint64_t)-3, 2, AT_RET));
	assert_reads(setup, WASI_CALL_FD, 100, "1)\n");
	assert_int_equal(WASI_BADF, write_text(setup, WASI_CALL_FD, "x"));
	assert_reads(setup, WASI_OPTIONS_FD, 100, "{\"echo\": false}");
	/* The program cannot close them, nor take their numbers. */
	for (uint64_t fd = WASI_CALL_FD; fd <= WASI_IMAGE_FD; fd++)
		assert_int_equal(WASI_OK, CALL(setup, "fd_close", fd));
	assert_int_equal(
	    WASI_OK, CALL(setup, "fd_seek", WASI_CALL_FD, 0, 0, AT_RET));
	assert_reads(setup, WASI_CALL_FD, 6, "print(");
	for (unsigned i = 5; i < 200; i++) {
		int fd = open_file(setup, "f", 0);

		assert_false(
		    fd >= (int)WASI_CALL_FD && fd <= (int)WASI_IMAGE_FD);
	}
	wasi_set_input(setup->wasi, span_of(""), span_of("again"), span_of(""));
	assert_reads(setup, WASI_CALL_FD, 100, "again");
}

static void
preopens_are_listed(void **state)
{
	struct setup *setup = *state;
	uint32_t n;

	assert_int_equal(WASI_OK, CALL(setup, "fd_prestat_get", 3, 64));
	assert_int_equal(1, get_u32(setup, 68));
	assert_int_equal(WASI_OK, CALL(setup, "fd_prestat_get", 4, 64));
	n = get_u32(setup, 68);
	assert_int_equal(strlen(DATA_ROOT), n);
	assert_int_equal(
	    WASI_NAMETOOLONG, CALL(setup, "fd_prestat_dir_name", 4, 64, n - 1));
	assert_int_equal(WASI_OK, CALL(setup, "fd_prestat_dir_name", 4, 64, n));
	assert_memory_equal(setup->memory + 64, DATA_ROOT, n);
	assert_int_equal(WASI_BADF, CALL(setup, "fd_prestat_get", 5, 64));
	assert_int_equal(WASI_NOTSUP, CALL(setup, "fd_close", 3));
	assert_int_equal(WASI_OK, CALL(setup, "fd_fdstat_get", 3, 64));
	assert_int_equal(WASI_TYPE_DIR, setup->memory[64]);
	assert_int_equal(WASI_RIGHTS_ALL, get_u64(setup, 80));
}

/* ---- time ---- */

static void
put_clock(struct setup *setup, unsigned index, uint32_t clock, uint64_t ns,
    bool absolute)
{
	uint8_t *at = setup->memory + AT_BUF + index * WASI_SUB_BYTES;

	memset(at, 0, WASI_SUB_BYTES);
	record_put_u64(at, 0, 100 + index);
	record_put_u32(at, 16, clock);
	record_put_u64(at, 24, ns);
	record_put_u16(at, 40, absolute);
}

static void
put_ready(struct setup *setup, unsigned index, uint8_t tag, uint32_t fd)
{
	put_clock(setup, index, fd, 0, false);
	setup->memory[AT_BUF + index * WASI_SUB_BYTES + 8] = tag;
}

static uint32_t
poll_some(struct setup *setup, uint32_t n)
{
	setup->slept_ns = 0;
	assert_int_equal(
	    WASI_OK, CALL(setup, "poll_oneoff", AT_BUF, 64, n, AT_RET));
	return get_u32(setup, AT_RET);
}

static void
poll_sleeps_the_shortest(void **state)
{
	struct setup *setup = *state;

	put_clock(setup, 0, WASI_CLOCK_MONOTONIC, 5000, false);
	put_clock(setup, 1, WASI_CLOCK_REALTIME, 1000000 + 300, true);
	put_clock(setup, 2, WASI_CLOCK_MONOTONIC, 300, false);
	assert_int_equal(2, poll_some(setup, 3));
	assert_int_equal(300, setup->slept_ns);
	assert_int_equal(101, get_u64(setup, 64));
	assert_int_equal(102, get_u64(setup, 96));
	assert_int_equal(0, get_u32(setup, 72) & 0xffff);
	/* What lies in the past, and what is zero, sleeps not at all. */
	put_clock(setup, 0, WASI_CLOCK_REALTIME, 5, true);
	assert_int_equal(1, poll_some(setup, 1));
	assert_int_equal(0, setup->slept_ns);
	put_clock(setup, 0, WASI_CLOCK_MONOTONIC, 600ull * 1000000000, false);
	assert_int_equal(1, poll_some(setup, 1));
	assert_int_equal(600ull * 1000000000, setup->slept_ns);
}

static void
poll_of_descriptors_is_ready(void **state)
{
	struct setup *setup = *state;

	put_clock(setup, 0, WASI_CLOCK_MONOTONIC, 5000, false);
	put_ready(setup, 1, WASI_EVENT_FD_READ, 0);
	put_ready(setup, 2, WASI_EVENT_FD_WRITE, 77);
	put_ready(setup, 3, 9, 0);
	put_clock(setup, 4, WASI_CLOCK_THREAD, 5000, false);
	assert_int_equal(4, poll_some(setup, 5));
	assert_int_equal(0, setup->slept_ns);
	assert_int_equal(101, get_u64(setup, 64));
	assert_int_equal(0, get_u32(setup, 72) & 0xffff);
	assert_int_equal(WASI_EVENT_FD_READ, setup->memory[74]);
	assert_int_equal(WASI_BADF, get_u32(setup, 104) & 0xffff);
	assert_int_equal(WASI_INVAL, get_u32(setup, 136) & 0xffff);
	assert_int_equal(WASI_NOTSUP, get_u32(setup, 168) & 0xffff);
}

static void
clocks(void **state)
{
	struct setup *setup = *state;

	setup->now_ns[WASI_CLOCK_PROCESS] = 42;
	assert_int_equal(WASI_OK, CALL(setup, "clock_time_get", 2, 1, AT_RET));
	assert_int_equal(42, get_u64(setup, AT_RET));
	assert_int_equal(
	    WASI_INVAL, CALL(setup, "clock_time_get", 4, 1, AT_RET));
	assert_int_equal(WASI_OK, CALL(setup, "clock_res_get", 0, AT_RET));
	assert_int_equal(1, get_u64(setup, AT_RET));
	assert_int_equal(WASI_INVAL, CALL(setup, "clock_res_get", 9, AT_RET));
}

static void
the_real_system_below(void **state)
{
	const struct wasi_sys *sys = &wasi_sys_real;
	uint64_t before, after, res;
	uint8_t bytes[64] = { 0 }, zeros[64] = { 0 };

	(void)state;
	for (uint32_t id = 0; id <= WASI_CLOCK_THREAD; id++) {
		assert_true(sys->clock_ns(sys->arg, id, &before));
		assert_true(sys->clock_res_ns(sys->arg, id, &res));
	}
	assert_false(sys->clock_ns(sys->arg, 4, &before));
	assert_true(sys->clock_ns(sys->arg, WASI_CLOCK_MONOTONIC, &before));
	assert_int_equal(0, sys->sleep_ns(sys->arg, 3000000));
	assert_true(sys->clock_ns(sys->arg, WASI_CLOCK_MONOTONIC, &after));
	assert_true(after - before >= 3000000);
	sys->random(sys->arg, bytes, sizeof(bytes));
	assert_memory_not_equal(bytes, zeros, sizeof(bytes));
}

/* Two worlds are alike, and time goes on in them without any passing. */
static void
a_fixed_world(void **state)
{
	struct wasi_fixed fixed[2];
	struct wasi_sys sys[2];
	uint8_t bytes[2][21];
	uint64_t before[2], after[2], res;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct wasi_sys *is = &sys[i];

		wasi_fixed_init(&fixed[i], &sys[i]);
		is->random(is->arg, bytes[i], sizeof(bytes[i]));
		assert_true(
		    is->clock_ns(is->arg, WASI_CLOCK_REALTIME, &before[i]));
		assert_int_equal(0, is->sleep_ns(is->arg, 3600000000000));
		assert_true(
		    is->clock_ns(is->arg, WASI_CLOCK_REALTIME, &after[i]));
	}
	assert_memory_equal(bytes[0], bytes[1], sizeof(bytes[0]));
	assert_memory_not_equal(bytes[0], bytes[0] + 8, 8);
	assert_int_equal(before[0], before[1]);
	assert_int_equal(before[0] / 1000000000, 1767225600);
	assert_int_equal(after[0] - before[0], 3600000001000);
	assert_false(sys[0].clock_ns(sys[0].arg, 4, &res));
	assert_false(sys[0].clock_res_ns(sys[0].arg, 4, &res));
	assert_int_equal(0, sys[0].sleep_ns(sys[0].arg, UINT64_MAX));
	assert_true(sys[0].clock_ns(sys[0].arg, WASI_CLOCK_MONOTONIC, &res));
}

/* To the guest its sleep is over: an error would be the program's. */
static void
an_interrupted_sleep_is_over(void **state)
{
	struct setup *setup = *state;

	put_clock(setup, 0, WASI_CLOCK_MONOTONIC, 5000, false);
	put_clock(setup, 1, WASI_CLOCK_REALTIME, 9000000, true);
	wasi_interrupt(setup->wasi);
	assert_int_equal(2, poll_some(setup, 2));
	assert_int_equal(0, setup->slept_ns);
	wasi_set_input(setup->wasi, span_of(""), span_of(""), span_of(""));
	put_clock(setup, 0, WASI_CLOCK_MONOTONIC, 5000, false);
	assert_int_equal(1, poll_some(setup, 1));
	assert_int_equal(5000, setup->slept_ns);
}

/* ---- the rest ---- */

static void
arguments_and_environment(void **state)
{
	struct setup *setup = *state;

	assert_int_equal(WASI_OK, CALL(setup, "environ_sizes_get", 64, 68));
	assert_int_equal(2, get_u32(setup, 64));
	assert_int_equal(16 + 7, get_u32(setup, 68));
	assert_int_equal(WASI_OK, CALL(setup, "environ_get", 64, 128));
	assert_int_equal(128, get_u32(setup, 64));
	assert_string_equal(
	    "LANG=C", (char *)setup->memory + get_u32(setup, 68));
	assert_int_equal(WASI_OK, CALL(setup, "args_sizes_get", 64, 68));
	assert_int_equal(1, get_u32(setup, 64));
	assert_int_equal(7, get_u32(setup, 68));
	assert_int_equal(
	    WASI_FAULT, CALL(setup, "args_get", 64, MEMORY_BYTES - 6));
	assert_int_equal(
	    WASI_OK, CALL(setup, "args_get", 64, MEMORY_BYTES - 7));
}

static void
exit_is_remembered(void **state)
{
	struct setup *setup = *state;
	uint32_t code = 99;

	assert_false(wasi_exited(setup->wasi, &code));
	assert_int_equal(99, code);
	(void)CALL(setup, "proc_exit", 7);
	assert_true(wasi_exited(setup->wasi, &code));
	assert_int_equal(7, code);
}

static void
saved_descriptors_come_back(void **state)
{
	struct setup *setup = *state;
	struct buf saved;
	struct err err;
	uint32_t fd;

	buf_init(&saved, MIB);
	(void)open_file(setup, "hole", 0);
	assert_int_equal(
	    WASI_OK, try_open(setup, 4, "a.ttf", 0, WASI_RIGHT_READ, 0));
	fd = get_u32(setup, AT_RET);
	assert_int_equal(6, fd);
	assert_reads(setup, fd, 3, "012");
	assert_int_equal(WASI_OK, CALL(setup, "fd_close", 5));
	assert_int_equal(0, wasi_save(setup->wasi, &saved, &err));
	setup_again(setup);
	for (size_t n = 1; n < saved.n; n++)
		assert_int_equal(-EINVAL,
		    wasi_load(setup->wasi, (struct span){ saved.p, n }, &err));
	assert_int_equal(0, wasi_load(setup->wasi, buf_span(&saved), &err));
	assert_int_equal(
	    -EINVAL, wasi_load(setup->wasi, buf_span(&saved), &err));
	assert_reads(setup, 6, 3, "345");
	assert_int_equal(WASI_BADF, CALL(setup, "fd_sync", 5));
	buf_done(&saved);
}

static void
a_nameless_file_cannot_be_saved(void **state)
{
	struct setup *setup = *state;
	struct buf saved;
	struct err err;

	buf_init(&saved, MIB);
	(void)open_file(setup, "f", 0);
	assert_int_equal(
	    WASI_OK, CALL(setup, "path_unlink_file", 3, AT_PATH, 1));
	assert_int_equal(-ENOENT, wasi_save(setup->wasi, &saved, &err));
	buf_done(&saved);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(table_is_the_guests),
		TEST(host_call_answers_no),
		TEST(wild_pointers_fault),
		TEST(lengths_past_the_end_fault),
		TEST(counts_are_capped),
		TEST(bad_descriptors),
		TEST(standard_streams),
		TEST(the_call_is_a_file),
		TEST(preopens_are_listed),
		TEST(poll_sleeps_the_shortest),
		TEST(poll_of_descriptors_is_ready),
		TEST(clocks),
		TEST(the_real_system_below),
		TEST(a_fixed_world),
		TEST(an_interrupted_sleep_is_over),
		TEST(arguments_and_environment),
		TEST(exit_is_remembered),
		TEST(saved_descriptors_come_back),
		TEST(a_nameless_file_cannot_be_saved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
