/* test_memfs.c: what a random comparison cannot show: quotas, holes, limits,
 * read-only parts, further roots, listings under change, save and load.
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

#define DATA_ROOT "/lib/all.zip/data"

static uint64_t
fixed_now(void *arg)
{
	return *(uint64_t *)arg;
}

static uint64_t
size_of(const struct memfs_node *node)
{
	struct memfs_stat stat;

	memfs_stat(node, &stat);
	return stat.size;
}

/* ---- bytes ---- */

static void
full_disk_takes_what_fits(void **state)
{
	struct setup *setup = *state;
	struct memfs_node *file = tree_make(setup, "f");
	uint8_t *bytes = calloc(1, TREE_BYTES + 1);
	size_t n = 0;

	assert_non_null(bytes);
	assert_int_equal(WASI_OK,
	    memfs_write(setup->fs, file, 0, bytes, TREE_BYTES - 10, &n));
	assert_int_equal(n, TREE_BYTES - 10);
	assert_int_equal(
	    WASI_OK, memfs_write(setup->fs, file, n, bytes, 100, &n));
	assert_int_equal(n, 10);
	assert_int_equal(size_of(file), TREE_BYTES);
	assert_int_equal(
	    WASI_NOSPC, memfs_write(setup->fs, file, TREE_BYTES, bytes, 1, &n));
	/* What is held already can be written again. */
	assert_int_equal(WASI_OK,
	    memfs_write(setup->fs, file, 0, bytes, TREE_BYTES + 1, &n));
	assert_int_equal(n, TREE_BYTES);
	assert_int_equal(memfs_bytes(setup->fs), TREE_BYTES);
	free(bytes);
	memfs_release(setup->fs, file);
}

static void
removed_and_closed_files_give_back(void **state)
{
	struct setup *setup = *state;
	struct memfs_node *file = tree_make(setup, "f");
	size_t n;

	assert_int_equal(WASI_OK,
	    memfs_write(setup->fs, file, 0, (const uint8_t *)"hello", 5, &n));
	assert_int_equal(
	    WASI_OK, memfs_unlink(setup->fs, setup->root, span_of("f")));
	assert_int_equal(0, memfs_entries(setup->fs));
	assert_true(memfs_bytes(setup->fs) >= 5);
	memfs_release(setup->fs, file);
	assert_int_equal(0, memfs_bytes(setup->fs));
	assert_true(memfs_bytes_peak(setup->fs) >= 5);
}

static void
small_files_are_cheap(void **state)
{
	struct setup *setup = *state;
	char name[16];
	size_t n;

	for (unsigned i = 0; i < ENTRIES; i++) {
		struct memfs_node *file;

		(void)snprintf(name, sizeof(name), "f%u", i);
		file = tree_make(setup, name);
		assert_int_equal(WASI_OK, memfs_write(setup->fs, file, 0,
					      (const uint8_t *)"x", 1, &n));
		memfs_release(setup->fs, file);
	}
	assert_true(memfs_bytes(setup->fs) <= ENTRIES * 512);
}

static void
holes_cost_nothing(void **state)
{
	struct setup *setup = *state;
	struct memfs_node *file = tree_make(setup, "f");
	uint8_t bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	uint64_t far = 1ull << 39;
	size_t n;

	assert_int_equal(
	    WASI_OK, memfs_resize(setup->fs, file, GUEST_FILE_SIZE_MAX));
	assert_int_equal(0, memfs_bytes(setup->fs));
	assert_int_equal(
	    WASI_OK, memfs_write(setup->fs, file, far, bytes, 1, &n));
	assert_true(memfs_bytes(setup->fs) <= 65536);
	assert_int_equal(
	    WASI_OK, memfs_read(setup->fs, file, far - 1, bytes, 3, &n));
	assert_int_equal(n, 3);
	assert_memory_equal(bytes, "\0\1\0", 3);
	/* Shrinking and growing again does not bring old bytes back. */
	assert_int_equal(WASI_OK, memfs_resize(setup->fs, file, far));
	assert_int_equal(0, memfs_bytes(setup->fs));
	assert_int_equal(WASI_OK, memfs_resize(setup->fs, file, far + 9));
	assert_int_equal(
	    WASI_OK, memfs_read(setup->fs, file, far, bytes, 8, &n));
	assert_memory_equal(bytes, "\0\0\0\0\0\0\0\0", 8);
	memfs_release(setup->fs, file);
}

