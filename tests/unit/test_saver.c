/* test_saver.c: files that are saved, and names and places that are refused,
 * whatever the server asks for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/saver.h"

#include "base/fd.h"
#include "conf/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_saver.XXXXXX";
static char out[64], aside[64];

static int
dir_make(void **state)
{
	struct saver *saver;
	struct err err = { 0 };

	(void)strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	(void)snprintf(out, sizeof(out), "%s/out", dir);
	(void)snprintf(aside, sizeof(aside), "%s/aside", dir);
	if (saver_start(out, &saver, &err) < 0)
		fail_msg("%s", err.text);
	*state = saver;
	return chdir(out);
}

static int
dir_remove(void **state)
{
	char command[96];

	saver_stop(*state);
	(void)snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command); /* NOLINT: the name is ours */
}

static int
save(void **state, const char *name, const char *bytes, struct err *err)
{
	return saver_save(*state, name, span_of(bytes), err);
}

static void
has(const char *path, const char *bytes)
{
	char got[64] = { 0 };
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		fail_msg("%s is not there", path);
	assert_true(read(fd, got, sizeof(got) - 1) >= 0);
	fd_close(fd);
	assert_string_equal(got, bytes);
}

static void
put(const char *path, const char *bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(0, fd_write_all(fd, bytes, strlen(bytes)));
	fd_close(fd);
}

static void
files_are_saved(void **state)
{
	struct err err = { 0 };

	if (save(state, "one", "1", &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(0, save(state, "d/e/two", "22", &err));
	assert_int_equal(0, save(state, "d/empty", "", &err));
	has("one", "1");
	has("d/e/two", "22");
	has("d/empty", "");
	assert_int_equal(0, save(state, "one", "other", &err));
	has("one", "other");
}

static void
large_files_are_saved(void **state)
{
	static uint8_t bytes[SAVER_FILE_MAX];
	struct span whole = { bytes, sizeof(bytes) };
	struct err err = { 0 };
	struct stat stat_of;

	memset(bytes, 7, sizeof(bytes));
	assert_int_equal(0, saver_save(*state, "large", whole, &err));
	assert_int_equal(0, stat("large", &stat_of));
	assert_int_equal(stat_of.st_size, sizeof(bytes));
	whole.n++;
	assert_int_equal(-EFBIG, saver_save(*state, "larger", whole, &err));
	assert_int_equal(0, save(state, "next", "x", &err));
}

/* What is replaced is the name: another one of the file keeps the bytes. */
static void
a_file_is_replaced_not_written_to(void **state)
{
	struct err err;

	put(aside, "old");
	assert_int_equal(0, link(aside, "name"));
	assert_int_equal(0, save(state, "name", "new", &err));
	has("name", "new");
	has(aside, "old");
}

static void
names_that_lead_elsewhere(void **state)
{
	static const char *const names[] = { "", "/tmp/x", "../aside", "..",
		".", "a/../../aside", "a//b", "./a", "a/" };
	struct err err;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(-EINVAL, save(state, names[i], "x", &err));
		assert_string_equal(err.text, "its name leads elsewhere");
	}
	assert_int_not_equal(0, access(aside, F_OK));
	assert_int_equal(0, save(state, "still here", "x", &err));
}

static void
links_and_other_things_stay(void **state)
{
	struct err err;

	put(aside, "mine");
	assert_int_equal(0, symlink(aside, "link"));
	assert_int_equal(0, symlink(dir, "dirlink"));
	assert_int_equal(0, mkdir("folder", 0700));
	assert_int_equal(0, mkfifo("fifo", 0600));
	assert_int_equal(-EEXIST, save(state, "link", "x", &err));
	assert_int_equal(-ENOTDIR, save(state, "dirlink/aside", "x", &err));
	assert_int_equal(-EEXIST, save(state, "folder", "x", &err));
	assert_int_equal(-EEXIST, save(state, "fifo", "x", &err));
	put("file", "x");
	assert_int_equal(-ENOTDIR, save(state, "file/below", "x", &err));
	has(aside, "mine");
	assert_int_equal(0, save(state, "folder/inside", "x", &err));
	/* Nothing half done is left. */
	assert_int_not_equal(
	    0, system("ls -a | grep -q breakroom")); /* NOLINT */
}

static void
a_directory_that_cannot_be(void **state)
{
	struct saver *saver;
	struct err err;
	char path[96];

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/no/such", dir);
	assert_int_equal(-ENOENT, saver_start(path, &saver, &err));
	assert_non_null(strstr(err.text, "/no/such"));
	put(aside, "x");
	assert_int_equal(-ENOTDIR, saver_start(aside, &saver, &err));
	saver_stop(NULL);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, dir_make, dir_remove)
	const struct CMUnitTest tests[] = {
		TEST(files_are_saved),
		TEST(large_files_are_saved),
		TEST(a_file_is_replaced_not_written_to),
		TEST(names_that_lead_elsewhere),
		TEST(links_and_other_things_stay),
		TEST(a_directory_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
