/* test_memfs_files.c: the host's hand in a tree: what is new in it, bytes that
 * files borrow, and files that are put there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "memfs_setup.h"

#include "conf/limits.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- what a program left ---- */

struct told {
	char paths[1000];
	unsigned n, until;
};

static bool
tell(void *arg, struct span path, struct memfs_node *file)
{
	struct told *told = arg;
	size_t used = strlen(told->paths);

	assert_int_equal(memfs_type(file), WASI_TYPE_FILE);
	(void)snprintf(told->paths + used, sizeof(told->paths) - used, "%.*s ",
	    (int)path.n, (const char *)path.p);
	return ++told->n != told->until;
}

static void
every_file_is_told(void **state)
{
	struct setup *setup = *state;
	struct told told = { .n = 0 }, few = { .until = 2 };

	assert_int_equal(0, memfs_add_dir(setup->fs, "/w/d/empty", false));
	assert_int_equal(0, memfs_add_dir(setup->fs, "/w/d/e", false));
	tree_touch(setup, "w/a");
	tree_touch(setup, "w/d/b");
	tree_touch(setup, "w/d/e/c");
	tree_touch(setup, "w/a_name_that_is_too_long");
	tree_touch(setup, "outside");
	assert_int_equal(
	    WASI_OK, memfs_symlink(setup->fs, span_of("../outside"),
			 setup->root, span_of("w/link")));
	assert_int_equal(WASI_OK, memfs_symlink(setup->fs, span_of("d"),
				      setup->root, span_of("w/dirlink")));
	memfs_each_change(setup->fs, "/w", 5, tell, &told);
	assert_string_equal(told.paths, "d/e/c d/b a  ");
	memfs_each_change(setup->fs, "/w", 5, tell, &few);
	assert_int_equal(few.n, 2);
	memfs_each_change(setup->fs, "/none", 5, tell, &few);
	memfs_each_change(setup->fs, "/outside", 5, tell, &few);
	assert_int_equal(few.n, 2);
}

static const char *
news(struct setup *setup, struct told *told)
{
	*told = (struct told){ .n = 0 };
	memfs_each_change(setup->fs, "/w", 100, tell, told);
	return told->paths;
}

static void
write_to(struct setup *setup, const char *path, uint64_t offset)
{
	struct memfs_node *node = tree_make(setup, path);
	size_t n;

	assert_int_equal(WASI_OK,
	    memfs_write(setup->fs, node, offset, (const uint8_t *)"x", 1, &n));
	memfs_release(setup->fs, node);
}

static void
rename_to(struct setup *setup, const char *from, const char *to)
{
	assert_int_equal(WASI_OK, memfs_rename(setup->fs, setup->root,
				      span_of(from), setup->root, span_of(to)));
}

static void
only_news_are_told(void **state)
{
	struct setup *setup = *state;
	struct memfs_node *node;
	struct told told;

	assert_int_equal(0, memfs_add_dir(setup->fs, "/w/d", false));
	assert_int_equal(0, memfs_add_dir(setup->fs, "/out/e", false));
	assert_int_equal(
	    0, memfs_add_cow(setup->fs, "/w/lent", span_of("bytes"), 0));
	tree_touch(setup, "w/old");
	tree_touch(setup, "w/d/deep");
	tree_touch(setup, "out/e/moved");
	tree_touch(setup, "out/one");
	assert_string_equal(news(setup, &told), "d/deep lent old ");
	memfs_mark(setup->fs);
	assert_string_equal(news(setup, &told), "");
	/* Looking, and setting a time, change nothing. */
	tree_touch(setup, "w/old");
	node = tree_make(setup, "w/old");
	assert_int_equal(
	    WASI_OK, memfs_set_times(setup->fs, node, 1, 2, WASI_SET_MTIM));
	memfs_release(setup->fs, node);
	assert_string_equal(news(setup, &told), "");
	write_to(setup, "w/lent", 2);
	assert_string_equal(news(setup, &told), "lent ");
	memfs_mark(setup->fs);
	/* A new name is news, also of a directory above, and from outside. */
	rename_to(setup, "w/d", "w/f");
	assert_string_equal(news(setup, &told), "f/deep ");
	memfs_mark(setup->fs);
	rename_to(setup, "out/e", "w/e");
	rename_to(setup, "out/one", "w/old");
	assert_string_equal(news(setup, &told), "old e/moved ");
	memfs_mark(setup->fs);
	assert_int_equal(
	    WASI_OK, memfs_link(setup->fs, setup->root, span_of("w/lent"),
			 false, setup->root, span_of("w/again")));
	node = tree_make(setup, "w/f/deep");
	assert_int_equal(WASI_OK, memfs_resize(setup->fs, node, 10));
	memfs_release(setup->fs, node);
	assert_string_equal(news(setup, &told), "f/deep again ");
}

/* ---- bytes that are borrowed and written to ---- */

