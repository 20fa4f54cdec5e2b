/* test_wasi_files.c: descriptors of files, rights, listings and names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasi_setup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- files ---- */

static void
positions_and_append(void **state)
{
	struct setup *setup = *state;
	uint32_t fd = open_file(setup, "f", 0);
	uint32_t add = open_file(setup, "f", WASI_FD_APPEND);

	assert_int_equal(WASI_OK, write_text(setup, fd, "0123456789"));
	assert_int_equal(WASI_OK, write_text(setup, add, "ab"));
	assert_int_equal(WASI_OK, CALL(setup, "fd_tell", add, AT_RET));
	assert_int_equal(12, get_u64(setup, AT_RET));
	assert_int_equal(WASI_OK, CALL(setup, "fd_seek", fd, 3, 0, AT_RET));
	assert_reads(setup, fd, 4, "3456");
	assert_int_equal(
	    WASI_OK, CALL(setup, "fd_seek", fd, (uint64_t)-2, 1, AT_RET));
	assert_int_equal(5, get_u64(setup, AT_RET));
	assert_int_equal(
	    WASI_INVAL, CALL(setup, "fd_seek", fd, (uint64_t)-6, 1, AT_RET));
	assert_int_equal(WASI_INVAL, CALL(setup, "fd_seek", fd, 0, 3, AT_RET));
	assert_int_equal(
	    WASI_OVERFLOW, CALL(setup, "fd_seek", fd, INT64_MAX, 1, AT_RET));
	assert_int_equal(WASI_OK, CALL(setup, "fd_seek", fd, 20, 0, AT_RET));
	assert_int_equal(WASI_OK, write_text(setup, fd, "z"));
	put_iovec(setup, 0, AT_BUF, 50);
	put_iovec(setup, 1, AT_BUF + 100, 50);
	assert_int_equal(
	    WASI_OK, CALL(setup, "fd_pread", fd, AT_IOVEC, 2, 10, AT_RET));
	assert_int_equal(11, get_u32(setup, AT_RET));
	assert_memory_equal(setup->memory + AT_BUF, "ab\0\0\0\0\0\0\0\0z", 11);
	assert_int_equal(WASI_INVAL,
	    CALL(setup, "fd_pread", fd, AT_IOVEC, 1, UINT64_MAX, AT_RET));
	assert_int_equal(WASI_OK, CALL(setup, "fd_filestat_set_size", fd, 1));
	assert_int_equal(
	    WASI_FBIG, CALL(setup, "fd_filestat_set_size", fd, 1ull << 50));
	assert_int_equal(WASI_OK, CALL(setup, "fd_filestat_get", fd, 64));
	assert_int_equal(1, get_u64(setup, 64 + 32));
}

/* Reading into the list of iovecs itself moves no pointer out of memory. */
static void
iovecs_that_change_are_checked_again(void **state)
{
	struct setup *setup = *state;
	uint32_t fd = open_file(setup, "f", 0);
	uint32_t list[2] = { 0xfffffff0u, 0x7fffffffu };

	memcpy(setup->memory + AT_BUF, list, sizeof(list));
	put_iovec(setup, 0, AT_BUF, 8);
	assert_int_equal(
	    WASI_OK, CALL(setup, "fd_write", fd, AT_IOVEC, 1, AT_RET));
	put_iovec(setup, 0, AT_IOVEC + 8, 8);
	put_iovec(setup, 1, AT_BUF, 8);
	assert_int_equal(
	    WASI_OK, CALL(setup, "fd_pread", fd, AT_IOVEC, 2, 0, AT_RET));
	assert_int_equal(8, get_u32(setup, AT_RET));
}

static void
rights_are_kept(void **state)
{
	struct setup *setup = *state;
	uint32_t fd;

	(void)open_file(setup, "f", 0);
	assert_int_equal(
	    WASI_OK, try_open(setup, 3, "f", 0, WASI_RIGHT_READ, 0));
	fd = get_u32(setup, AT_RET);
	assert_int_equal(WASI_BADF, write_text(setup, fd, "x"));
	assert_int_equal(
	    WASI_INVAL, CALL(setup, "fd_filestat_set_size", fd, 0));
	assert_int_equal(WASI_ROFS,
	    try_open(setup, 3, "lib/all.zip", 0, WASI_RIGHT_WRITE, 0));
	assert_int_equal(
	    WASI_ISDIR, try_open(setup, 3, "lib", 0, WASI_RIGHT_WRITE, 0));
	assert_int_equal(WASI_NOTDIR,
	    try_open(setup, 3, "lib/all.zip/x", 0, WASI_RIGHT_READ, 0));
	assert_int_equal(
	    WASI_NOTDIR, try_open(setup, fd, "x", 0, WASI_RIGHT_READ, 0));
	assert_int_equal(
	    WASI_NOENT, try_open(setup, 3, "", 0, WASI_RIGHT_READ, 0));
	assert_int_equal(
	    WASI_INVAL, try_open(setup, 3, "f", 16, WASI_RIGHT_READ, 0));
	assert_int_equal(
	    WASI_INVAL, try_open(setup, 3, "f", 0, WASI_RIGHT_READ, 32));
}

static void
descriptors_run_out(void **state)
{
	struct setup *setup = *state;
	uint32_t last = 0;

	for (unsigned i = 5; i < GUEST_FDS_MAX; i++) {
		if (i < WASI_CALL_FD || i > WASI_IMAGE_FD)
			last = open_file(setup, "f", 0);
	}
	assert_int_equal(GUEST_FDS_MAX - 1, last);
	assert_int_equal(WASI_MFILE,
	    try_open(setup, 3, "new", WASI_OPEN_CREATE, WASI_RIGHT_READ, 0));
	assert_int_equal(1, memfs_entries(wasi_fs(setup->wasi)));
	assert_int_equal(WASI_OK, CALL(setup, "fd_close", 50));
	assert_int_equal(50, open_file(setup, "f", 0));
}

