/* test_install.c: an installation is seen whole or not at all. The files of
 * keeper/ are a program's, not a library's: they are compiled in here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/install_place.c"
#include "keeper/install_stage.c"

#include "conf/artifacts_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <time.h>

#include <cmocka.h>

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OLD_KEY \
	"f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static int
setup(void **state)
{
	char *dir = strdup("/tmp/breakroom-test-XXXXXX");

	assert_non_null(dir);
	assert_non_null(mkdtemp(dir));
	*state = dir;
	return 0;
}

static int
teardown(void **state)
{
	remove_tree(*state);
	free(*state);
	return 0;
}

static void
open_place(struct place *place, const char *dir)
{
	struct err err = { 0 };

	assert_int_equal(place_open(dir, KEY, place, &err), 0);
	assert_int_equal(place_lock(place, false, &err), 0);
}

static void
put_file(const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX];
	own_fd int fd = -1;

	assert_int_equal(join(path, dir, name, NULL), 0);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

static void
fill_staging(const struct place *place, const char *text)
{
	for (size_t i = 0; i < MANIFEST_FILES; i++)
		put_file(place->staging, manifest_names[i], text);
}

static bool
exists(const char *dir, const char *name)
{
	char path[PATH_MAX];

	assert_int_equal(join(path, dir, name, NULL), 0);
	return access(path, F_OK) == 0;
}

static unsigned
mode_of(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	assert_int_equal(join(path, dir, name, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void
test_publish(void **state)
{
	struct place place;
	struct artifacts found;
	struct err err = { 0 };

	open_place(&place, *state);
	assert_int_equal(place_stage(&place, &err), 0);
	fill_staging(&place, "new");
	assert_int_equal(artifacts_check(*state, KEY, &found, NULL), -ENOENT);
	assert_int_equal(place_publish(&place, &err), 0);
	assert_int_equal(artifacts_check(*state, KEY, &found, &err), 0);
	assert_int_equal(artifacts_verify(&found, &err), 0);
	assert_int_equal(mode_of(*state, KEY), 0755);
	for (size_t i = 0; i < MANIFEST_FILES; i++)
		assert_int_equal(mode_of(found.dir, manifest_names[i]), 0644);
	assert_int_equal(mode_of(found.dir, ARTIFACT_MANIFEST), 0644);
	assert_string_equal(place.staging, "");
	place_close(&place);
	assert_true(exists(*state, KEY));
}

/* A damaged installation is replaced, and what was damaged is gone. */
static void
test_replace(void **state)
{
	struct place place;
	struct artifacts found;
	struct err err = { 0 };
	char staging[PATH_MAX];

	open_place(&place, *state);
	assert_int_equal(place_stage(&place, &err), 0);
	fill_staging(&place, "old");
	assert_int_equal(place_publish(&place, &err), 0);
	assert_int_equal(artifacts_check(*state, KEY, &found, &err), 0);
	put_file(found.dir, ARTIFACT_HOT, "damaged");
	put_file(found.dir, "stray", "");
	assert_int_equal(artifacts_check(*state, KEY, &found, &err), -ESTALE);

	assert_int_equal(place_stage(&place, &err), 0);
	memcpy(staging, place.staging, sizeof(staging));
	fill_staging(&place, "new");
	assert_int_equal(place_publish(&place, &err), 0);
	assert_int_equal(artifacts_check(*state, KEY, &found, &err), 0);
	assert_false(exists(found.dir, "stray"));
	assert_int_equal(access(staging, F_OK), -1);
	place_close(&place);
}

/* A file that is not there: nothing is published, nothing is left. */
static void
test_incomplete(void **state)
{
	struct place place;
	struct artifacts found;
	struct err err = { 0 };
	char path[PATH_MAX];
	char staging[PATH_MAX];

	open_place(&place, *state);
	assert_int_equal(place_stage(&place, &err), 0);
	fill_staging(&place, "new");
	assert_int_equal(place_path(&place, ARTIFACT_HOT, path, &err), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(place_publish(&place, &err), -ENOENT);
	assert_non_null(strstr(err.text, ARTIFACT_HOT));
	assert_int_equal(artifacts_check(*state, KEY, &found, NULL), -ENOENT);
	memcpy(staging, place.staging, sizeof(staging));
	place_close(&place);
	assert_int_equal(access(staging, F_OK), -1);
}

static void
test_sweep(void **state)
{
	static const char *const names[] = { OLD_KEY, OLD_KEY ".partial.12",
		KEY ".partial.13", KEY, "notes", OLD_KEY "0" };
	struct place place;
	struct err err = { 0 };
	char path[PATH_MAX];

	open_place(&place, *state);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(join(path, *state, names[i], NULL), 0);
		assert_int_equal(mkdir(path, 0700), 0);
		put_file(path, "file", "text");
	}
	assert_int_equal(place_stage(&place, &err), 0);
	place_sweep_staging(&place);
	assert_false(exists(*state, names[1]));
	assert_false(exists(*state, names[2]));
	assert_true(exists(*state, OLD_KEY));
	assert_int_equal(access(place.staging, F_OK), 0);
	place_sweep_keys(&place);
	assert_false(exists(*state, OLD_KEY));
	assert_true(exists(*state, KEY));
	assert_true(exists(*state, "notes"));
	assert_true(exists(*state, OLD_KEY "0"));
	place_close(&place);
}