static void
sizes_have_an_end(void **state)
{
	struct setup *setup = *state;
	struct memfs_node *file = tree_make(setup, "f");
	const uint8_t bytes[4] = "abc";
	uint64_t end = GUEST_FILE_SIZE_MAX;
	size_t n = 0;

	assert_int_equal(WASI_FBIG, memfs_resize(setup->fs, file, end + 1));
	assert_int_equal(WASI_FBIG, memfs_resize(setup->fs, file, UINT64_MAX));
	assert_int_equal(
	    WASI_FBIG, memfs_write(setup->fs, file, end, bytes, 1, &n));
	assert_int_equal(
	    WASI_FBIG, memfs_write(setup->fs, file, UINT64_MAX, bytes, 1, &n));
	assert_int_equal(
	    WASI_OK, memfs_write(setup->fs, file, UINT64_MAX, bytes, 0, &n));
	assert_int_equal(0, size_of(file));
	assert_int_equal(
	    WASI_OK, memfs_write(setup->fs, file, end - 1, bytes, 4, &n));
	assert_int_equal(1, n);
	assert_int_equal(end, size_of(file));
	memfs_release(setup->fs, file);
}

static void
devices_answer(void **state)
{
	struct setup *setup = *state;
	struct memfs_how how = { .change = true, .oflags = WASI_OPEN_TRUNCATE };
	struct memfs_node *node;
	uint8_t bytes[4] = "abc";
	size_t n = 0;

	assert_int_equal(
	    0, memfs_add_device(setup->fs, "/dev/null", MEMFS_NULL));
	assert_int_equal(
	    0, memfs_add_device(setup->fs, "/dev/zero", MEMFS_ZERO));
	assert_int_equal(0, memfs_freeze(setup->fs, "/", true));
	assert_int_equal(WASI_OK, memfs_open(setup->fs, setup->root,
				      span_of("dev/null"), &how, &node));
	assert_int_equal(
	    WASI_OK, memfs_write(setup->fs, node, 0, bytes, 4, &n));
	assert_int_equal(4, n);
	assert_int_equal(WASI_OK, memfs_read(setup->fs, node, 0, bytes, 4, &n));
	assert_int_equal(0, n);
	memfs_release(setup->fs, node);
	assert_int_equal(WASI_OK, memfs_lookup(setup->fs, setup->root,
				      span_of("dev/zero"), true, &node));
	assert_int_equal(
	    WASI_OK, memfs_read(setup->fs, node, 1u << 30, bytes, 4, &n));
	assert_memory_equal(bytes, "\0\0\0\0", 4);
}

/* ---- names ---- */

static void
too_many_entries(void **state)
{
	struct setup *setup = *state;
	char name[16];

	for (unsigned i = 0; i < ENTRIES; i++) {
		(void)snprintf(name, sizeof(name), "d%u", i);
		assert_int_equal(WASI_OK,
		    memfs_mkdir(setup->fs, setup->root, span_of(name)));
	}
	assert_int_equal(
	    WASI_NOSPC, memfs_mkdir(setup->fs, setup->root, span_of("more")));
	assert_int_equal(WASI_NOSPC, memfs_symlink(setup->fs, span_of("x"),
					 setup->root, span_of("more")));
	/* Renaming needs none, even onto another. */
	assert_int_equal(
	    WASI_OK, memfs_rename(setup->fs, setup->root, span_of("d0"),
			 setup->root, span_of("d1/x")));
	assert_int_equal(
	    WASI_OK, memfs_rmdir(setup->fs, setup->root, span_of("d1/x")));
	tree_touch(setup, "more");
}

static void
symlinks_count_as_bytes(void **state)
{
	struct setup *setup = *state;
	char target[GUEST_PATH_MAX + 1];

	memset(target, 'x', sizeof(target));
	target[GUEST_PATH_MAX] = 0;
	assert_int_equal(
	    WASI_NAMETOOLONG, memfs_symlink(setup->fs, span_of(target),
				  setup->root, span_of("l")));
	target[GUEST_PATH_MAX - 1] = 0;
	assert_int_equal(WASI_OK, memfs_symlink(setup->fs, span_of(target),
				      setup->root, span_of("l")));
	assert_int_equal(GUEST_PATH_MAX - 1, memfs_bytes(setup->fs));
	assert_int_equal(
	    WASI_OK, memfs_unlink(setup->fs, setup->root, span_of("l")));
	assert_int_equal(0, memfs_bytes(setup->fs));
}

