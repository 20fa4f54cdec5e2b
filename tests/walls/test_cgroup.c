/* test_cgroup.c: control groups, real ones: that each limit binds and that its
 * case succeeds without it, and the slots. Each test plays the keeper in a
 * process of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms.h"

#include "base/clock.h"
#include "walls/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int told_fd; /* where a process says that it is ready */

/* ---- limits ---- */

static void
assert_number(pid_t keeper, enum wall wall, const char *file, uint64_t expected)
{
	char path[ROOMS_PATH_MAX];
	char text[CGROUP_TEXT_MAX];

	assert_true(rooms_path(keeper, wall, file, path));
	assert_true(cgroup_read(AT_FDCWD, path, text) > 0);
	assert_int_equal(strtoull(text, NULL, 10), expected);
}

static void
a_room_has_its_limits(void **state)
{
	pid_t keeper = apart_hold(rooms_open_all);
	char name[64];
	bool old;

	(void)state;
	for (unsigned i = 0; i < trees.n; i++) {
		struct cgroup_tree *tree = &trees.tree[i];

		old = tree->version == 1;
		if (tree->walls & PIDS)
			assert_number(
			    keeper, WALL_CGROUP_PIDS, "pids.max", PROCESSES);
		if (tree->walls & CPU)
			assert_number(keeper, WALL_CGROUP_CPU,
			    old ? "cpu.shares" : "cpu.weight",
			    (old ? 1024 : 100) * sysconf(_SC_NPROCESSORS_ONLN));
		for (unsigned j = 0; (tree->walls & MEMORY) && j < SLOTS; j++) {
			(void)snprintf(name, sizeof(name), "%u/%s", j,
			    old ? "memory.limit_in_bytes" : "memory.max");
			assert_number(
			    keeper, WALL_CGROUP_MEMORY, name, SLOT_BYTES);
			(void)snprintf(name, sizeof(name), "%u/%s", j,
			    old ? "memory.swappiness" : "memory.swap.max");
			assert_number(keeper, WALL_CGROUP_MEMORY, name, 0);
		}
	}
	apart_release(keeper);
	rooms_remove(keeper);
	assert_false(rooms_exists(keeper));
}

static void
the_keeper_is_in_each_tree(void **state)
{
	pid_t keeper = apart_hold(rooms_open_all);
	char text[CGROUP_TEXT_MAX];
	char group[PATH_MAX];
	char name[CGROUP_NAME_MAX];

	(void)state;
	apart_file(keeper, "cgroup", text, sizeof(text));
	cgroup_room_name(keeper, name);
	for (unsigned i = 0; i < trees.n; i++) {
		const struct cgroup_tree *tree = &trees.tree[i];
		const char *controller = tree->version == 2     ? NULL
					 : tree->walls & MEMORY ? "memory"
					 : tree->walls & PIDS   ? "pids"
								: "cpu";

		assert_true(cgroup_line(text, controller, group));
		assert_non_null(strstr(group, name));
		if (tree->walls & MEMORY)
			assert_non_null(strstr(group, "/" CGROUP_SELF));
	}
	apart_release(keeper);
	rooms_remove(keeper);
}

static int
memory_keeper(void)
{
	int slot;
	int other;

	room = rooms_open(WALLS_CGROUP);
	MUST(room && !(missing & MEMORY));
	slot = cgroup_take(room);
	other = cgroup_take(room);
	MUST(slot >= 0 && other >= 0 && slot != other);
	MUST(rooms_end_of(rooms_fork(slot, rooms_allocate)) == -SIGKILL);
	MUST(cgroup_oom_kills(room, slot) == 1);
	MUST(cgroup_oom_kills(room, other) == 0);
	/* The case itself is sound. */
	MUST(rooms_end_of(rooms_fork(-1, rooms_allocate)) == 0);
	MUST(rooms_end_of(rooms_fork(-1, rooms_fill)) == 0);

	/* The next user of the slot begins with none. */
	cgroup_release(room, slot);
	MUST(cgroup_take(room) == slot);
	MUST(cgroup_oom_kills(room, slot) == 0);
	MUST(rooms_end_of(rooms_fork(slot, rooms_fill)) == -SIGKILL);
	MUST(cgroup_oom_kills(room, slot) == 1);
	MUST(cgroup_oom_kills(room, other) == 0);
	return 0;
}

static void
memory_is_limited(void **state)
{
	(void)state;
	rooms_with(memory_keeper);
}