/* The same build's other choice of --int64 is not old. */
static void
test_sweep_spares_the_other(void **state)
{
	struct place place;
	char path[PATH_MAX];

	open_place(&place, *state);
	memcpy(place.spared, OLD_KEY, sizeof(place.spared));
	assert_int_equal(join(path, *state, OLD_KEY, NULL), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	place_sweep_keys(&place);
	assert_true(exists(*state, OLD_KEY));
	place.spared[0] = '\0';
	place_sweep_keys(&place);
	assert_false(exists(*state, OLD_KEY));
	place_close(&place);
}

/* What a server runs from stays, and goes when the server has gone. */
static void
test_sweep_spares_what_is_held(void **state)
{
	struct place place;
	struct artifacts held;
	struct err err = { 0 };
	int hold = -1;

	open_place(&place, *state);
	assert_int_equal(join(held.dir, place.dir, OLD_KEY, NULL), 0);
	assert_int_equal(mkdir(held.dir, 0700), 0);
	put_file(held.dir, "file", "text");
	assert_int_equal(artifacts_hold(&held, &hold, &err), 0);
	place_sweep_keys(&place);
	assert_true(exists(held.dir, "file"));
	fd_close(hold);
	place_sweep_keys(&place);
	assert_false(exists(*state, OLD_KEY));
	place_close(&place);
}

/* The place is named as the kernel names what lies there. */
static void
test_linked_place(void **state)
{
	struct place place, plain;
	struct err err = { 0 };
	char link[PATH_MAX], dir[PATH_MAX];

	assert_int_equal(place_open(*state, KEY, &plain, &err), 0);
	assert_int_equal(join(link, *state, "link", NULL), 0);
	assert_int_equal(symlink(*state, link), 0);
	assert_int_equal(join(dir, link, ".//", NULL), 0);
	assert_int_equal(place_open(dir, KEY, &place, &err), 0);
	assert_string_equal(place.dir, plain.dir);
}

static void
test_lock(void **state)
{
	struct place first, second;
	struct err err = { 0 };

	open_place(&first, *state);
	assert_int_equal(place_open(*state, KEY, &second, &err), 0);
	assert_int_equal(place_lock(&second, false, &err), -EWOULDBLOCK);
	assert_int_equal(second.lock, -1);
	place_close(&first);
	assert_int_equal(place_lock(&second, true, &err), 0);
	place_close(&second);
}

static void
test_make_dirs(void **state)
{
	struct place place;
	struct err err = { 0 };
	char dir[PATH_MAX];

	assert_int_equal(join(dir, *state, "a/b//c", NULL), 0);
	assert_int_equal(place_open(dir, KEY, &place, &err), 0);
	assert_int_equal(mode_of(*state, "a"), 0700);
	assert_int_equal(mode_of(*state, "a/b/c"), 0700);
	put_file(*state, "file", "");
	assert_int_equal(join(dir, *state, "file/x", NULL), 0);
	assert_int_equal(place_open(dir, KEY, &place, &err), -ENOTDIR);
}

/* ---- stages ---- */

static int
work_well(const void *data, struct err *err)
{
	(void)data;
	(void)err;
	return 0;
}

static int
work_badly(const void *data, struct err *err)
{
	(void)data;
	return (fail)(err, ENOSPC, "write x: no space"); /* not cmocka's */
}

static int
work_crash(const void *data, struct err *err)
{
	(void)data;
	(void)err;
	(void)signal(SIGILL, SIG_DFL);
	return raise(SIGILL);
}

static int
work_killed(const void *data, struct err *err)
{
	(void)data;
	(void)err;
	return kill(getpid(), SIGKILL);
}

/* Has a child of its own; tells the two numbers; never ends. */
static int
work_for_ever(const void *data, struct err *err)
{
	const char *dir = data;
	pid_t pids[2] = { getpid(), fork() };
	char from[PATH_MAX], to[PATH_MAX];
	own_fd int fd = -1;

	if (pids[1] == 0) {
		for (;;)
			(void)pause();
	}
	if (join(from, dir, "pids.new", err) < 0 ||
	    join(to, dir, "pids", err) < 0)
		return -EINVAL;
	fd = open(from, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd_write_all(fd, pids, sizeof(pids)) < 0 || rename(from, to) < 0)
		return -EINVAL;
	for (;;)
		(void)pause();
}

struct stage_case {
	const char *title;
	int (*work)(const void *data, struct err *err);
	int result;
	const char *text;
};

static void
test_stage_ends(void **state)
{
	static const struct stage_case cases[] = {
		{ "well", work_well, 0, "" },
		{ "badly", work_badly, -ENOSPC, "badly: write x: no space" },
		{ "crash", work_crash, -ECHILD, "crash: ended by signal 4" },
		{ "killed", work_killed, -ECHILD, "memory ran out" },
	};
	struct err err = { 0 };
	own_fd int signal_fd = stage_watch_signals(&err);

	(void)state;
	assert_true(signal_fd >= 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stage stage = { cases[i].title, "", cases[i].work };
		int ended = 0;

		err = (struct err){ 0 };
		assert_int_equal(
		    stage_run(&stage, NULL, signal_fd, &ended, &err),
		    cases[i].result);
		assert_non_null(strstr(err.text, cases[i].text));
		assert_int_equal(ended, 0);
	}
}

static int
work_a_while(const void *data, struct err *err)
{
	(void)data;
	(void)err;
	return nanosleep(&(struct timespec){ .tv_nsec = 500000000 }, NULL);
}

/* When nobody can say how a stage ended, it did not end well. */
static void
test_unknown_end(void **state)
{
	struct stage stage = { "unseen", "", work_a_while };
	struct err err = { 0 };
	own_fd int signal_fd = stage_watch_signals(&err);
	int ended = 0;

	(void)state;
	assert_true(signal_fd >= 0);
	assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
	assert_int_equal(
	    stage_run(&stage, NULL, signal_fd, &ended, &err), -ECHILD);
	(void)signal(SIGCHLD, SIG_DFL);
	assert_non_null(strstr(err.text, "unseen: "));
}

/* Waits for the file that work_for_ever writes, then interrupts the parent. */
static pid_t
fork_interrupter(const char *dir, int number)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	for (int i = 0; i < 1000 && !exists(dir, "pids"); i++)
		(void)nanosleep(
		    &(struct timespec){ .tv_nsec = 10000000 }, NULL);
	(void)kill(parent, number);
	_exit(0);
}