static void
long_names_are_refused(void **state)
{
	struct setup *setup = *state;
	char name[GUEST_PATH_MAX + 2];

	memset(name, 'n', sizeof(name));
	name[GUEST_NAME_MAX + 1] = 0;
	assert_int_equal(WASI_NAMETOOLONG, tree_find(setup, name));
	name[GUEST_NAME_MAX] = 0;
	assert_int_equal(WASI_NOENT, tree_find(setup, name));
	tree_touch(setup, name);
	assert_int_equal(WASI_OK, tree_find(setup, name));
	memset(name, '.', sizeof(name));
	for (size_t i = 1; i < sizeof(name); i += 2)
		name[i] = '/';
	name[GUEST_PATH_MAX - 1] = 0;
	assert_int_equal(WASI_OK, tree_find(setup, name));
	name[GUEST_PATH_MAX - 1] = '/';
	name[GUEST_PATH_MAX] = 0;
	assert_int_equal(WASI_NAMETOOLONG, tree_find(setup, name));
}

static void
odd_paths(void **state)
{
	struct setup *setup = *state;
	struct memfs_node *node;

	tree_touch(setup, "f");
	assert_int_equal(WASI_NOENT, tree_find(setup, ""));
	assert_int_equal(WASI_NOTCAPABLE, tree_find(setup, "/f"));
	assert_int_equal(WASI_NOTDIR, tree_find(setup, "f/x"));
	assert_int_equal(WASI_NOTDIR, tree_find(setup, "f/"));
	assert_int_equal(WASI_OK, tree_find(setup, "../../f"));
	assert_int_equal(WASI_INVAL,
	    memfs_lookup(setup->fs, setup->root,
		(struct span){ (const uint8_t *)"f\0g", 3 }, true, &node));
}

static void
symlinks_stay_in_the_tree(void **state)
{
	struct setup *setup = *state;
	char name[8], target[8];

	assert_int_equal(0, memfs_add_dir(setup->fs, "/a/b", false));
	tree_touch(setup, "a/f");
	assert_int_equal(WASI_OK, memfs_symlink(setup->fs, span_of("/a/f"),
				      setup->root, span_of("a/b/up")));
	assert_int_equal(
	    WASI_OK, memfs_symlink(setup->fs, span_of("../../../../../a/f"),
			 setup->root, span_of("a/b/far")));
	assert_int_equal(WASI_OK, tree_find(setup, "a/b/up"));
	assert_int_equal(WASI_OK, tree_find(setup, "a/b/far"));
	assert_int_equal(WASI_OK, memfs_symlink(setup->fs, span_of("me"),
				      setup->root, span_of("me")));
	assert_int_equal(WASI_LOOP, tree_find(setup, "me"));
	memfs_set_limits(setup->fs,
	    &(struct memfs_limits){ TREE_BYTES, 100, GUEST_FILE_SIZE_MAX });
	for (unsigned i = 0; i <= GUEST_SYMLINKS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "l%u", i);
		(void)snprintf(target, sizeof(target), "l%u", i + 1);
		assert_int_equal(
		    WASI_OK, memfs_symlink(setup->fs, span_of(target),
				 setup->root, span_of(name)));
	}
	tree_touch(setup, target);
	assert_int_equal(WASI_OK, tree_find(setup, "l1"));
	assert_int_equal(WASI_LOOP, tree_find(setup, "l0"));
}