static void
a_write_copies_what_it_needs(void **state)
{
	static uint8_t lent[3 * 65536 + 100];
	struct setup *setup = *state;
	uint8_t got[sizeof(lent) + 10];
	struct memfs_node *node;
	size_t n;

	memset(lent, 7, sizeof(lent));
	assert_int_equal(0, memfs_add_cow(setup->fs, "/f",
				(struct span){ lent, sizeof(lent) }, 5));
	assert_int_equal(memfs_bytes(setup->fs), 0);
	node = tree_make(setup, "f");
	assert_int_equal(WASI_OK, memfs_write(setup->fs, node, 65536 + 9,
				      (const uint8_t *)"abc", 3, &n));
	assert_int_equal(memfs_bytes(setup->fs), 65536);
	assert_int_equal(WASI_OK, memfs_write(setup->fs, node, sizeof(lent) - 1,
				      (const uint8_t *)"de", 2, &n));
	assert_int_equal(
	    WASI_OK, memfs_read(setup->fs, node, 0, got, sizeof(got), &n));
	assert_int_equal(n, sizeof(lent) + 1);
	assert_memory_equal(got, lent, 65536 + 9);
	assert_memory_equal(got + 65536 + 9, "abc", 3);
	assert_memory_equal(
	    got + 65536 + 12, lent, sizeof(lent) - 65536 - 12 - 1);
	assert_memory_equal(got + sizeof(lent) - 1, "de", 2);
	/* What was cut off does not come back. */
	assert_int_equal(WASI_OK, memfs_resize(setup->fs, node, 100));
	assert_int_equal(WASI_OK, memfs_resize(setup->fs, node, 200));
	assert_int_equal(
	    WASI_OK, memfs_read(setup->fs, node, 0, got, sizeof(got), &n));
	assert_int_equal(n, 200);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(got[i], i < 100 ? 7 : 0);
	for (size_t i = 0; i < sizeof(lent); i++)
		assert_int_equal(lent[i], 7);
	memfs_release(setup->fs, node);
}

static void
a_borrowed_file_counts_when_written(void **state)
{
	static uint8_t lent[2 * TREE_BYTES];
	struct setup *setup = *state;
	struct memfs_node *node;
	uint8_t got[2] = { 1, 1 };
	size_t n, written = 0;

	assert_int_equal(0, memfs_add_cow(setup->fs, "/f",
				(struct span){ lent, sizeof(lent) }, 5));
	node = tree_make(setup, "f");
	while (memfs_write(setup->fs, node, written, (const uint8_t *)"x", 1,
		   &n) == WASI_OK)
		written += 65536;
	assert_int_equal(written, TREE_BYTES);
	assert_int_equal(WASI_NOSPC, memfs_write(setup->fs, node, TREE_BYTES,
					 (const uint8_t *)"x", 1, &n));
	assert_int_equal(
	    WASI_OK, memfs_read(setup->fs, node, TREE_BYTES, got, 2, &n));
	assert_int_equal(got[0], 0);
	memfs_release(setup->fs, node);
}

/* ---- files that a call is given ---- */

static int
put(struct setup *setup, const char *path, const char *bytes)
{
	return memfs_put_file(setup->fs, "/w", span_of(path), span_of(bytes));
}

static void
given_files_take_their_places(void **state)
{
	struct setup *setup = *state;
	struct buf text;
	struct memfs_node *open;
	uint8_t got[8];
	size_t n;

	buf_init(&text, 100);
	assert_int_equal(0, memfs_add_dir(setup->fs, "/w", false));
	assert_int_equal(0, put(setup, "a/b/c", "one"));
	open = tree_make(setup, "w/a/b/c");
	assert_int_equal(0, put(setup, "a/b/c", "two"));
	assert_int_equal(0, memfs_read_whole(setup->fs, "/w/a/b/c", &text));
	assert_true(span_is(buf_span(&text), "two"));
	/* Who has it open has what it was. */
	assert_int_equal(WASI_OK, memfs_read(setup->fs, open, 0, got, 8, &n));
	assert_memory_equal(got, "one", 3);
	memfs_release(setup->fs, open);
	assert_int_equal(-EISDIR, put(setup, "a/b", "x"));
	assert_int_equal(-ENOTDIR, put(setup, "a/b/c/d", "x"));
	/* A link is replaced, not followed. */
	assert_int_equal(WASI_OK, memfs_symlink(setup->fs, span_of("a/b/c"),
				      setup->root, span_of("w/link")));
	assert_int_equal(0, put(setup, "link", "three"));
	buf_drop(&text, text.n);
	assert_int_equal(0, memfs_read_whole(setup->fs, "/w/a/b/c", &text));
	assert_true(span_is(buf_span(&text), "two"));
	assert_int_equal(WASI_OK, memfs_symlink(setup->fs, span_of("/ro"),
				      setup->root, span_of("w/out")));
	assert_int_equal(0, memfs_add_dir(setup->fs, "/ro", true));
	assert_int_equal(-EROFS, put(setup, "out/file", "x"));
	buf_done(&text);
}

static void
given_files_count(void **state)
{
	static uint8_t bytes[TREE_BYTES];
	struct setup *setup = *state;
	char name[8];
	unsigned n = 0;
	int r;

	assert_int_equal(0, memfs_add_dir(setup->fs, "/w", false));
	assert_int_equal(0, put(setup, "small", "old"));
	assert_int_equal(
	    -ENOSPC, memfs_put_file(setup->fs, "/w", span_of("small"),
			 (struct span){ bytes, sizeof(bytes) }));
	assert_int_equal(WASI_OK, tree_find(setup, "w/small"));
	do {
		(void)snprintf(name, sizeof(name), "%u", n++);
		r = put(setup, name, "x");
	} while (r == 0 && n < 100);
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(memfs_entries(setup->fs), ENTRIES);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, tree_set_up, tree_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_file_is_told),
		TEST(only_news_are_told),
		TEST(a_write_copies_what_it_needs),
		TEST(a_borrowed_file_counts_when_written),
		TEST(given_files_take_their_places),
		TEST(given_files_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