static int
fork_many(void)
{
	unsigned n = 0;
	pid_t pids[2 * PROCESSES];
	int code = 0;

	for (; n < 2 * PROCESSES; n++) {
		pids[n] = fork();
		if (pids[n] < 0) {
			code = errno;
			break;
		}
		if (pids[n] == 0) {
			(void)poll(NULL, 0, 5000);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < n; i++)
		(void)kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	MUST(code == 0 || n < PROCESSES);
	return code;
}

static int
pids_keeper(void)
{
	MUST(fork_many() == 0);
	room = rooms_open(WALLS_CGROUP & ~PIDS);
	MUST(room && fork_many() == 0);
	cgroup_close(room);
	return 0;
}

static int
pids_limited_keeper(void)
{
	room = rooms_open(WALLS_CGROUP);
	MUST(room && !(missing & PIDS));
	MUST(fork_many() == EAGAIN);
	return 0;
}

static void
processes_are_limited(void **state)
{
	(void)state;
	rooms_with(pids_keeper);
	rooms_with(pids_limited_keeper);
}

/* ---- slots ---- */

static int
slots_keeper(void)
{
	struct err err;

	room = rooms_open(MEMORY);
	MUST(room && missing == 0);
	for (unsigned i = 0; i < SLOTS; i++)
		MUST(cgroup_take(room) == (int)i);
	MUST(cgroup_take(room) == -EAGAIN);
	cgroup_release(room, 1);
	cgroup_release(room, 1);
	cgroup_release(room, -1);
	cgroup_release(room, SLOTS);
	MUST(cgroup_take(room) == 1);
	MUST(cgroup_take(room) == -EAGAIN);
	MUST(cgroup_procs_fd(room, SLOTS) == -1);
	MUST(cgroup_procs_fd(room, -EAGAIN) == -1);
	MUST(cgroup_join(-1, &err) == -EBADF);
	MUST(cgroup_move(room, SLOTS, getpid(), &err) == -EINVAL);
	/* What was given back with memory that others use comes last. */
	cgroup_release_later(room, 0);
	cgroup_release(room, 1);
	MUST(cgroup_take(room) == 1);
	MUST(cgroup_take(room) == 0);
	MUST(cgroup_take(room) == -EAGAIN);
	cgroup_close(room);
	return 0;
}

static void
slots_are_counted(void **state)
{
	(void)state;
	rooms_with(slots_keeper);
}

static int
no_memory_keeper(void)
{
	room = rooms_open(WALLS_CGROUP & ~MEMORY);
	MUST(room);
	MUST(cgroup_take(room) == -ENOSYS);
	MUST(cgroup_take(NULL) == -ENOSYS);
	MUST(cgroup_procs_fd(room, 0) == -1);
	MUST(cgroup_lists_fd(room) == -1);
	MUST(!cgroup_holds(room, 0, AT_FDCWD, getpid()));
	cgroup_release(NULL, 0);
	cgroup_close(NULL);
	return 0;
}

static void
without_memory_there_are_no_slots(void **state)
{
	(void)state;
	rooms_with(no_memory_keeper);
}

/* A slot that its child left full is emptied, and not reused before. */
static int
release_keeper(void)
{
	int end;

	room = rooms_open(WALLS_CGROUP & ~PIDS);
	MUST(room && cgroup_take(room) == 0);
	end = rooms_scatter_in(0);
	MUST(end >= 0 && !(poll(&(struct pollfd){ .fd = end }, 1, 50)));
	cgroup_release(room, 0);
	MUST(cgroup_take(room) == 1);
	MUST(rooms_all_gone(end));
	MUST(cgroup_take(room) == 2);
	MUST(rooms_take() == 0);
	MUST(cgroup_take(room) == -EAGAIN);
	MUST(cgroup_oom_kills(room, 0) == 0);
	return 0;
}

static void
a_slot_given_back_is_emptied(void **state)
{
	(void)state;
	rooms_with(release_keeper);
}

/* ---- membership, seen from outside ---- */

static int
join_and_wait(void)
{
	MUST(write(told_fd, "", 1) == 1);
	(void)poll(NULL, 0, 15000);
	return 0;
}

static int
check_holds(void)
{
	int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int ends[2];
	char byte[2];
	pid_t in, out;
	struct err err;
	bool ok;

	MUST(pipe2(ends, O_CLOEXEC) == 0);
	told_fd = ends[1];
	in = rooms_fork(1, join_and_wait);
	out = rooms_fork(-1, join_and_wait);
	MUST(read(ends[0], byte, 1) == 1 && read(ends[0], byte, 1) == 1);
	ok = cgroup_holds(room, 1, proc_fd, in) &&
	     !cgroup_holds(room, 0, proc_fd, in) &&
	     !cgroup_holds(room, 1, proc_fd, out) &&
	     !cgroup_holds(room, 1, proc_fd, getpid()) &&
	     !cgroup_holds(room, (int)SLOTS, proc_fd, in);
	/* A copy of a session's child does not join: it is moved. */
	ok = ok && cgroup_move(room, 0, out, &err) == 0 &&
	     cgroup_holds(room, 0, proc_fd, out);
	MUST(kill(in, SIGKILL) == 0 && kill(out, SIGKILL) == 0);
	MUST(rooms_end_of(in) == -SIGKILL && rooms_end_of(out) == -SIGKILL);
	MUST(!cgroup_holds(room, 1, proc_fd, in));
	(void)close(proc_fd);
	return ok ? 0 : 1;
}

static int
holds_keeper(void)
{
	room = rooms_open(WALLS_CGROUP);
	MUST(room && cgroup_take(room) == 0 && cgroup_take(room) == 1);
	return check_holds();
}

static int
holds_in_namespace_keeper(void)
{
	room = rooms_open(WALLS_CGROUP);
	MUST(room && cgroup_take(room) == 0 && cgroup_take(room) == 1);
	MUST(unshare(CLONE_NEWCGROUP) == 0);
	return check_holds();
}

static void
membership_is_seen(void **state)
{
	(void)state;
	rooms_with(holds_keeper);
	rooms_with(holds_in_namespace_keeper);
}

/* ---- descriptors, after the process has become somebody else ---- */

static int
descriptors_keeper(void)
{
	int end;

	room = rooms_open(WALLS_CGROUP & ~PIDS);
	MUST(room && cgroup_take(room) == 0 && cgroup_take(room) == 1);
	MUST(setgid(ORDINARY) == 0 && setuid(ORDINARY) == 0);
	(void)prctl(PR_SET_DUMPABLE, 1);
	MUST(open("/proc/self/oom_score_adj", O_WRONLY) >= 0);
	MUST(unshare(CLONE_NEWUSER | CLONE_NEWCGROUP | CLONE_NEWNS) == 0);
	MUST(check_holds() == 0);
	MUST(rooms_end_of(rooms_fork(1, rooms_allocate)) == -SIGKILL);
	MUST(cgroup_oom_kills(room, 1) == 1);
	cgroup_release(room, 1);
	MUST(rooms_take() == 1 && cgroup_oom_kills(room, 1) == 0);
	MUST(cgroup_take(room) == 2);
	end = rooms_scatter_in(0);
	MUST(end >= 0);
	cgroup_release(room, 0);
	MUST(rooms_all_gone(end));
	MUST(rooms_take() == 0);
	return 0;
}

static void
descriptors_outlive_the_user(void **state)
{
	(void)state;
	rooms_with(descriptors_keeper);
}

/* Its own walls do not stop a keeper from emptying a slot. */
static int
walled_keeper(void)
{
	int reads[2] = { open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC), -1 };
	struct err err;
	int end;

	room = rooms_open(WALLS_CGROUP & ~PIDS);
	MUST(room && cgroup_take(room) == 0);
	apart_must(wall_no_new_privs(&err), &err);
	reads[1] = cgroup_lists_fd(room);
	apart_must(wall_landlock(reads, 2, NULL, &err), &err);
	/* Born behind it: those outside could not be signalled. */
	end = rooms_scatter_in(0);
	MUST(end >= 0);
	apart_must(wall_seccomp(SECCOMP_KEEPER, &err), &err);
	cgroup_release(room, 0);
	MUST(cgroup_take(room) == 1);
	MUST(rooms_all_gone(end));
	MUST(cgroup_take(room) == 2 && rooms_take() == 0);
	return 0;
}