static void
read_only_parts_refuse(void **state)
{
	struct setup *setup = *state;
	struct memfs_how how = { .change = true };
	struct memfs *fs = setup->fs;
	struct memfs_node *root = setup->root, *node;

	assert_int_equal(
	    0, memfs_add_file(fs, "/usr/lib/z", span_of("zip"), true, 5));
	assert_int_equal(0, memfs_add_dir(fs, "/tmp", false));
	assert_int_equal(0, memfs_freeze(fs, "/", false));
	tree_touch(setup, "tmp/f");
	assert_int_equal(
	    WASI_ROFS, memfs_open(fs, root, span_of("usr/lib/z"), &how, &node));
	how.change = false;
	how.oflags = WASI_OPEN_TRUNCATE;
	assert_int_equal(
	    WASI_ROFS, memfs_open(fs, root, span_of("usr/lib/z"), &how, &node));
	how.oflags = WASI_OPEN_CREATE;
	assert_int_equal(WASI_ROFS,
	    memfs_open(fs, root, span_of("usr/lib/new"), &how, &node));
	assert_int_equal(
	    WASI_ROFS, memfs_unlink(fs, root, span_of("usr/lib/z")));
	assert_int_equal(WASI_ROFS, memfs_mkdir(fs, root, span_of("new")));
	assert_int_equal(WASI_ROFS, memfs_rmdir(fs, root, span_of("tmp")));
	assert_int_equal(WASI_ROFS, memfs_rename(fs, root, span_of("usr/lib/z"),
					root, span_of("tmp/z")));
	assert_int_equal(WASI_ROFS, memfs_rename(fs, root, span_of("tmp/f"),
					root, span_of("usr/lib/z")));
	assert_int_equal(WASI_ROFS,
	    memfs_rename(fs, root, span_of("tmp"), root, span_of("tmp2")));
	assert_int_equal(WASI_XDEV, memfs_link(fs, root, span_of("usr/lib/z"),
					true, root, span_of("tmp/z")));
	assert_int_equal(
	    WASI_OK, memfs_lookup(fs, root, span_of("usr/lib/z"), true, &node));
	assert_int_equal(WASI_ROFS,
	    memfs_set_times(fs, node, 1, 1, WASI_SET_ATIM | WASI_SET_MTIM));
	assert_int_equal(WASI_ROFS, memfs_resize(fs, node, 0));
	assert_int_equal(0, memfs_bytes(fs));
}

/* ---- roots ---- */

static void
a_root_hides_inside_a_file(void **state)
{
	struct setup *setup = *state;
	struct memfs *fs = setup->fs;
	struct memfs_node *node, *data;
	struct buf bytes;

	buf_init(&bytes, 100);
	assert_int_equal(0, memfs_add_root(fs, DATA_ROOT));
	assert_int_equal(2, memfs_roots(fs));
	assert_string_equal("/", memfs_root_name(fs, 0));
	assert_string_equal(DATA_ROOT, memfs_root_name(fs, 1));
	assert_int_equal(
	    0, memfs_add_file(fs, "/lib/all.zip", span_of("PK"), true, 5));
	assert_int_equal(0, memfs_add_file(fs, DATA_ROOT "/fonts/a.ttf",
				span_of("font"), true, 5));
	data = memfs_root(fs, 1);
	assert_int_equal(
	    WASI_NOTDIR, tree_find(setup, "lib/all.zip/data/fonts/a.ttf"));
	assert_int_equal(WASI_OK,
	    memfs_lookup(fs, data, span_of("fonts/a.ttf"), true, &node));
	assert_int_equal(WASI_NOTCAPABLE,
	    memfs_lookup(fs, data, span_of("fonts/../.."), true, &node));
	assert_int_equal(
	    0, memfs_read_whole(fs, DATA_ROOT "/fonts/a.ttf", &bytes));
	assert_int_equal(4, bytes.n);
	assert_memory_equal("font", bytes.p, 4);
	assert_int_equal(WASI_OK, memfs_symlink(fs, span_of(DATA_ROOT "/fonts"),
				      setup->root, span_of("fonts")));
	assert_int_equal(WASI_OK, tree_find(setup, "fonts/a.ttf"));
	assert_int_equal(WASI_XDEV, memfs_rename(fs, data, span_of("fonts"),
					setup->root, span_of("x")));
	assert_int_equal(-ENOENT, memfs_read_whole(fs, "/no", &bytes));
	assert_int_equal(-EISDIR, memfs_read_whole(fs, "/lib", &bytes));
	assert_int_equal(-ENOTDIR, memfs_add_dir(fs, "/lib/all.zip/x", true));
	assert_int_equal(
	    -EEXIST, memfs_add_file(fs, "/lib/all.zip", span_of(""), true, 5));
	buf_done(&bytes);
}

static void
a_node_knows_its_path(void **state)
{
	struct setup *setup = *state;
	struct memfs_node *file;
	struct buf path;
	unsigned root = 9;

	buf_init(&path, 100);
	assert_int_equal(0, memfs_add_root(setup->fs, DATA_ROOT));
	assert_int_equal(0, memfs_add_dir(setup->fs, "/a/bb/c", false));
	file = tree_make(setup, "a/bb/c/f");
	assert_int_equal(0, memfs_path_of(setup->fs, file, &root, &path));
	assert_int_equal(0, root);
	assert_int_equal(8, path.n);
	assert_memory_equal("a/bb/c/f", path.p, 8);
	assert_int_equal(0, memfs_remove_tree(setup->fs, "/a"));
	assert_int_equal(-ENOENT, memfs_path_of(setup->fs, file, &root, &path));
	memfs_release(setup->fs, file);
	assert_int_equal(0, memfs_entries(setup->fs));
	buf_done(&path);
}

