/* test_mounts.c: how mounts are written, and how a directory is read for a
 * room: what is in it, what is left out, and what is too much.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/mounts.h"

#include "base/fd.h"
#include "conf/limits.h"
#include "conf/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_mounts.XXXXXX";

static int
dir_make(void **state)
{
	(void)state;
	(void)strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	return mkdtemp(dir) ? chdir(dir) : -1;
}

static int
dir_remove(void **state)
{
	char command[96];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command); /* NOLINT: the name is ours */
}

static void
put(const char *name, const void *bytes, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(0, fd_write_all(fd, bytes, n));
	fd_close(fd);
}

static int
read_texts(struct granted *granted, const char *text, size_t n, struct err *err)
{
	return mounts_read(
	    (struct span){ (const uint8_t *)text, n }, granted, err);
}

/* Reads dir at /m in this mode. */
static int
read_here(struct granted *granted, const char *mode, struct err *err)
{
	char text[128];
	int n = snprintf(text, sizeof(text), "%s:/m:%s", dir, mode);

	return read_texts(granted, text, (size_t)n + 1, err);
}

static const struct granted_node *
node(const struct granted *granted, const char *path)
{
	for (size_t i = 0; i < granted->n; i++)
		if (strcmp(granted->nodes[i].path, path) == 0)
			return &granted->nodes[i];
	return NULL;
}

