/* test_refused.c: situations in which a namespace cannot be had: the error
 * names the wall, what failed, and why.
 * SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include "conf/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void
write_zero(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) != 1)
		apart_broken(path, NULL);
	(void)close(fd);
}

/* Inside a user namespace, whose own limits this process may set. */
static void
inside(const char *limit)
{
	struct wall_ids ids = apart_ids(false);
	struct err err;

	apart_ordinary();
	apart_must(wall_userns(&ids, &err), &err);
	write_zero(limit);
}

static int
users_exhausted(void)
{
	struct wall_ids ids = apart_ids(false);
	struct err err;

	inside("/proc/sys/user/max_user_namespaces");
	apart_assert_err(wall_userns(&ids, &err), ENOSPC, &err, "userns",
	    "user.max_user_namespaces");
	return 0;
}

/* What one more needs, and the file of its limit. */
static const struct limited {
	const char *name, *limit;
	int (*wall)(struct err *err);
} limited[] = {
	{ "netns", "/proc/sys/user/max_net_namespaces", wall_netns },
	{ "ipcns", "/proc/sys/user/max_ipc_namespaces", wall_ipcns },
	{ "utsns", "/proc/sys/user/max_uts_namespaces", wall_utsns },
	{ "cgroupns", "/proc/sys/user/max_cgroup_namespaces", wall_cgroupns },
};

#define LIMITED (sizeof(limited) / sizeof(limited[0]))

static const struct limited *now;

static int
exhausted(void)
{
	struct err err;

	inside(now->limit);
	apart_assert_err(now->wall(&err), ENOSPC, &err, now->name, "unshare");
	return 0;
}

static int
mounts_exhausted(void)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct err err;

	inside("/proc/sys/user/max_mnt_namespaces");
	apart_assert_err(
	    wall_mountns(root, &err), ENOSPC, &err, "mountns", "unshare");
	return 0;
}

static int
numbers_exhausted(void)
{
	struct err err;

	inside("/proc/sys/user/max_pid_namespaces");
	apart_assert_err(wall_pidns_fork(&err), ENOSPC, &err, "pidns", "clone");
	return 0;
}

static void
test_exhausted(void **state)
{
	(void)state;
	assert_int_equal(apart(users_exhausted), 0);
	for (now = limited; now < limited + LIMITED; now++)
		assert_int_equal(apart(exhausted), 0);
	assert_int_equal(apart(mounts_exhausted), 0);
	assert_int_equal(apart(numbers_exhausted), 0);
}

/* Neither root nor in a user namespace. */
static int
not_allowed(void)
{
	struct err err;

	apart_ordinary();
	apart_assert_err(now->wall(&err), EPERM, &err, now->name, "unshare");
	apart_assert_err(wall_pidns_fork(&err), EPERM, &err, "pidns", "clone");
	return 0;
}

static int
mounts_not_allowed(void)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct err err;

	apart_ordinary();
	apart_assert_err(
	    wall_mountns(root, &err), EPERM, &err, "mountns", "unshare");
	apart_assert_err(
	    wall_mountns_leave(&err), ENOENT, &err, "mountns", "chroot");
	return 0;
}

static void
test_not_allowed(void **state)
{
	(void)state;
	for (now = limited; now < limited + LIMITED; now++)
		assert_int_equal(apart(not_allowed), 0);
	assert_int_equal(apart(mounts_not_allowed), 0);
}

/* As a container's filter refuses it. */
static int
filtered_users(void)
{
	struct wall_ids ids = apart_ids(geteuid() == 0);
	struct err err;

	apart_refuse(SYS_unshare, CLONE_NEWUSER, EPERM);
	apart_assert_err(
	    wall_userns(&ids, &err), EPERM, &err, "userns", "unshare");
	/* Its helper is not left behind. */
	return waitpid(-1, NULL, 0) < 0 && errno == ECHILD ? 0 : 1;
}

static int
filtered_unshare(void)
{
	struct err err;

	apart_refuse(SYS_unshare, 0, EPERM);
	apart_assert_err(now->wall(&err), EPERM, &err, now->name, "unshare");
	return 0;
}