/* ---- listings ---- */

/* Lists while other entries come and go: each that stays comes once. */
static void
listing_while_changing(void **state)
{
	struct setup *setup = *state;
	struct memfs_dirent entry;
	unsigned seen[200] = { 0 }, removed = 0;
	char name[16];
	uint64_t cookie = 0;

	memfs_set_limits(setup->fs,
	    &(struct memfs_limits){ TREE_BYTES, 1000, GUEST_FILE_SIZE_MAX });
	for (unsigned i = 0; i < 200; i++) {
		(void)snprintf(name, sizeof(name), "%u", i);
		tree_touch(setup, name);
	}
	while (memfs_next_entry(setup->root, cookie, &entry)) {
		unsigned i;

		cookie = entry.cookie;
		(void)snprintf(name, sizeof(name), "%.*s", (int)entry.name.n,
		    (const char *)entry.name.p);
		if (name[0] < '0' || name[0] > '9')
			continue;
		i = (unsigned)strtoul(name, NULL, 10);
		assert_true(i < 200);
		seen[i]++;
		/* Odd ones go when they are seen, packing the slots. */
		if (i % 2 == 1 || i < 120) {
			assert_int_equal(
			    WASI_OK, memfs_unlink(setup->fs, setup->root,
					 span_of(name)));
			removed++;
		} else {
			char other[24];

			(void)snprintf(other, sizeof(other), "r%u", i);
			assert_int_equal(WASI_OK,
			    memfs_rename(setup->fs, setup->root, span_of(name),
				setup->root, span_of(other)));
		}
	}
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(1, seen[i]);
	assert_int_equal(200 - removed, memfs_entries(setup->fs));
}

static void
a_large_directory_is_fast(void **state)
{
	struct setup *setup = *state;
	char name[16];

	memfs_set_limits(setup->fs,
	    &(struct memfs_limits){ TREE_BYTES, 100000, GUEST_FILE_SIZE_MAX });
	for (unsigned i = 0; i < 50000; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		tree_touch(setup, name);
	}
	for (unsigned i = 0; i < 50000; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		assert_int_equal(WASI_OK,
		    memfs_unlink(setup->fs, setup->root, span_of(name)));
	}
	assert_int_equal(0, memfs_entries(setup->fs));
}

static void
a_deep_tree_needs_no_stack(void **state)
{
	struct setup *setup = *state;
	struct memfs_node *dir = setup->root, *down;
	struct memfs *again;
	struct memfs_limits limits = { TREE_BYTES, 20000, GUEST_FILE_SIZE_MAX };
	struct buf saved;

	buf_init(&saved, 64u * MIB);
	memfs_set_limits(setup->fs, &limits);
	for (unsigned i = 0; i < 20000; i++) {
		assert_int_equal(
		    WASI_OK, memfs_mkdir(setup->fs, dir, span_of("d")));
		assert_int_equal(WASI_OK,
		    memfs_lookup(setup->fs, dir, span_of("d"), false, &down));
		dir = down;
	}
	assert_int_equal(0, memfs_save(setup->fs, &saved));
	again = memfs_new(&limits);
	assert_int_equal(0, memfs_load(again, buf_span(&saved), NULL));
	memfs_free(again);
	assert_int_equal(0, memfs_remove_tree(setup->fs, "/d"));
	assert_int_equal(0, memfs_entries(setup->fs));
	buf_done(&saved);
}

/* ---- save and load ---- */

static struct memfs *
read_only_tree(void)
{
	struct memfs_limits limits = { TREE_BYTES, ENTRIES,
		GUEST_FILE_SIZE_MAX };
	struct memfs *fs = memfs_new(&limits);

	assert_non_null(fs);
	assert_int_equal(0, memfs_add_root(fs, DATA_ROOT));
	assert_int_equal(
	    0, memfs_add_file(fs, "/lib/all.zip", span_of("PK"), true, 5));
	assert_int_equal(0, memfs_add_dir(fs, "/tmp", false));
	assert_int_equal(0, memfs_freeze(fs, "/", false));
	return fs;
}

