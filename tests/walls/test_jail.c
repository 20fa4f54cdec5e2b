/* test_jail.c: the walls of native programs: their root, their files, their
 * Landlock, their limits and their filters; as root in a user namespace and as
 * an ordinary user in one; on and off.
 * SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include "walls/jail_root.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)

static bool many; /* root's user namespace, or that of an ordinary user */
static deed_fn *operation;

/* A Python's directory, where each program has a directory of its own. */
static char extra[32] = "/tmp/walls.XXXXXX", extra_file[48], beside[48];

static int
make_extra(void **state)
{
	(void)state;
	if (!mkdtemp(extra))
		return -1;
	(void)snprintf(extra_file, sizeof(extra_file), "%s/python", extra);
	(void)snprintf(beside, sizeof(beside), "%s.beside", extra);
	if (chmod(extra, 0777) < 0 || mkdir(beside, 0755) < 0)
		return -1;
	/* By all, so that it is the mount that refuses. */
	return close(open(extra_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) +
	       chmod(extra_file, 0666);
}

static int
drop_extra(void **state)
{
	(void)state;
	apart_remove(extra);
	apart_remove(beside);
	return 0;
}

/* ---- moving in ---- */

static void
prepare(void)
{
	struct wall_ids ids = apart_ids(many);
	struct err err;

	(void)umask(077);
	if (!many)
		apart_ordinary();
	apart_must(wall_userns(&ids, &err), &err);
	(void)prctl(PR_SET_DUMPABLE, 1);
}

static void
move_in(void)
{
	struct jail_root jail = {
		.host = true, .user = 1234, .extra = { extra }, .extra_n = 1
	};
	struct err err;

	jail.base_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	apart_must(wall_jail_root(&jail, &err), &err);
	(void)close(jail.base_fd);
	apart_must(wall_jail_scratch(2 * MIB, MIB, &err), &err);
}

/* A new /proc is the first process's of a namespace of process numbers. */
static int
as_first(deed_fn *deed)
{
	struct err err;
	int status = 0;
	pid_t pid = wall_pidns_fork(&err);

	apart_must(pid, &err);
	if (pid == 0)
		_exit(deed());
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

static int
first_off(void)
{
	return operation();
}

static int
first_root(void)
{
	move_in();
	return operation();
}

/* All of them but the filter. */
static int
first_all(void)
{
	struct err err;

	move_in();
	apart_must(wall_caps(0, &err), &err);
	apart_must(wall_no_new_privs(&err), &err);
	apart_must(wall_landlock_native(&err), &err);
	apart_must(wall_rlimits_native(64 * MIB, 20, &err), &err);
	return operation();
}

static int
off(void)
{
	prepare();
	return as_first(first_off);
}

static int
in_root(void)
{
	prepare();
	return as_first(first_root);
}

static int
in_all(void)
{
	prepare();
	return as_first(first_all);
}

/* ---- operations ---- */

static int
open_path(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		(void)close(fd);
	return fd < 0 ? errno : 0;
}

static int
read_shadow(void)
{
	return open_path("/etc/hostname", O_RDONLY);
}

static int
read_kernel(void)
{
	return open_path("/sys/kernel", O_RDONLY);
}

static int
read_command_line(void)
{
	return open_path("/proc/cmdline", O_RDONLY);
}

static int
read_itself(void)
{
	return open_path("/proc/self/status", O_RDONLY);
}

static int
write_itself(void)
{
	return open_path("/proc/self/oom_score_adj", O_WRONLY);
}

static int
use_program(void)
{
	return open_path("/usr/bin/env", O_RDONLY);
}

static int
write_usr(void)
{
	return open_path("/usr/walls.new", O_WRONLY | O_CREAT | O_EXCL);
}

static int
write_root(void)
{
	return open_path("/walls.new", O_WRONLY | O_CREAT | O_EXCL);
}

static int
read_extra(void)
{
	return open_path(extra_file, O_RDONLY);
}

static int
write_extra(void)
{
	return open_path(extra_file, O_WRONLY);
}

static int
read_beside(void)
{
	return open_path(beside, O_RDONLY);
}

static int
write_null(void)
{
	return open_path("/dev/null", O_WRONLY);
}

static int
see_terminal(void)
{
	return open_path("/dev/tty", O_RDWR) == ENOENT ? ENOENT : 0;
}

static int
make_file(void)
{
	return open_path("/workspace/new", O_WRONLY | O_CREAT | O_EXCL);
}

static int
make_shared(void)
{
	return open_path("/dev/shm/new", O_WRONLY | O_CREAT | O_EXCL);
}

static int
make_device(void)
{
	return mknod("/workspace/null", S_IFCHR | 0666, makedev(1, 3)) < 0
		   ? errno
		   : 0;
}

/* So much and no more. */
static int
fill(void)
{
	static char page[65536];
	int fd = open("/workspace/big", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	size_t held = 0;
	ssize_t n;

	while ((n = write(fd, page, sizeof(page))) > 0)
		held += (size_t)n;
	return n < 0 && errno == ENOSPC && held == 2 * MIB ? 0 : 1;
}

static int
remount(void)
{
	return mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL) < 0 ? errno
									 : 0;
}

static int
name_of_user(void)
{
	char text[128] = "";
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return errno;
	return strncmp(text, "sandbox:x:1234:1234:", 20) != 0;
}

static int
limits(void)
{
	struct rlimit data, processes, core;

	if (getrlimit(RLIMIT_DATA, &data) < 0 ||
	    getrlimit(RLIMIT_NPROC, &processes) < 0 ||
	    getrlimit(RLIMIT_CORE, &core) < 0)
		return errno;
	return data.rlim_max == 64 * MIB && processes.rlim_max == 20 &&
		       core.rlim_max <= 1
		   ? 0
		   : 1;
}

#define ANY (-1) /* it would be the host's, or nothing to look at */

/* The errno without a wall, in the root, and with all of them. */
static const struct {
	deed_fn *deed;
	int off, in_root, in_all;
} operations[] = {
	{ read_shadow, 0, ENOENT, ENOENT },
	{ read_kernel, 0, ENOENT, ENOENT },
	{ read_command_line, 0, ENOENT, ENOENT },
	{ read_itself, ANY, 0, 0 },
	{ write_itself, ANY, 0, EACCES },
	{ use_program, 0, 0, 0 },
	{ write_usr, ANY, EROFS, EROFS },
	{ write_root, ANY, EROFS, EROFS },
	{ read_extra, 0, 0, 0 },
	{ write_extra, 0, EROFS, EROFS },
	{ read_beside, 0, ENOENT, ENOENT },
	{ write_null, 0, 0, 0 },
	{ see_terminal, ANY, ENOENT, ENOENT },
	{ make_file, ENOENT, 0, 0 },
	{ make_shared, ANY, 0, 0 },
	{ make_device, ENOENT, EPERM, EACCES },
	{ fill, ANY, 0, 0 },
	{ remount, ANY, ANY, EPERM },
	{ name_of_user, ANY, 0, 0 },
	{ limits, 1, 1, 0 },
};

static void
check_operations(void)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]);
	     i++) {
		int expected[3] = { operations[i].off, operations[i].in_root,
			operations[i].in_all };
		deed_fn *const ways[3] = { off, in_root, in_all };

		operation = operations[i].deed;
		for (unsigned j = 0; j < 3; j++) {
			int is = expected[j] == ANY ? ANY : apart(ways[j]);

			if (is != expected[j])
				fail_msg("operation %zu, way %u: %d, not %d", i,
				    j, is, expected[j]);
		}
	}
}

static void
test_as_root(void **state)
{
	(void)state;
	APART_NEEDS_ROOT();
	many = true;
	check_operations();
}

static void
test_as_an_ordinary_user(void **state)
{
	(void)state;
	many = false;
	check_operations();
}

/* ---- where it is missing ---- */

static int
no_mounts(void)
{
	struct jail_root jail = { .host = true };
	struct err err;

	many = false;
	prepare();
	jail.base_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	apart_refuse(SYS_open_tree, 0, EPERM);
	apart_assert_err(
	    wall_jail_root(&jail, &err), EPERM, &err, "mountns", "open_tree");
	return 0;
}

static int
no_landlock(void)
{
	struct err err;

	apart_refuse(SYS_landlock_create_ruleset, 0, ENOSYS);
	apart_assert_err(
	    wall_landlock_native(&err), ENOSYS, &err, "landlock", "not built");
	return 0;
}

static void
test_missing(void **state)
{
	(void)state;
	assert_int_equal(apart(no_mounts), 0);
	assert_int_equal(apart(no_landlock), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_root),
		cmocka_unit_test(test_as_an_ordinary_user),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests_name(
	    "jail", tests, make_extra, drop_extra);
}
