/* test_ids.c: users and capabilities given up, as root and as an ordinary
 * user, in a user namespace and without one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include "conf/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* What a keeper keeps. */
#define KEEPER_CAPS                                         \
	(CAP_BIT(CAP_SETPCAP) | CAP_BIT(CAP_SYS_ADMIN) |    \
	    CAP_BIT(CAP_SYS_CHROOT) | CAP_BIT(CAP_SETUID) | \
	    CAP_BIT(CAP_SETGID) | CAP_BIT(CAP_KILL) | CAP_BIT(CAP_SYS_PTRACE))

static char secret[64]; /* a file that root alone may read */

static int
make_secret(void **state)
{
	char path[] = "/tmp/walls.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	(void)snprintf(secret, sizeof(secret), "%s", path);
	return fd < 0 || close(fd) < 0;
}

static int
drop_secret(void **state)
{
	(void)state;
	return unlink(secret);
}

static int
read_secret(void)
{
	int fd = open(secret, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? errno : 0;
}

static bool in_userns;

static void
enter(void)
{
	struct wall_ids ids = apart_ids(true);
	struct err err;

	if (in_userns)
		apart_must(wall_userns(&ids, &err), &err);
}

static void
become(uid_t id, uint64_t keep)
{
	struct err err;

	apart_must(wall_ids(id, keep, &err), &err);
}

static int
read_secret_as_keeper(void)
{
	enter();
	become(KEEPER_ID, KEEPER_CAPS);
	return read_secret();
}

static int
hold_keeper(void)
{
	gid_t groups[] = { 1, 2, 3 };

	if (setgroups(3, groups) < 0)
		apart_broken("setgroups", NULL);
	enter();
	become(KEEPER_ID, KEEPER_CAPS);
	return 0;
}

static int
hold_child(void)
{
	hold_keeper();
	become(CHILD_ID, CAP_BIT(CAP_SETPCAP));
	become(CHILD_ID, 0);
	return 0;
}

/* The way back, and to anyone else, is closed. */
static int
child_becomes_root(void)
{
	hold_child();
	if (setresuid(0, 0, 0) == 0 || setresgid(0, 0, 0) == 0 ||
	    setresuid(KEEPER_ID, KEEPER_ID, KEEPER_ID) == 0)
		return 0;
	return errno;
}

static void
assert_line(pid_t pid, const char *name, const char *value)
{
	char found[64];

	apart_line(pid, "status", name, found, sizeof(found));
	assert_string_equal(found, value);
}

static void
assert_user(pid_t pid, unsigned id)
{
	char all[64];

	(void)snprintf(all, sizeof(all), "%u\t%u\t%u\t%u", id, id, id, id);
	assert_line(pid, "Uid:", all);
	assert_line(pid, "Gid:", all);
	assert_line(pid, "Groups:", "");
}

static void
assert_caps(pid_t pid, uint64_t caps)
{
	char set[32];

	(void)snprintf(set, sizeof(set), "%016llx", (unsigned long long)caps);
	assert_line(pid, "CapPrm:", set);
	assert_line(pid, "CapEff:", set);
	assert_line(pid, "CapBnd:", set);
	assert_line(pid, "CapInh:", "0000000000000000");
	assert_line(pid, "CapAmb:", "0000000000000000");
}

static void
look_at_ids(void)
{
	pid_t pid = apart_hold(hold_keeper);

	assert_user(pid, KEEPER_ID);
	assert_caps(pid, KEEPER_CAPS);
	apart_release(pid);
	pid = apart_hold(hold_child);
	assert_user(pid, CHILD_ID);
	assert_caps(pid, 0);
	apart_release(pid);
	assert_int_equal(apart(read_secret), 0);
	assert_int_equal(apart(read_secret_as_keeper), EACCES);
	assert_int_equal(apart(child_becomes_root), EPERM);
}

static void
test_ids_of_root(void **state)
{
	(void)state;
	APART_NEEDS_ROOT();
	in_userns = false;
	look_at_ids();
}

static void
test_ids_in_a_user_namespace(void **state)
{
	(void)state;
	APART_NEEDS_ROOT();
	in_userns = true;
	look_at_ids();
}

static int
ordinary_becomes(void)
{
	struct err err;

	apart_ordinary();
	apart_assert_err(
	    wall_ids(CHILD_ID, 0, &err), EPERM, &err, "ids", "setresgid");
	return 0;
}

static int
nobody_is_mapped(void)
{
	struct wall_ids ids = apart_ids(true);
	struct err err;

	apart_must(wall_userns(&ids, &err), &err);
	apart_assert_err(
	    wall_ids(SERVER_ID, 0, &err), EINVAL, &err, "ids", "setresgid");
	return 0;
}

static void
test_ids_fail(void **state)
{
	(void)state;
	assert_int_equal(apart(ordinary_becomes), 0);
	APART_NEEDS_ROOT();
	assert_int_equal(apart(nobody_is_mapped), 0);
}

/* ---- finding out ---- */

static int
many(void)
{
	struct wall_ids ids = wall_ids_find();

	if (ids.server != SERVER_ID || ids.keeper != KEEPER_ID ||
	    ids.child != CHILD_ID)
		return 2;
	return ids.many;
}

static int
many_ordinary(void)
{
	apart_ordinary();
	return many();
}

static int
many_unmapped(void)
{
	struct wall_ids ids = apart_ids(false);
	struct err err;

	apart_must(wall_userns(&ids, &err), &err);
	return many();
}

static int
many_without_setuid(void)
{
	struct err err;

	apart_must(wall_caps(CAP_BIT(CAP_SETGID), &err), &err);
	return many();
}

/* Nor does a parent that does not wait for children lose its answer's truth:
 * what was not seen is not so. */
static int
many_unseen(void)
{
	(void)signal(SIGCHLD, SIG_IGN);
	return many();
}

static void
test_find(void **state)
{
	(void)state;
	assert_int_equal(apart(many_ordinary), 0);
	APART_NEEDS_ROOT();
	assert_int_equal(apart(many), 1);
	assert_int_equal(apart(many_unmapped), 0);
	assert_int_equal(apart(many_without_setuid), 0);
	assert_int_equal(apart(many_unseen), 0);
}

/* ---- caps ---- */

static int
leave_root(void)
{
	return chroot("/") < 0 ? errno : 0;
}

static void
no_caps(void)
{
	struct err err;

	apart_must(wall_caps(0, &err), &err);
}

static int
leave_root_without(void)
{
	no_caps();
	return leave_root();
}

static int
leave_root_with_one(void)
{
	struct err err;

	apart_must(wall_caps(CAP_BIT(CAP_SYS_CHROOT), &err), &err);
	return leave_root();
}

/* Whether a program that root executes has capabilities: all of them, but for
 * the bounding set. */
static int
execute(void)
{
	(void)execl("/bin/grep", "grep", "-q", "CapEff:.*[1-9a-f]",
	    "/proc/self/status", (char *)NULL);
	return 99;
}

static int
execute_without(void)
{
	no_caps();
	return execute();
}

static int
hold_no_caps(void)
{
	no_caps();
	return 0;
}

static int
hold_no_caps_ordinary(void)
{
	apart_ordinary();
	no_caps();
	return 0;
}

static int
hold_no_caps_alone(void)
{
	struct wall_ids ids = apart_ids(false);
	struct err err;

	apart_ordinary();
	apart_must(wall_userns(&ids, &err), &err);
	no_caps();
	return 0;
}

/* The library looks into /proc under this process's number, which is that of
 * another process there. */
static int
caps_in_a_pid_namespace(void)
{
	struct err err;
	int status = 0;
	pid_t pid = wall_pidns_fork(&err);

	apart_must(pid, &err);
	if (pid == 0) {
		no_caps();
		for (int cap = 0; cap < 64; cap++)
			if (prctl(PR_CAPBSET_READ, cap) == 1)
				_exit(1);
		_exit(leave_root() == EPERM ? 0 : 2);
	}
	(void)waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

static void
test_caps(void **state)
{
	pid_t pid;

	(void)state;
	APART_NEEDS_ROOT();
	assert_int_equal(apart(leave_root), 0);
	assert_int_equal(apart(leave_root_without), EPERM);
	assert_int_equal(apart(leave_root_with_one), 0);
	assert_int_equal(apart(execute), 0);
	assert_int_equal(apart(execute_without), 1);
	assert_int_equal(apart(caps_in_a_pid_namespace), 0);
	pid = apart_hold(hold_no_caps);
	assert_caps(pid, 0);
	apart_release(pid);
	pid = apart_hold(hold_no_caps_alone);
	assert_caps(pid, 0);
	apart_release(pid);
}

static void
test_caps_of_an_ordinary_user(void **state)
{
	pid_t pid = apart_hold(hold_no_caps_ordinary);

	(void)state;
	/* The bounding set is not theirs to change: no_new_privs is. */
	assert_line(pid, "CapPrm:", "0000000000000000");
	assert_line(pid, "CapEff:", "0000000000000000");
	assert_line(pid, "CapAmb:", "0000000000000000");
	apart_release(pid);
}

static int
caps_fail(void)
{
	struct err err;

	apart_ordinary();
	/* What is not held cannot be kept, and need not. */
	apart_must(wall_caps(CAP_BIT(CAP_KILL), &err), &err);
	apart_refuse(SYS_capset, 0, EPERM);
	apart_assert_err(wall_caps(0, &err), EPERM, &err, "caps", "capset");
	return 0;
}

static int
caps_refused_bounding(void)
{
	struct err err;

	apart_refuse(SYS_prctl, PR_CAPBSET_DROP, EPERM);
	apart_assert_err(wall_caps(0, &err), EPERM, &err, "caps", "bounding");
	return 0;
}

static void
test_caps_fail(void **state)
{
	(void)state;
	assert_int_equal(apart(caps_fail), 0);
	APART_NEEDS_ROOT();
	assert_int_equal(apart(caps_refused_bounding), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids_of_root),
		cmocka_unit_test(test_ids_in_a_user_namespace),
		cmocka_unit_test(test_ids_fail),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_caps_of_an_ordinary_user),
		cmocka_unit_test(test_caps_fail),
	};

	return cmocka_run_group_tests_name(
	    "ids", tests, make_secret, drop_secret);
}