static void
saved_tree_comes_back(void **state)
{
	struct setup *setup = *state;
	struct memfs *again = read_only_tree();
	struct memfs_node *file, *link;
	struct memfs_stat stat;
	uint64_t now = 77;
	struct span target;
	struct buf saved;
	struct err err;
	uint8_t bytes[3];
	size_t n;

	memfs_free(setup->fs);
	setup->fs = read_only_tree();
	setup->root = memfs_root(setup->fs, 0);
	memfs_set_hooks(setup->fs,
	    &(struct memfs_hooks){ .arg = &now, .now_ns = fixed_now });
	file = tree_make(setup, "tmp/f");
	assert_int_equal(WASI_OK, memfs_write(setup->fs, file, 1u << 30,
				      (const uint8_t *)"end", 3, &n));
	memfs_release(setup->fs, file);
	assert_int_equal(
	    WASI_OK, memfs_link(setup->fs, setup->root, span_of("tmp/f"), true,
			 setup->root, span_of("tmp/g")));
	assert_int_equal(WASI_OK, memfs_symlink(setup->fs, span_of("f"),
				      setup->root, span_of("tmp/l")));
	buf_init(&saved, MIB);
	assert_int_equal(0, memfs_save(setup->fs, &saved));
	assert_true(saved.n < 70000);
	if (memfs_load(again, buf_span(&saved), &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(WASI_OK, memfs_lookup(again, memfs_root(again, 0),
				      span_of("tmp/f"), true, &file));
	assert_int_equal(WASI_OK, memfs_lookup(again, memfs_root(again, 0),
				      span_of("tmp/g"), true, &link));
	assert_ptr_equal(file, link);
	memfs_stat(file, &stat);
	assert_int_equal(2, stat.nlink);
	assert_int_equal(77, stat.mtim_ns);
	assert_int_equal((1u << 30) + 3, stat.size);
	assert_int_equal(
	    WASI_OK, memfs_read(again, file, 1u << 30, bytes, 3, &n));
	assert_memory_equal("end", bytes, 3);
	assert_int_equal(WASI_OK, memfs_readlink(again, memfs_root(again, 0),
				      span_of("tmp/l"), &target));
	assert_memory_equal("f", target.p, 1);
	memfs_free(again);
	buf_done(&saved);
}

/* Every saved tree that is cut, and each with one byte turned over, is
 * refused or loaded, but never more than that. */
static void
damaged_saves_do_no_harm(void **state)
{
	struct setup *setup = *state;
	struct buf saved;
	struct memfs *again;
	struct err err;

	tree_touch(setup, "f");
	assert_int_equal(
	    WASI_OK, memfs_mkdir(setup->fs, setup->root, span_of("d")));
	assert_int_equal(WASI_OK, memfs_symlink(setup->fs, span_of("f"),
				      setup->root, span_of("d/l")));
	buf_init(&saved, MIB);
	assert_int_equal(0, memfs_save(setup->fs, &saved));
	for (size_t n = 0; n < saved.n; n++) {
		again = read_only_tree();
		assert_true(
		    memfs_load(again, (struct span){ saved.p, n }, &err) < 0);
		assert_true(err.code > 0);
		memfs_free(again);
		saved.p[n] ^= 0xff;
		again = read_only_tree();
		(void)memfs_load(again, buf_span(&saved), &err);
		memfs_free(again);
		saved.p[n] ^= 0xff;
	}
	buf_done(&saved);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, tree_set_up, tree_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(full_disk_takes_what_fits),
		TEST(removed_and_closed_files_give_back),
		TEST(small_files_are_cheap),
		TEST(holes_cost_nothing),
		TEST(sizes_have_an_end),
		TEST(devices_answer),
		TEST(too_many_entries),
		TEST(symlinks_count_as_bytes),
		TEST(long_names_are_refused),
		TEST(odd_paths),
		TEST(symlinks_stay_in_the_tree),
		TEST(read_only_parts_refuse),
		TEST(a_root_hides_inside_a_file),
		TEST(a_node_knows_its_path),
		TEST(listing_while_changing),
		TEST(a_large_directory_is_fast),
		TEST(a_deep_tree_needs_no_stack),
		TEST(saved_tree_comes_back),
		TEST(damaged_saves_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