static int
filtered_clone(void)
{
	struct err err;

	apart_refuse(SYS_clone, CLONE_NEWPID | SIGCHLD, EPERM);
	apart_assert_err(wall_pidns_fork(&err), EPERM, &err, "pidns", "clone");
	return 0;
}

/* Each call that the file system is made with. */
static const struct call {
	long nr;
	const char *what;
} calls[] = {
	{ SYS_fchdir, "fchdir to the artifacts" },
	{ SYS_unshare, "unshare" },
	{ SYS_mount, "private" },
	{ SYS_open_tree, "open_tree" },
	{ SYS_mount_setattr, "mount_setattr" },
	{ SYS_fsopen, "fsopen" },
	{ SYS_fsconfig, "tmpfs size" },
	{ SYS_fsmount, "fsmount" },
	{ SYS_move_mount, "move_mount" },
	{ SYS_mkdirat, "mkdir" },
	{ SYS_pivot_root, "pivot_root" },
	{ SYS_umount2, "umount" },
	{ SYS_read, "read mountinfo" },
};

static const struct call *call_now;

static int
filtered_mounts(void)
{
	struct wall_ids ids = apart_ids(false);
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct err err;

	apart_ordinary();
	apart_must(wall_userns(&ids, &err), &err);
	apart_refuse(call_now->nr, 0, EPERM);
	apart_assert_err(
	    wall_mountns(root, &err), EPERM, &err, "mountns", call_now->what);
	return 0;
}

static int
filtered_names(void)
{
	struct wall_ids ids = apart_ids(false);
	struct err err;

	apart_ordinary();
	apart_must(wall_userns(&ids, &err), &err);
	apart_refuse(SYS_sethostname, 0, EPERM);
	apart_assert_err(wall_utsns(&err), EPERM, &err, "utsns", "sethostname");
	return 0;
}

static void
test_filtered(void **state)
{
	(void)state;
	assert_int_equal(apart(filtered_users), 0);
	assert_int_equal(apart(filtered_clone), 0);
	assert_int_equal(apart(filtered_names), 0);
	for (now = limited; now < limited + LIMITED; now++)
		assert_int_equal(apart(filtered_unshare), 0);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		call_now = &calls[i];
		assert_int_equal(apart(filtered_mounts), 0);
	}
}

/* ---- the helper that writes the maps ---- */

/* It is refused the file: it may not map two numbers. */
static int
maps_refused(void)
{
	struct wall_ids ids = apart_ids(true);
	struct err err;

	apart_ordinary();
	apart_assert_err(
	    wall_userns(&ids, &err), EPERM, &err, "userns", "write /proc/");
	return waitpid(-1, NULL, 0) < 0 && errno == ECHILD ? 0 : 1;
}

static int
no_helper(void)
{
	struct wall_ids ids = apart_ids(true);
	struct err err;

	apart_refuse(SYS_clone, 0, EAGAIN);
	apart_assert_err(
	    wall_userns(&ids, &err), EAGAIN, &err, "userns", "fork");
	return 0;
}

/* Its answer does not come: the helper dies of a call that it makes and this
 * process does not. */
static int
helper_dies(void)
{
	struct wall_ids ids = apart_ids(true);
	struct err err;

	apart_refuse(SYS_read, 0, EIO);
	apart_assert_err(
	    wall_userns(&ids, &err), EPIPE, &err, "userns", "died");
	return waitpid(-1, NULL, 0) < 0 && errno == ECHILD ? 0 : 1;
}

static void
test_helper(void **state)
{
	(void)state;
	assert_int_equal(apart(maps_refused), 0);
	assert_int_equal(apart(no_helper), 0);
	assert_int_equal(apart(helper_dies), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exhausted),
		cmocka_unit_test(test_not_allowed),
		cmocka_unit_test(test_filtered),
		cmocka_unit_test(test_helper),
	};

	return cmocka_run_group_tests_name("refused", tests, NULL, NULL);
}
