/* test_artifacts.c: which artifacts are trusted, and how they are named.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/own.h"
#include "conf/artifacts.h"
#include "conf/artifacts_check.h"
#include "conf/artifacts_dirs.h"
#include "conf/artifacts_key.h"
#include "conf/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER_KEY \
	"f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* A place with one good installation. */
struct fixture {
	char place[64];
	char dir[192]; /* place/key */
	char key[65];  /* of this build and machine */
};

static char *
path_of(const struct fixture *fixture, const char *name)
{
	char *path = NULL;

	assert_true(asprintf(&path, "%s/%s", fixture->dir, name) > 0);
	return path;
}

static void
put_file(const struct fixture *fixture, const char *name, const char *text)
{
	own_mem char *path = path_of(fixture, name);
	own_fd int fd =
	    open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

static void
put_manifest(const struct fixture *fixture, const char *key)
{
	struct manifest manifest;
	char text[MANIFEST_MAX];
	struct err err;
	own_fd int fd = open(fixture->dir, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(manifest_make(fd, key, &manifest, &err), 0);
	assert_true(manifest_format(&manifest, text) < MANIFEST_MAX);
	put_file(fixture, ARTIFACT_MANIFEST, text);
}

static int
setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct artifacts_inputs inputs;

	assert_non_null(fixture);
	(void)strcpy(fixture->place, "/tmp/breakroom-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->place));
	artifacts_inputs(INT64_ON, &inputs);
	artifacts_key(&inputs, fixture->key);
	(void)snprintf(fixture->dir, sizeof(fixture->dir), "%s/%s",
	    fixture->place, fixture->key);
	(void)umask(022);
	assert_int_equal(mkdir(fixture->dir, 0755), 0);
	for (size_t i = 0; i < MANIFEST_FILES; i++)
		put_file(fixture, manifest_names[i], manifest_names[i]);
	put_manifest(fixture, fixture->key);
	assert_int_equal(setenv("BREAKROOM_DATA", fixture->place, 1), 0);
	*state = fixture;
	return 0;
}

static int
remove_entry(
    const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static int
teardown(void **state)
{
	struct fixture *fixture = *state;

	(void)nftw(fixture->place, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(fixture);
	return unsetenv("BREAKROOM_DATA");
}

/* The environment's variables as a test wants them; NULL: unset. */
static void
set_places(const char *data, const char *xdg, const char *home)
{
	const char *const names[] = { "BREAKROOM_DATA", "XDG_CACHE_HOME",
		"HOME" };
	const char *const values[] = { data, xdg, home };

	for (size_t i = 0; i < 3; i++)
		if (values[i])
			assert_int_equal(setenv(names[i], values[i], 1), 0);
		else
			assert_int_equal(unsetenv(names[i]), 0);
}

/* artifacts_find fails with code, and says text and what to do. */
static void
check_refused(int code, const char *text)
{
	struct artifacts artifacts = { .key = "kept" };
	struct err err = { 0 };

	assert_int_equal(artifacts_find(INT64_ON, &artifacts, &err), -code);
	assert_int_equal(err.code, code);
	if (!strstr(err.text, text))
		fail_msg("\"%s\" does not say \"%s\"", err.text, text);
	assert_non_null(strstr(err.text, "breakroom install"));
	assert_string_equal(artifacts.key, "kept");
}

static void
check_found(const struct fixture *fixture)
{
	struct artifacts artifacts;
	struct err err = { 0 };

	if (artifacts_find(INT64_ON, &artifacts, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(artifacts.dir, fixture->dir);
	assert_string_equal(artifacts.key, fixture->key);
}

/* Two choices of --int64 are two installations: whoever asks for one that is
 * not there hears of the other, and does not get it. */
static void
test_two_kinds(void **state)
{
	const struct fixture *fixture = *state;
	struct artifacts artifacts = { .key = "kept" };
	struct artifacts_inputs inputs;
	struct err err = { 0 };
	char key[65];

	artifacts_inputs(INT64_OFF, &inputs);
	artifacts_key(&inputs, key);
	assert_int_not_equal(strncmp(key, fixture->key, KEY_MODULE_DIGITS), 0);
	assert_int_equal(artifacts_find(INT64_OFF, &artifacts, &err), -ESTALE);
	assert_non_null(strstr(err.text, fixture->dir));
	assert_non_null(strstr(
	    err.text, " has --int64=on: run breakroom install --int64=off"));
	assert_string_equal(artifacts.key, "kept");
	check_found(fixture);
}

static void
test_good(void **state)
{
	check_found(*state);
}

/* Keeps size and time, so that only a digest tells. */
static void
damage_quietly(const struct fixture *fixture, const char *name)
{
	own_mem char *path = path_of(fixture, name);
	struct stat st;
	struct timespec times[2];

	assert_int_equal(stat(path, &st), 0);
	put_file(fixture, name, "modulE.cwasm");
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void
test_verify(void **state)
{
	const struct fixture *fixture = *state;
	struct artifacts artifacts;
	struct err err = { 0 };

	assert_int_equal(artifacts_find(INT64_ON, &artifacts, &err), 0);
	assert_int_equal(artifacts_verify(&artifacts, &err), 0);
	damage_quietly(fixture, ARTIFACT_MODULE);
	check_found(fixture);
	assert_int_equal(artifacts_verify(&artifacts, &err), -ESTALE);
	assert_non_null(strstr(err.text, ARTIFACT_MODULE));
	assert_non_null(strstr(err.text, "breakroom install"));
}

static void
test_nothing(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(setenv("BREAKROOM_DATA", "/nonexistent/x", 1), 0);
	check_refused(ENOENT, "/nonexistent/x");
	assert_int_equal(setenv("BREAKROOM_DATA", fixture->dir, 1), 0);
	check_refused(ENOENT, "not installed in");
}

static void
test_relative_place(void **state)
{
	struct artifacts artifacts;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(setenv("BREAKROOM_DATA", "cache", 1), 0);
	assert_int_equal(artifacts_find(INT64_ON, &artifacts, &err), -EINVAL);
	assert_non_null(strstr(err.text, "absolute"));
}

static void
test_other_build(void **state)
{
	struct fixture *fixture = *state;
	char moved[192];

	(void)snprintf(moved, sizeof(moved), "%s/" OTHER_KEY, fixture->place);
	assert_int_equal(rename(fixture->dir, moved), 0);
	check_refused(ESTALE, "another build or machine");
	/* Renaming does not make it right: the header has the key too. */
	assert_int_equal(rename(moved, fixture->dir), 0);
	check_found(fixture);
	put_manifest(fixture, OTHER_KEY);
	check_refused(ESTALE, "manifest is for another build");
}

static void
test_missing_files(void **state)
{
	const struct fixture *fixture = *state;

	for (size_t i = 0; i < MANIFEST_FILES; i++) {
		own_mem char *path = path_of(fixture, manifest_names[i]);
		own_mem char *aside = path_of(fixture, "aside");
		char text[64];

		(void)snprintf(
		    text, sizeof(text), "%s is missing", manifest_names[i]);
		assert_int_equal(rename(path, aside), 0);
		check_refused(ESTALE, text);
		assert_int_equal(rename(aside, path), 0);
		check_found(fixture);
	}
}

static void
test_changed_size(void **state)
{
	put_file(*state, ARTIFACT_SNAPSHOT, "longer than before");
	check_refused(ESTALE, ARTIFACT_SNAPSHOT " has another size");
}

static void
test_changed_time(void **state)
{
	own_mem char *path = path_of(*state, ARTIFACT_HOT);
	struct timespec times[2] = { { 1, 1 }, { 1, 1 } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	check_refused(ESTALE, ARTIFACT_HOT " was changed");
}

static void
test_modes(void **state)
{
	const struct fixture *fixture = *state;
	own_mem char *file = path_of(fixture, ARTIFACT_STDLIB);
	own_mem char *manifest = path_of(fixture, ARTIFACT_MANIFEST);

	assert_int_equal(chmod(file, 0644), 0);
	check_found(fixture);
	assert_int_equal(chmod(file, 0620), 0);
	check_refused(ESTALE, ARTIFACT_STDLIB " may be written by others");
	assert_int_equal(chmod(file, 0644), 0);
	assert_int_equal(chmod(manifest, 0646), 0);
	check_refused(ESTALE, "manifest may be written by others");
	assert_int_equal(chmod(manifest, 0644), 0);
	assert_int_equal(chmod(fixture->dir, 0770), 0);
	check_refused(ESTALE, "it may be written by others");
	assert_int_equal(chmod(fixture->dir, 0755), 0);
	check_found(fixture);
}

/* A room that root starts is another user's process; anybody else's is not. */
static void
test_private_to_root(void **state)
{
	const struct fixture *fixture = *state;
	own_mem char *file = path_of(fixture, ARTIFACT_STDLIB);

	assert_int_equal(chmod(file, 0600), 0);
	if (geteuid() == 0)
		check_refused(ESTALE, ARTIFACT_STDLIB " is private to root");
	else
		check_found(fixture);
	assert_int_equal(chmod(file, 0644), 0);
	assert_int_equal(chmod(fixture->dir, 0700), 0);
	if (geteuid() == 0)
		check_refused(ESTALE, "it is private to root");
	else
		check_found(fixture);
}

static void
check_spelling(const struct fixture *fixture, const char *path)
{
	char dir[PATH_MAX];
	struct err err;

	assert_int_equal(setenv("BREAKROOM_DATA", path, 1), 0);
	check_found(fixture);
	assert_int_equal(artifacts_install_place(dir, &err), 0);
	assert_string_equal(dir, fixture->place);
}

/* However the place is spelt, its artifacts are named in one way. */
static void
test_spellings(void **state)
{
	static const char *const before[] = { "", "/", "//", "/tmp/.." };
	static const char *const after[] = { "/", "//", "/.", "/" KEY "/..",
		"/link", "/link/link/" };
	const struct fixture *fixture = *state;
	char path[192];

	(void)snprintf(path, sizeof(path), "%s/" KEY, fixture->place);
	assert_int_equal(mkdir(path, S_IRWXU), 0);
	(void)snprintf(path, sizeof(path), "%s/link", fixture->place);
	assert_int_equal(symlink(fixture->place, path), 0);
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 6; j++) {
			(void)snprintf(path, sizeof(path), "%s%s%s", before[i],
			    fixture->place, after[j]);
			check_spelling(fixture, path);
		}
}

/* The user's cache behind a link, as home directories are. */
static void
test_linked_cache(void **state)
{
	const struct fixture *fixture = *state;
	char path[192];
	struct places places;
	struct err err;

	(void)snprintf(path, sizeof(path), "%s/breakroom", fixture->place);
	assert_int_equal(symlink(fixture->place, path), 0);
	set_places(NULL, fixture->place, "/");
	assert_int_equal(artifacts_places(&places, &err), 0);
	assert_string_equal(places.dir[1], fixture->place);
	set_places(NULL, NULL, "/");
}

/* Is the directory free for an installation to remove? */
static bool
is_free(const char *dir)
{
	own_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static void
test_hold(void **state)
{
	const struct fixture *fixture = *state;
	struct artifacts artifacts;
	struct err err = { 0 };
	int first = -1, second = -1;

	assert_int_equal(artifacts_find(INT64_ON, &artifacts, &err), 0);
	assert_true(is_free(fixture->dir));
	assert_int_equal(artifacts_hold(&artifacts, &first, &err), 0);
	assert_int_equal(fcntl(first, F_GETFD), FD_CLOEXEC);
	assert_int_equal(artifacts_hold(&artifacts, &second, &err), 0);
	assert_false(is_free(fixture->dir));
	fd_close(first);
	assert_false(is_free(fixture->dir));
	fd_close(second);
	assert_true(is_free(fixture->dir));
}

static void
test_hold_of_what_is_gone(void **state)
{
	const struct fixture *fixture = *state;
	char aside[192];
	struct artifacts artifacts;
	struct err err = { 0 };
	own_fd int lock = -1;
	int hold = -1;

	assert_int_equal(artifacts_find(INT64_ON, &artifacts, &err), 0);
	lock = open(fixture->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(artifacts_hold(&artifacts, &hold, &err), -EWOULDBLOCK);
	assert_int_equal(flock(lock, LOCK_UN), 0);
	(void)snprintf(aside, sizeof(aside), "%s/aside", fixture->place);
	assert_int_equal(rename(fixture->dir, aside), 0);
	assert_int_equal(artifacts_hold(&artifacts, &hold, &err), -ESTALE);
	assert_non_null(strstr(err.text, "breakroom install"));
	assert_int_equal(symlink(aside, fixture->dir), 0);
	assert_int_equal(artifacts_hold(&artifacts, &hold, &err), -ESTALE);
	assert_int_equal(hold, -1);
}

/* Only root can give files away; others have somebody else's files at hand,
 * but no way to make whole installations of them. */
static void
test_owner(void **state)
{
	const struct fixture *fixture = *state;
	own_mem char *file = path_of(fixture, ARTIFACT_SNAPSHOT);

	if (geteuid() != 0) {
		print_message("only root can give files away\n");
		skip();
	}
	assert_int_equal(chown(file, 65534, 65534), 0);
	check_refused(ESTALE, ARTIFACT_SNAPSHOT " belongs to another user");
	assert_int_equal(chown(file, 0, 0), 0);
	assert_int_equal(chown(fixture->dir, 65534, 65534), 0);
	check_refused(ESTALE, "it belongs to another user");
}

static void
test_links(void **state)
{
	const struct fixture *fixture = *state;
	own_mem char *path = path_of(fixture, ARTIFACT_MODULE);
	own_mem char *aside = path_of(fixture, "aside");

	assert_int_equal(rename(path, aside), 0);
	assert_int_equal(symlink(aside, path), 0);
	check_refused(ESTALE, ARTIFACT_MODULE " is not a file");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	check_refused(ESTALE, ARTIFACT_MODULE " is not a file");
}

static void
test_linked_dir(void **state)
{
	const struct fixture *fixture = *state;
	char aside[192];

	(void)snprintf(aside, sizeof(aside), "%s/aside", fixture->place);
	assert_int_equal(rename(fixture->dir, aside), 0);
	assert_int_equal(symlink(aside, fixture->dir), 0);
	check_refused(ESTALE, "open ");
}

static void
test_broken_manifests(void **state)
{
	const struct fixture *fixture = *state;
	own_mem char *path = path_of(fixture, ARTIFACT_MANIFEST);
	char long_text[MANIFEST_MAX + 2] = "";

	memset(long_text, 'x', MANIFEST_MAX + 1);
	put_file(fixture, ARTIFACT_MANIFEST, "");
	check_refused(ESTALE, "manifest is not one");
	put_file(fixture, ARTIFACT_MANIFEST, "breakroom artifacts 2 " KEY "\n");
	check_refused(ESTALE, "manifest is not one");
	put_file(fixture, ARTIFACT_MANIFEST, long_text);
	check_refused(ESTALE, "manifest is too long");
	assert_int_equal(unlink(path), 0);
	check_refused(ESTALE, "manifest is missing");
}

static struct manifest
some_manifest(void)
{
	struct manifest manifest = { .key = KEY };

	for (size_t i = 0; i < MANIFEST_FILES; i++) {
		manifest.files[i].size = UINT64_C(9000000000) + i;
		manifest.files[i].mtime_ns = INT64_MAX - (int64_t)i;
		memcpy(manifest.files[i].sha256, OTHER_KEY, 65);
	}
	return manifest;
}

static void
test_manifest_round_trip(void **state)
{
	struct manifest manifest = some_manifest();
	struct manifest again;
	char text[MANIFEST_MAX], other[MANIFEST_MAX];
	size_t n = manifest_format(&manifest, text);

	(void)state;
	assert_int_equal(n, strlen(text));
	assert_int_equal(manifest_parse(text, n, &again, NULL), 0);
	assert_string_equal(again.key, KEY);
	assert_int_equal(manifest_format(&again, other), n);
	assert_string_equal(text, other);
}

/* No text that differs from a good one in a byte, or in its length, passes
 * for the same. */
static void
test_manifest_is_strict(void **state)
{
	struct manifest manifest = some_manifest();
	struct manifest again;
	char text[MANIFEST_MAX], other[MANIFEST_MAX];
	size_t n = manifest_format(&manifest, text);

	(void)state;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(
		    manifest_parse(text, i, &again, NULL), -EBADMSG);
	text[n] = 'x';
	assert_int_equal(manifest_parse(text, n + 1, &again, NULL), -EBADMSG);
	for (size_t i = 0; i < n; i++) {
		char kept = text[i];

		text[i] = kept == '7' ? '6' : '7';
		if (manifest_parse(text, n, &again, NULL) == 0) {
			assert_int_equal(manifest_format(&again, other), n);
			assert_memory_equal(text, other, n);
		}
		text[i] = 0;
		assert_int_equal(
		    manifest_parse(text, n, &again, NULL), -EBADMSG);
		text[i] = kept;
	}
}

static void
test_key(void **state)
{
	struct artifacts_inputs inputs;
	char keys[10][65];

	(void)state;
	artifacts_inputs(INT64_ON, &inputs);
	artifacts_key(&inputs, keys[0]);
	assert_int_equal(strspn(keys[0], "0123456789abcdef"), 64);
	artifacts_inputs(INT64_ON, &inputs);
	artifacts_key(&inputs, keys[1]);
	assert_string_equal(keys[0], keys[1]);

	for (int changed = 1; changed < 10; changed++) {
		artifacts_inputs(INT64_ON, &inputs);
		if (changed == 1)
			inputs.guest_wasm = KEY;
		else if (changed == 2)
			inputs.guest_stdlib = KEY;
		else if (changed == 3)
			inputs.guest_sources = KEY;
		else if (changed == 4)
			inputs.engine = "another engine";
		else if (changed == 5)
			inputs.snapshot_format++;
		else if (changed == 6)
			inputs.cpu[0] ^= 1;
		else if (changed == 7)
			inputs.packer = KEY;
		else if (changed == 8)
			inputs.shelf = "another list";
		else
			(void)strcpy(inputs.added, KEY);
		artifacts_key(&inputs, keys[changed]);
		for (int i = 0; i < changed; i++)
			assert_string_not_equal(keys[i], keys[changed]);
	}
}

/* Neighbouring inputs do not run into each other. */
static void
test_key_borders(void **state)
{
	struct artifacts_inputs inputs = { .guest_wasm = "ab",
		.guest_stdlib = "c",
		.guest_sources = "d",
		.engine = "e",
		.snapshot_format = 1,
		.cpu = "f",
		.packer = "g",
		.shelf = "h" };
	char a[65], b[65];

	(void)state;
	artifacts_key(&inputs, a);
	inputs.guest_wasm = "a";
	inputs.guest_stdlib = "bc";
	artifacts_key(&inputs, b);
	assert_string_not_equal(a, b);
}

static void
test_cpu_is_stable(void **state)
{
	char first[CPU_TEXT_MAX], again[CPU_TEXT_MAX];

	(void)state;
	artifacts_cpu(first);
	assert_true(strlen(first) > 8);
	for (int i = 0; i < 100; i++) {
		artifacts_cpu(again);
		assert_string_equal(first, again);
	}
}

static void
test_places(void **state)
{
	char dir[PATH_MAX];
	struct places places;
	struct err err;

	(void)state;
	set_places("/d", "/x", "/h");
	assert_int_equal(artifacts_install_place(dir, &err), 0);
	assert_string_equal(dir, "/d");
	assert_int_equal(artifacts_places(&places, &err), 0);
	assert_int_equal(places.n, 1);
	assert_string_equal(places.dir[0], "/d");

	set_places("", "/x", "/h");
	assert_int_equal(artifacts_install_place(dir, &err), 0);
	assert_string_equal(dir, "/x/breakroom");
	assert_int_equal(artifacts_places(&places, &err), 0);
	assert_int_equal(places.n, 2);
	assert_string_equal(places.dir[1], "/x/breakroom");

	set_places(NULL, "relative", "/h");
	assert_int_equal(artifacts_install_place(dir, &err), 0);
	assert_string_equal(dir, "/h/.cache/breakroom");
}

/* As cron and containers do it. */
static void
test_no_home(void **state)
{
	static const char *const homes[] = { NULL, "", "not/absolute" };
	char dir[PATH_MAX];
	struct err err;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		set_places(NULL, NULL, homes[i]);
		assert_int_equal(artifacts_install_place(dir, &err), 0);
		assert_int_equal(dir[0], '/');
		assert_non_null(strstr(dir, "/.cache/breakroom"));
	}
}

static int
restore_places(void **state)
{
	(void)state;
	set_places(NULL, NULL, "/");
	return 0;
}

#define WITH_FIXTURE(test) \
	cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(test_good),
		WITH_FIXTURE(test_two_kinds),
		WITH_FIXTURE(test_verify),
		WITH_FIXTURE(test_nothing),
		WITH_FIXTURE(test_relative_place),
		WITH_FIXTURE(test_other_build),
		WITH_FIXTURE(test_missing_files),
		WITH_FIXTURE(test_changed_size),
		WITH_FIXTURE(test_changed_time),
		WITH_FIXTURE(test_modes),
		WITH_FIXTURE(test_private_to_root),
		WITH_FIXTURE(test_spellings),
		WITH_FIXTURE(test_linked_cache),
		WITH_FIXTURE(test_hold),
		WITH_FIXTURE(test_hold_of_what_is_gone),
		WITH_FIXTURE(test_owner),
		WITH_FIXTURE(test_links),
		WITH_FIXTURE(test_linked_dir),
		WITH_FIXTURE(test_broken_manifests),
		cmocka_unit_test(test_manifest_round_trip),
		cmocka_unit_test(test_manifest_is_strict),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_key_borders),
		cmocka_unit_test(test_cpu_is_stable),
		cmocka_unit_test_teardown(test_places, restore_places),
		cmocka_unit_test_teardown(test_no_home, restore_places),
	};

	return cmocka_run_group_tests_name("artifacts", tests, NULL, NULL);
}