/* Where it may not read the list, it trusts that the child was alone. */
static int
blind_keeper(void)
{
	int read = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct err err;

	room = rooms_open(WALLS_CGROUP);
	MUST(room && cgroup_take(room) == 0);
	apart_must(wall_no_new_privs(&err), &err);
	apart_must(wall_landlock(&read, 1, NULL, &err), &err);
	cgroup_release(room, 0);
	MUST(cgroup_take(room) == 0);
	return 0;
}

static void
a_walled_keeper_empties_a_slot(void **state)
{
	struct err err;
	int abi;

	(void)state;
	if (fork() == 0)
		_exit(wall_no_new_privs(&err) == 0 &&
			      wall_landlock(NULL, 0, &abi, &err) == 0
			  ? 0
			  : 1);
	if (rooms_end_of(-1) != 0)
		APART_SKIP("no Landlock");
	rooms_with(walled_keeper);
	rooms_with(blind_keeper);
}

static int
tests(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(a_room_has_its_limits),
		cmocka_unit_test(the_keeper_is_in_each_tree),
		cmocka_unit_test(memory_is_limited),
		cmocka_unit_test(processes_are_limited),
		cmocka_unit_test(slots_are_counted),
		cmocka_unit_test(without_memory_there_are_no_slots),
		cmocka_unit_test(a_slot_given_back_is_emptied),
		cmocka_unit_test(membership_is_seen),
		cmocka_unit_test(descriptors_outlive_the_user),
		cmocka_unit_test(a_walled_keeper_empties_a_slot),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}

int
main(void)
{
	return rooms_run(tests);
}
