/* test_cgroup_end.c: the end of a room's control groups: what is killed, what
 * is left alone, and that nothing stays; and a user who can have none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the end of a room ---- */

static int orphans_end_fd[2];

/* What a keeper leaves holds no lock of its: zygote and nurse close all. */
static int
orphan(void)
{
	cgroup_close(room);
	return rooms_scatter();
}

static int
orphans_keeper(void)
{
	room = rooms_open(WALLS_CGROUP & ~PIDS);
	MUST(room && cgroup_take(room) == 0);
	MUST(rooms_end_of(rooms_fork(0, orphan)) == 0);
	MUST(rooms_end_of(rooms_fork(-1, orphan)) == 0);
	return 0;
}

static int
orphans_by_number_keeper(void)
{
	room = rooms_open(MEMORY);
	MUST(room && cgroup_take(room) == 0);
	MUST(rooms_end_of(rooms_fork(0, orphan)) == 0);
	MUST(rooms_end_of(rooms_fork(-1, orphan)) == 0);
	return 0;
}

static void
assert_orphans_end(deed_fn *keeper)
{
	assert_int_equal(pipe2(orphans_end_fd, O_CLOEXEC), 0);
	rooms_with(keeper);
	(void)close(orphans_end_fd[1]);
	assert_true(rooms_all_gone(orphans_end_fd[0]));
	(void)close(orphans_end_fd[0]);
}

static void
removal_ends_what_is_left(void **state)
{
	(void)state;
	assert_orphans_end(orphans_keeper);
	assert_orphans_end(orphans_by_number_keeper);
}

static int
walled_launcher(void)
{
	struct err err;
	pid_t keeper;
	int ends[2];

	MUST(pipe2(ends, O_CLOEXEC) == 0);
	keeper = fork();
	if (keeper == 0)
		_exit(orphans_keeper());
	MUST(rooms_end_of(keeper) == 0);
	(void)close(ends[1]);
	apart_must(wall_no_new_privs(&err), &err);
	apart_must(wall_seccomp(SECCOMP_LAUNCHER, &err), &err);
	MUST(rooms_exists(keeper));
	rooms_remove(keeper);
	MUST(!rooms_exists(keeper));
	MUST(rooms_all_gone(ends[0]));
	return 0;
}

static void
a_walled_launcher_removes_a_room(void **state)
{
	(void)state;
	assert_int_equal(apart(walled_launcher), 0);
}

static int
sweeper(void)
{
	return rooms_open(WALLS_CGROUP) ? 0 : 1;
}

static void
the_dead_are_swept_and_only_they(void **state)
{
	pid_t living = apart_hold(rooms_open_all);
	pid_t locked = fork();
	pid_t dead = locked == 0 ? 0 : fork();
	char path[ROOMS_PATH_MAX];
	int lock;

	(void)state;
	if (locked == 0)
		_exit(0);
	if (dead == 0)
		_exit(rooms_open(MEMORY) ? 0 : 1);
	assert_int_equal(rooms_end_of(locked), 0);
	assert_int_equal(rooms_end_of(dead), 0);
	assert_true(rooms_exists(dead));
	/* A keeper that is about to take the lock of its room. */
	assert_true(rooms_path(getpid(), WALL_CGROUP_MEMORY, "", path));
	assert_int_equal(mkdir(path, 0755), 0);
	/* A number that means nothing here, and a lock that somebody holds. */
	assert_true(rooms_path(locked, WALL_CGROUP_MEMORY, "", path));
	assert_int_equal(mkdir(path, 0755), 0);
	lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);

	rooms_with(sweeper);
	assert_false(rooms_exists(dead));
	assert_true(rooms_exists(living));
	assert_true(rooms_exists(getpid()));
	assert_int_equal(access(path, F_OK), 0);
	(void)close(lock);
	rooms_with(sweeper);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_true(rooms_path(getpid(), WALL_CGROUP_MEMORY, "", path));
	assert_int_equal(rmdir(path), 0);

	/* A launcher that errs about a living keeper does no harm. */
	rooms_remove(living);
	assert_true(rooms_exists(living));
	apart_release(living);
	rooms_remove(living);
	assert_false(rooms_exists(living));
}

/* Somebody holds the lock of what has this keeper's number. */
static int
locked_keeper(void)
{
	char path[ROOMS_PATH_MAX];
	int lock;

	MUST(rooms_path(getpid(), WALL_CGROUP_MEMORY, "", path));
	MUST(mkdir(path, 0755) == 0);
	lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0);
	room = rooms_open(WALLS_CGROUP);
	MUST(missing & MEMORY);
	MUST(why[WALL_CGROUP_MEMORY].code == EEXIST);
	MUST(access(path, F_OK) == 0);
	return 0;
}

static void
a_locked_room_is_left_alone(void **state)
{
	(void)state;
	rooms_with(locked_keeper);
}

/* What a keeper with the same number left is no hindrance. */
static int
leftover_keeper(void)
{
	char path[ROOMS_PATH_MAX];

	MUST(rooms_path(getpid(), WALL_CGROUP_MEMORY, "", path));
	MUST(mkdir(path, 0755) == 0);
	MUST(rooms_path(getpid(), WALL_CGROUP_MEMORY, "0", path));
	MUST(mkdir(path, 0755) == 0);
	room = rooms_open(WALLS_CGROUP);
	MUST(room && !(missing & MEMORY) && cgroup_take(room) == 0);
	return 0;
}

static void
a_leftover_of_the_same_number_goes(void **state)
{
	(void)state;
	rooms_with(leftover_keeper);
}

/* ---- nothing may be written ---- */

static int
ordinary_keeper(void)
{
	apart_ordinary();
	room = rooms_open(WALLS_CGROUP);
	MUST(!room && missing == WALLS_CGROUP);
	for (unsigned i = 0; i < trees.n; i++)
		for (unsigned j = 0; j < WALLS; j++)
			if (trees.tree[i].walls & WALL_BIT(j)) {
				char expected[sizeof(why[j].text)];

				(void)snprintf(expected, sizeof(expected),
				    "%.160s: Permission denied",
				    trees.tree[i].base);
				MUST(strcmp(why[j].text, expected) == 0);
				MUST(why[j].code == EACCES);
			}
	return 0;
}

static void
an_ordinary_user_is_told_why(void **state)
{
	(void)state;
	rooms_with(ordinary_keeper);
}

static int
tests(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(removal_ends_what_is_left),
		cmocka_unit_test(a_walled_launcher_removes_a_room),
		cmocka_unit_test(the_dead_are_swept_and_only_they),
		cmocka_unit_test(a_locked_room_is_left_alone),
		cmocka_unit_test(a_leftover_of_the_same_number_goes),
		cmocka_unit_test(an_ordinary_user_is_told_why),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}

int
main(void)
{
	return rooms_run(tests);
}
