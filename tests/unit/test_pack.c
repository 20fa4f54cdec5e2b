/* test_pack.c: what a pack may put into a room's tree, and where.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/own.h"
#include "wasm/pack.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define UNDER "/lib"

static struct memfs *
new_tree(void)
{
	const struct memfs_limits limits = {
		.bytes = 4096, .entries = 16, .file_size = 4096
	};
	struct memfs *fs = memfs_new(&limits);

	assert_non_null(fs);
	return fs;
}

/* A pack of n files with these names, each of the bytes "data". */
static void
make_pack(struct buf *pack, const char *const *names, uint32_t n, int64_t shift)
{
	size_t head = 12;

	for (uint32_t i = 0; i < n; i++)
		head += 20 + strlen(names[i]);
	assert_int_equal(buf_add_text(pack, "BRKPACK1"), 0);
	assert_int_equal(buf_add(pack, &n, sizeof(n)), 0);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t name_n = (uint32_t)strlen(names[i]);
		uint64_t at[2] = { (uint64_t)((int64_t)head + shift), 4 };

		assert_int_equal(buf_add(pack, &name_n, sizeof(name_n)), 0);
		assert_int_equal(buf_add(pack, at, sizeof(at)), 0);
		assert_int_equal(buf_add(pack, names[i], name_n), 0);
	}
	assert_int_equal(buf_add_text(pack, "data"), 0);
}

static int
load(const char *const *names, uint32_t n, int64_t shift)
{
	own_buf struct buf pack = { .max = 65536 };
	struct memfs *fs = new_tree();
	int r;

	make_pack(&pack, names, n, shift);
	r = pack_load(fs, buf_span(&pack), UNDER, NULL);
	memfs_free(fs);
	return r;
}

static void
test_files(void **state)
{
	static const char *const names[] = { "a", "b/c.pyc", "b/d" };
	own_buf struct buf pack = { .max = 4096 };
	own_buf struct buf content = { .max = 4096 };
	struct memfs *fs = new_tree();

	(void)state;
	make_pack(&pack, names, 3, 0);
	assert_int_equal(pack_load(fs, buf_span(&pack), UNDER, NULL), 0);
	/* Once more: what is there stays. */
	assert_int_equal(pack_load(fs, buf_span(&pack), UNDER, NULL), 0);
	assert_int_equal(memfs_read_whole(fs, UNDER "/b/c.pyc", &content), 0);
	assert_true(span_is(buf_span(&content), "data"));
	assert_int_equal(memfs_bytes(fs), 0);
	memfs_free(fs);
}

static void
test_names(void **state)
{
	static const char *const bad[] = { "", "/", "/a", "a/", "a//b", ".",
		"..", "../a", "a/../b", "a/.", "./a", "a/.." };
	static const char *const good[] = { "...", ".a", "a..b", "..a/b." };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (load(&bad[i], 1, 0) != -EPROTO)
			fail_msg("'%s' is taken", bad[i]);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (load(&good[i], 1, 0) != 0)
			fail_msg("'%s' is refused", good[i]);
}

static void
test_bounds(void **state)
{
	static const char *const name[] = { "a" };
	own_buf struct buf pack = { .max = 4096 };
	struct memfs *fs = new_tree();

	(void)state;
	assert_int_equal(load(name, 1, 0), 0);
	assert_int_equal(load(name, 1, 1), -EPROTO);
	assert_int_equal(load(name, 1, INT64_MAX / 2), -EPROTO);
	assert_int_equal(load(name, 1, -1000), -EPROTO);
	make_pack(&pack, name, 1, 0);
	for (size_t n = 0; n < pack.n; n++)
		assert_true(
		    pack_load(fs, (struct span){ pack.p, n }, UNDER, NULL) < 0);
	memset(pack.p + 8, 0xff, 4); /* the count */
	assert_int_equal(pack_load(fs, buf_span(&pack), UNDER, NULL), -EPROTO);
	memfs_free(fs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