/* True once the process is gone, or only waits for init to notice. */
static bool
is_gone(int pid)
{
	char path[64];
	char state = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (int i = 0; i < 200; i++) {
		FILE *file = fopen(path, "re");

		if (!file)
			return true;
		if (fscanf(file, "%*d %*[^)]) %c", &state) != 1)
			state = 0;
		(void)fclose(file);
		if (state == 'Z' || state == 'X')
			return true;
		(void)nanosleep(
		    &(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return false;
}

static void
test_interrupt(void **state)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct stage stage = { "for ever", "", work_for_ever };
	struct err err = { 0 };
	own_fd int signal_fd = stage_watch_signals(&err);
	char path[PATH_MAX];

	assert_true(signal_fd >= 0);
	assert_int_equal(join(path, *state, "pids", NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		pid_t helper = fork_interrupter(*state, numbers[i]);
		int ended = 0;
		pid_t pids[2] = { 0, 0 };
		int fd;

		assert_int_equal(
		    stage_run(&stage, *state, signal_fd, &ended, &err), -EINTR);
		assert_int_equal(ended, numbers[i]);
		assert_int_equal(waitpid(helper, NULL, 0), helper);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_int_equal(fd_read_all(fd, pids, sizeof(pids)), 0);
		fd_close(fd);
		assert_true(is_gone(pids[0]));
		assert_true(is_gone(pids[1]));
		assert_int_equal(unlink(path), 0);
	}
}

#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DIR(test_publish),
		WITH_DIR(test_replace),
		WITH_DIR(test_incomplete),
		WITH_DIR(test_sweep),
		WITH_DIR(test_sweep_spares_what_is_held),
		WITH_DIR(test_sweep_spares_the_other),
		WITH_DIR(test_linked_place),
		WITH_DIR(test_lock),
		WITH_DIR(test_make_dirs),
		cmocka_unit_test(test_stage_ends),
		cmocka_unit_test(test_unknown_end),
		WITH_DIR(test_interrupt),
	};

	return cmocka_run_group_tests_name("install", tests, NULL, NULL);
}
