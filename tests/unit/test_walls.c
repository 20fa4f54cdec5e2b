/* test_walls.c: each wall in a process of its own, looked at with it on and
 * with it off.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Runs look in a process that has raised the wall (if any); what look says. */
static int
inside(int (*wall)(struct err *err), int (*look)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct err err;

		if (wall && wall(&err) < 0)
			_exit(99);
		_exit(look());
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int
has_no_new_privs(void)
{
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
}

static void
privileges(void **state)
{
	(void)state;
	assert_int_equal(inside(NULL, has_no_new_privs), 0);
	assert_int_equal(inside(wall_privileges, has_no_new_privs), 1);
}

#define KEPT  50
#define OTHER 51

static int
open_both(struct err *err)
{
	(void)err;
	return dup2(STDERR_FILENO, KEPT) < 0 || dup2(STDERR_FILENO, OTHER) < 0
		   ? -1
		   : 0;
}

static int
close_others(struct err *err)
{
	int kept = KEPT;

	return open_both(err) < 0 ? -1 : wall_fds(&kept, 1, err);
}

/* 1: OTHER is open, 2: KEPT is, 4: standard error is not /dev/null */
static int
open_now(void)
{
	char name[64] = "";

	(void)!readlink("/proc/self/fd/2", name, sizeof(name) - 1);
	return (fcntl(OTHER, F_GETFD) >= 0) + 2 * (fcntl(KEPT, F_GETFD) >= 0) +
	       4 * (name[0] != '/' || name[5] != 'n');
}

static void
fds(void **state)
{
	(void)state;
	assert_int_equal(inside(open_both, open_now) & 3, 3);
	assert_int_equal(inside(close_others, open_now), 2);
}

static int
limits(struct err *err)
{
	return wall_rlimits(1, err);
}

static int
can_write_a_file(void)
{
	int fd = open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	(void)signal(SIGXFSZ, SIG_IGN);
	return fd >= 0 && write(fd, "x", 1) == 1;
}

static int
computes_for_ever(void)
{
	for (;;)
		;
	return 0;
}

static int
core_limit(void)
{
	struct rlimit limit = { 1, 1 };

	return getrlimit(RLIMIT_CORE, &limit) < 0 || limit.rlim_max != 0;
}

static void
rlimits(void **state)
{
	(void)state;
	assert_int_equal(inside(NULL, can_write_a_file), 1);
	assert_int_equal(inside(limits, can_write_a_file), 0);
	assert_int_equal(inside(limits, core_limit), 0);
	/* A second of processor time, and the kernel's own kill. */
	assert_int_equal(inside(limits, computes_for_ever), -SIGKILL);
}

/* Whether a process outlives its parent: the grandchild answers through a
 * pipe that its death closes. */
static int
grandchild_answers(bool walled)
{
	int ends[2];
	char byte = 0;
	pid_t child;
	ssize_t got;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		pid_t self = getpid();
		int ready[2];

		if (pipe(ready) < 0)
			_exit(1);
		if (fork() == 0) {
			struct err err;

			(void)close(ends[0]);
			if (walled && wall_parent(self, &err) < 0)
				_exit(1);
			(void)!write(ready[1], "r", 1);
			(void)usleep(300000);
			_exit(write(ends[1], "x", 1) != 1);
		}
		(void)!read(ready[0], &byte, 1);
		_exit(0);
	}
	(void)close(ends[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	got = read(ends[0], &byte, 1);
	(void)close(ends[0]);
	return (int)got;
}

static void
parent(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(grandchild_answers(false), 1);
	assert_int_equal(grandchild_answers(true), 0);
	assert_int_equal(wall_parent(getpid(), &err), -ESRCH);
	(void)prctl(PR_SET_PDEATHSIG, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(privileges),
		cmocka_unit_test(fds),
		cmocka_unit_test(rlimits),
		cmocka_unit_test(parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
