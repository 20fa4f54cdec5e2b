/* test_snapshot.c: the stack window in a guest's memory, and files that are no
 * snapshots or lists of hot pages.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "wasm/engine_settings.h"
#include "wasm/hot.h"
#include "wasm/snapshot.h"
#include "wasm/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TOP       16777216u
#define MEM_BYTES (20u * 1024 * 1024)

static void
put_window(uint8_t *bytes, uint32_t at, uint32_t top, uint32_t size)
{
	uint32_t words[3] = { top, top - size + 8192, top - size };

	memcpy(bytes + at, words, sizeof(words));
}

static void
window_is_found_once(void **state)
{
	uint8_t *bytes = calloc(1, MEM_BYTES);
	struct guest_mem mem = { bytes, MEM_BYTES };
	struct stack_window window;
	struct err err;
	uint32_t words[3];

	(void)state;
	assert_int_equal(snapshot_find_window(&mem, &window, &err), -ENOENT);
	put_window(bytes, TOP + 4096, TOP, 122880);
	put_window(bytes, TOP + 8192, TOP, 20000); /* too small to be it */
	assert_int_equal(snapshot_find_window(&mem, &window, &err), 0);
	assert_int_equal(window.at, TOP + 4096);
	assert_int_equal(snapshot_set_window(&mem, &window, 1u << 20, &err), 0);
	memcpy(words, bytes + window.at, sizeof(words));
	assert_int_equal(words[0] - words[2], 1u << 20);
	assert_int_equal(words[1] - words[2], (1u << 20) / 16);
	assert_int_equal(
	    snapshot_set_window(&mem, &window, TOP, &err), -EINVAL);
	put_window(bytes, TOP + 65536, TOP, 122880);
	put_window(bytes, TOP + 4096, TOP, 122880);
	assert_int_equal(snapshot_find_window(&mem, &window, &err), -ENOENT);
	free(bytes);
}

static void
write_file(const char *path, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, bytes, n), 0);
	fd_close(fd);
}

static void
other_files_are_refused(void **state)
{
	char path[] = "/tmp/test_snapshot.XXXXXX";
	int fd = mkstemp(path);
	uint8_t noise[8192];
	struct snapshot_info info;
	struct guest_mem mem = { noise, sizeof(noise) };
	uint32_t format = SNAPSHOT_FORMAT;
	struct hot *hot;
	struct err err = { 0 };

	(void)state;
	assert_true(fd >= 0);
	fd_close(fd);
	assert_int_equal(snapshot_read_info(path, &info, &err), -EPROTO);
	memset(noise, 'x', sizeof(noise));
	write_file(path, noise, sizeof(noise));
	assert_int_equal(snapshot_read_info(path, &info, &err), -EPROTO);
	assert_non_null(strstr(err.text, path));
	/* The right beginning, and sizes that lie. */
	memcpy(noise, "BRKSNAP1", 8);
	memcpy(noise + 8, &format, sizeof(format));
	write_file(path, noise, sizeof(noise));
	assert_int_equal(snapshot_read_info(path, &info, &err), -EPROTO);
	assert_non_null(strstr(err.text, "do not add up"));
	assert_int_equal(hot_load(path, mem, path, &hot, &err), -EPROTO);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(snapshot_read_info(path, &info, &err), -ENOENT);
}

/* In a process with this hard limit of the stack: what fits. */
static size_t
native_bytes_under(rlim_t hard)
{
	int ends[2];
	size_t bytes = 0;

	assert_int_equal(pipe(ends), 0);
	if (fork() == 0) {
		struct rlimit limit = { hard, hard };
		struct stack_sizes sizes = { 0 };
		struct err err;

		if (setrlimit(RLIMIT_STACK, &limit) == 0 &&
		    stack_setup(&sizes, &err) == 0)
			bytes = sizes.native_bytes;
		if (sizes.window_bytes != sizes.native_bytes / 64)
			bytes = 1;
		_exit(write(ends[1], &bytes, sizeof(bytes)) < 0);
	}
	assert_int_equal(read(ends[0], &bytes, sizeof(bytes)), sizeof(bytes));
	(void)wait(NULL);
	fd_close(ends[0]);
	fd_close(ends[1]);
	return bytes;
}

static void
stack_fits_its_limit(void **state)
{
	(void)state;
	assert_int_equal(native_bytes_under(RLIM_INFINITY), 64u << 20);
	assert_int_equal(native_bytes_under(200u << 20), 64u << 20);
	assert_int_equal(native_bytes_under(8u << 20), 7u << 20);
	assert_int_equal(native_bytes_under(2u << 20), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(window_is_found_once),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(stack_fits_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