static void
texts_are_judged(void **state)
{
	static const struct {
		const char *text, *why, *host, *guest;
		bool cow;
	} cases[] = {
		{ "/srv:/data:ro", NULL, "/srv", "/data", false },
		{ "rel/x:/data/x:cow", NULL, "rel/x", "/data/x", true },
		{ "/a:b:c:/data:ro", NULL, "/a:b:c", "/data", false },
		{ "/srv:/workspace/in:ro", NULL, "/srv", "/workspace/in",
		    false },
		{ "/srv:/tmp/in:cow", NULL, "/srv", "/tmp/in", true },
		{ "/srv:/users:ro", NULL, "/srv", "/users", false },
		{ "", "ro or :cow", NULL, NULL, false },
		{ "/srv", "ro or :cow", NULL, NULL, false },
		{ "/srv:/data", "ro or :cow", NULL, NULL, false },
		{ "/srv:/data:rw", "ro or :cow", NULL, NULL, false },
		{ "/data:ro", "HOST:GUEST", NULL, NULL, false },
		{ ":/data:ro", "HOST:GUEST", NULL, NULL, false },
		{ "/srv::ro", "absolute", NULL, NULL, false },
		{ "/srv:data:ro", "absolute", NULL, NULL, false },
		{ "/srv:/:ro", "absolute", NULL, NULL, false },
		{ "/srv:/a/:ro", "absolute", NULL, NULL, false },
		{ "/srv:/a//b:ro", "absolute", NULL, NULL, false },
		{ "/srv:/a/../b:ro", "absolute", NULL, NULL, false },
		{ "/srv:/./b:ro", "absolute", NULL, NULL, false },
		{ "/srv:/workspace:ro", "taken", NULL, NULL, false },
		{ "/srv:/tmp:ro", "taken", NULL, NULL, false },
		{ "/srv:/usr:ro", "taken", NULL, NULL, false },
		{ "/srv:/usr/local/x:ro", "taken", NULL, NULL, false },
		{ "/srv:/dev/x:ro", "taken", NULL, NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mount mount;
		const char *why = mount_read(cases[i].text, &mount);

		if (cases[i].why) {
			if (!why || !strstr(why, cases[i].why))
				fail_msg("%s: %s", cases[i].text,
				    why ? why : "taken");
			continue;
		}
		assert_null(why);
		assert_true(span_is(mount.host, cases[i].host));
		assert_true(span_is(mount.guest, cases[i].guest));
		assert_int_equal(mount.cow, cases[i].cow);
	}
}

static void
places_that_clash(void **state)
{
	struct mount a, b, c;

	(void)state;
	assert_null(mount_read("/1:/data:ro", &a));
	assert_null(mount_read("/2:/data/x:ro", &b));
	assert_null(mount_read("/3:/datax:ro", &c));
	assert_true(mounts_clash(&a, &a));
	assert_true(mounts_clash(&a, &b));
	assert_true(mounts_clash(&b, &a));
	assert_false(mounts_clash(&a, &c));
	assert_false(mounts_clash(&c, &b));
}

static void
a_directory_is_read(void **state)
{
	static uint8_t large[MOUNT_MAP_BYTES + 1];
	struct granted granted;
	const struct granted_node *found;
	struct err err = { 0 };

	(void)state;
	large[MOUNT_MAP_BYTES] = 9;
	put("b", "second", 6);
	put("a", "first", 5);
	put("empty", "", 0);
	put("large", large, sizeof(large));
	assert_int_equal(0, mkdir("d", 0700));
	put("d/\xff\n", "odd", 3);
	assert_int_equal(0, symlink("/etc/passwd", "link"));
	assert_int_equal(0, symlink("..", "d/up"));
	assert_int_equal(0, mkfifo("fifo", 0600));
	if (read_here(&granted, "ro", &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(granted.n, 9);
	assert_string_equal(granted.nodes[0].path, "/m");
	assert_true(granted.nodes[0].top);
	assert_false(granted.nodes[1].top);
	found = node(&granted, "/m/a");
	assert_true(span_is(found->bytes, "first"));
	assert_false(found->cow);
	assert_true(found->mtime_ns > 0);
	assert_true(span_is(node(&granted, "/m/b")->bytes, "second"));
	assert_int_equal(node(&granted, "/m/empty")->bytes.n, 0);
	found = node(&granted, "/m/large");
	assert_int_equal(found->bytes.n, sizeof(large));
	assert_memory_equal(found->bytes.p, large, sizeof(large));
	assert_true(span_is(node(&granted, "/m/d/\xff\n")->bytes, "odd"));
	found = node(&granted, "/m/link");
	assert_int_equal(found->type, GRANTED_LINK);
	assert_string_equal(found->target, "/etc/passwd");
	assert_string_equal(node(&granted, "/m/d/up")->target, "..");
	assert_null(node(&granted, "/m/fifo"));
	/* A small file is as it was, whatever happens to it. */
	put("a", "OTHER", 5);
	assert_true(span_is(node(&granted, "/m/a")->bytes, "first"));
	mounts_done(&granted);
}

static void
several_and_a_single_file(void **state)
{
	struct granted granted;
	struct err err = { 0 };
	char text[256];
	int n;

	(void)state;
	put("file", "one", 3);
	assert_int_equal(0, mkdir("sub", 0700));
	put("sub/x", "two", 3);
	n = snprintf(text, sizeof(text), "%s/file:/f.csv:cow%c%s/sub:/s:ro",
	    dir, 0, dir);
	if (read_texts(&granted, text, (size_t)n + 1, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(granted.n, 3);
	assert_true(node(&granted, "/f.csv")->cow);
	assert_true(node(&granted, "/f.csv")->top);
	assert_true(node(&granted, "/s")->top);
	assert_false(node(&granted, "/s/x")->top);
	assert_true(span_is(node(&granted, "/s/x")->bytes, "two"));
	mounts_done(&granted);
	assert_int_equal(0, read_texts(&granted, "", 0, &err));
	assert_int_equal(granted.n, 0);
}

static void
what_cannot_be_read(void **state)
{
	struct granted granted;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(
	    -ENOENT, read_texts(&granted, "/nowhere:/m:ro", 15, &err));
	assert_non_null(strstr(err.text, "/nowhere"));
	assert_int_equal(
	    -ENOTDIR, read_texts(&granted, "/dev/null:/m:ro", 16, &err));
	assert_true(read_texts(&granted, "/tmp:/m:ro", 10, &err) < 0);
	put("secret", "x", 1);
	assert_int_equal(0, chmod("secret", 0));
	if (geteuid() != 0) {
		assert_int_equal(-EACCES, read_here(&granted, "ro", &err));
		assert_non_null(strstr(err.text, "/secret"));
	}
}

static void
what_is_too_much(void **state)
{
	struct granted granted;
	struct err err = { 0 };
	char name[32];

	(void)state;
	assert_int_equal(0, mkdir("deep", 0700));
	assert_int_equal(0, chdir("deep"));
	for (unsigned i = 0; i < MOUNT_DEPTH_MAX; i++) {
		assert_int_equal(0, mkdir("d", 0700));
		assert_int_equal(0, chdir("d"));
	}
	assert_int_equal(0, chdir(dir));
	assert_int_equal(-ELOOP, read_here(&granted, "ro", &err));
	assert_int_equal(0, system("rm -rf deep")); /* NOLINT */
	for (unsigned i = 0; i < MOUNT_NODES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "%u", i);
		assert_int_equal(0, symlink("x", name));
	}
	assert_int_equal(-E2BIG, read_here(&granted, "ro", &err));
	assert_non_null(strstr(err.text, "more than 20000 files"));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, dir_make, dir_remove)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_judged),
		cmocka_unit_test(places_that_clash),
		TEST(a_directory_is_read),
		TEST(several_and_a_single_file),
		TEST(what_cannot_be_read),
		TEST(what_is_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