static void
device_reads(void **state)
{
	struct setup *setup = *state;

	assert_int_equal(
	    WASI_OK, try_open(setup, 3, "dev/urandom", 0, WASI_RIGHTS_ALL, 0));
	assert_reads(setup, get_u32(setup, AT_RET), 4, "ZZZZ");
	assert_int_equal(
	    WASI_OK, try_open(setup, 3, "dev/null", 0, WASI_RIGHTS_ALL, 0));
	assert_reads(setup, get_u32(setup, AT_RET), 4, "");
}

/* ---- listings ---- */

/* Lists with a buffer of this size, going on after a cut entry as the guest's
 * libc does; counts the names. */
static unsigned
list_with(struct setup *setup, uint32_t fd, uint32_t size)
{
	uint64_t cookie = 0;
	unsigned count = 0;
	uint32_t used, at;

	do {
		assert_int_equal(WASI_OK, CALL(setup, "fd_readdir", fd, AT_BUF,
					      size, cookie, AT_RET));
		used = get_u32(setup, AT_RET);
		assert_true(used <= size);
		for (at = 0; at + WASI_DIRENT_BYTES <= used;) {
			uint32_t n = get_u32(setup, AT_BUF + at + 16);

			at += WASI_DIRENT_BYTES + n;
			if (at > used)
				break;
			cookie =
			    get_u64(setup, AT_BUF + at - WASI_DIRENT_BYTES - n);
			count++;
		}
	} while (used == size);
	return count;
}

static void
listing_is_cut_and_goes_on(void **state)
{
	struct setup *setup = *state;
	uint32_t n = put_text(setup, AT_PATH, "d"), fd;
	char name[32];

	assert_int_equal(
	    WASI_OK, CALL(setup, "path_create_directory", 3, AT_PATH, n));
	for (unsigned i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof(name), "d/%u", i * 12345);
		assert_int_equal(WASI_OK,
		    CALL(setup, "fd_close", open_file(setup, name, 0)));
	}
	assert_int_equal(WASI_OK,
	    try_open(setup, 3, "d", WASI_OPEN_DIRECTORY, WASI_RIGHT_READ, 0));
	fd = get_u32(setup, AT_RET);
	for (uint32_t size = 40; size < 200; size++)
		assert_int_equal(102, list_with(setup, fd, size));
	assert_int_equal(102, list_with(setup, fd, 16000));
	/* A buffer too small for a head is filled, and says "more". */
	assert_int_equal(
	    WASI_OK, CALL(setup, "fd_readdir", fd, AT_BUF, 7, 0, AT_RET));
	assert_int_equal(7, get_u32(setup, AT_RET));
	assert_int_equal(WASI_OK,
	    CALL(setup, "fd_readdir", fd, AT_BUF, 99, UINT64_MAX, AT_RET));
	assert_int_equal(0, get_u32(setup, AT_RET));
	assert_int_equal(
	    WASI_NOTDIR, CALL(setup, "fd_readdir", 1, AT_BUF, 99, 0, AT_RET));
}

static void
links_and_names(void **state)
{
	struct setup *setup = *state;

	(void)open_file(setup, "f", 0);
	put_text(setup, AT_PATH, "f");
	put_text(setup, AT_PATH2, "ghi");
	assert_int_equal(
	    WASI_OK, CALL(setup, "path_symlink", AT_PATH, 1, 3, AT_PATH2, 1));
	assert_int_equal(WASI_OK,
	    CALL(setup, "path_link", 3, 0, AT_PATH, 1, 3, AT_PATH2 + 1, 1));
	assert_int_equal(WASI_OK,
	    CALL(setup, "path_rename", 3, AT_PATH2 + 1, 1, 3, AT_PATH2 + 2, 1));
	assert_int_equal(WASI_OK,
	    CALL(setup, "path_readlink", 3, AT_PATH2, 1, AT_BUF, 10, AT_RET));
	assert_int_equal(1, get_u32(setup, AT_RET));
	assert_int_equal('f', setup->memory[AT_BUF]);
	assert_int_equal(WASI_INVAL,
	    CALL(setup, "path_readlink", 3, AT_PATH, 1, AT_BUF, 10, AT_RET));
	assert_int_equal(
	    WASI_OK, CALL(setup, "path_filestat_get", 3, 0, AT_PATH2, 1, 64));
	assert_int_equal(WASI_TYPE_LINK, setup->memory[64 + 16]);
	assert_int_equal(
	    WASI_OK, CALL(setup, "path_filestat_set_times", 3, 1, AT_PATH2, 1,
			 7, 9, WASI_SET_ATIM | WASI_SET_MTIM));
	assert_int_equal(
	    WASI_OK, CALL(setup, "path_filestat_get", 3, 1, AT_PATH2, 1, 64));
	assert_int_equal(WASI_TYPE_FILE, setup->memory[64 + 16]);
	assert_int_equal(2, get_u64(setup, 64 + 24));
	assert_int_equal(7, get_u64(setup, 64 + 40));
	assert_int_equal(9, get_u64(setup, 64 + 48));
	assert_int_equal(1000000, get_u64(setup, 64 + 56));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(positions_and_append),
		TEST(iovecs_that_change_are_checked_again),
		TEST(rights_are_kept),
		TEST(descriptors_run_out),
		TEST(device_reads),
		TEST(listing_is_cut_and_goes_on),
		TEST(links_and_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
