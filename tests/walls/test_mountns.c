/* test_mountns.c: the file system of a room, as root, as root in a user
 * namespace, and as an ordinary user in one; on and off.
 * SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include "walls/mountinfo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static enum who {
	ROOT,
	ROOT_IN_USERNS,
	ORDINARY_IN_USERNS
} who;
#define WHO_END (ORDINARY_IN_USERNS + 1)

/* The artifacts: below a directory that only its owner may pass. */
static char private_dir[32] = "/tmp/walls.XXXXXX", artifacts[64];
static int artifacts_fd;
static deed_fn *operation;

static int
make_artifacts(void **state)
{
	char path[80];
	int fd;

	(void)state;
	if (!mkdtemp(private_dir))
		return -1;
	(void)snprintf(artifacts, sizeof(artifacts), "%s/a", private_dir);
	if (mkdir(artifacts, 0755) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/module", artifacts);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || ftruncate(fd, 4096) < 0 || close(fd) < 0)
		return -1;
	/* Writable by all, so that it is the mount that refuses. */
	if (chmod(path, 0666) < 0 || chmod(artifacts, 0777) < 0)
		return -1;
	artifacts_fd = open(artifacts, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return artifacts_fd < 0;
}

static int
drop_artifacts(void **state)
{
	(void)state;
	(void)close(artifacts_fd);
	apart_remove(artifacts);
	apart_remove(private_dir);
	return 0;
}

static void
prepare(void)
{
	struct wall_ids ids = apart_ids(who == ROOT_IN_USERNS);
	struct err err;

	/* The modes of the root are not the umask's. */
	(void)umask(077);
	if (who == ORDINARY_IN_USERNS)
		apart_ordinary();
	if (who != ROOT)
		apart_must(wall_userns(&ids, &err), &err);
	/* A change of user takes away the files of /proc/self. */
	(void)prctl(PR_SET_DUMPABLE, 1);
}

static void
move_in(void)
{
	struct err err;

	prepare();
	apart_must(wall_mountns(artifacts_fd, &err), &err);
	(void)close(artifacts_fd);
	artifacts_fd = open("/room", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int
off(void)
{
	prepare();
	return operation();
}

static int
on(void)
{
	move_in();
	return operation();
}

static int
open_at(int dir, const char *path, int flags)
{
	int fd = openat(dir, path, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		(void)close(fd);
	return fd < 0 ? errno : 0;
}

static int
open_file(const char *path, int flags)
{
	return open_at(AT_FDCWD, path, flags);
}

static int
read_host(void)
{
	return open_file("/etc/passwd", O_RDONLY);
}

static int
read_host_above(void)
{
	return chdir("..") < 0 ? errno : open_file("etc/passwd", O_RDONLY);
}

static int
see_devices(void)
{
	return open_file("/dev/null", O_RDWR);
}

static int
see_kernel(void)
{
	return open_file("/sys/kernel", O_RDONLY);
}

static int
write_artifacts(void)
{
	int r = open_at(artifacts_fd, "new", O_WRONLY | O_CREAT);

	(void)unlinkat(artifacts_fd, "new", 0);
	return r;
}

static int
change_artifacts(void)
{
	return open_at(artifacts_fd, "module", O_WRONLY);
}

static int
write_root(void)
{
	return open_file("/new", O_WRONLY | O_CREAT);
}

static int
write_empty(void)
{
	return open_file("/empty/new", O_WRONLY | O_CREAT);
}

static int
write_proc(void)
{
	return open_file("/proc/self/mem", O_RDWR);
}

/* The compiled module is mapped executable. */
static int
map_module(void)
{
	int fd = openat(artifacts_fd, "module", O_RDONLY | O_CLOEXEC);
	void *page;

	if (fd < 0)
		return errno;
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	(void)close(fd);
	return page == MAP_FAILED ? errno : 0;
}

static int
know_itself(void)
{
	return open_file("/proc/self/status", O_RDONLY);
}

/* "room", "proc", "empty", and nothing else. */
static int
list_root(void)
{
	DIR *root = opendir("/");
	int n = 0;

	for (const struct dirent *entry; root && (entry = readdir(root));) {
		if (strcmp(entry->d_name, "room") != 0 &&
		    strcmp(entry->d_name, "proc") != 0 &&
		    strcmp(entry->d_name, "empty") != 0 &&
		    entry->d_name[0] != '.')
			return 100;
		n++;
	}
	if (root)
		(void)closedir(root);
	return n;
}

/* It may be another who looks: the modes allow it. */
static int
look_as_child(void)
{
	struct err err;

	apart_must(wall_ids(apart_ids(true).child, 0, &err), &err);
	return open_file("/room/module", O_RDONLY) +
	       open_file("/empty", O_RDONLY) + know_itself();
}

static int
leave(void)
{
	struct err err;

	apart_must(wall_mountns_leave(&err), &err);
	return 0;
}

static int
leave_and_read(void)
{
	return leave() + open_file("/room/module", O_RDONLY);
}

static int
leave_and_know(void)
{
	return leave() + know_itself();
}

static int
leave_and_climb(void)
{
	return leave() + open_file("../room/module", O_RDONLY);
}

static int
leave_and_write(void)
{
	return leave() + open_file("/new", O_WRONLY | O_CREAT);
}

/* An operation, and the errno that it has without and with the wall. */
static const struct operation {
	deed_fn *deed;
	int off, on;
} operations[] = {
	{ read_host, 0, ENOENT },
	{ read_host_above, -1, ENOENT }, /* off: depends on where we are */
	{ see_devices, 0, ENOENT },
	{ see_kernel, 0, ENOENT },
	{ write_proc, 0, EROFS },
	{ know_itself, 0, 0 },
	{ map_module, 0, 0 },
	{ write_artifacts, 0, EROFS },
	{ change_artifacts, 0, EROFS },
	{ write_root, -1, EROFS }, /* off: it would be the host's */
	{ write_empty, ENOENT, EROFS },
	{ list_root, -1, 5 },
	{ leave_and_read, -1, ENOENT },
	{ leave_and_know, -1, ENOENT },
	{ leave_and_climb, -1, ENOENT },
	{ leave_and_write, -1, EROFS },
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

static void
check_operations(void)
{
	for (size_t i = 0; i < OPERATIONS; i++) {
		const struct operation *now = &operations[i];
		int without, with;

		operation = now->deed;
		without = now->off < 0 ? now->off : apart(off);
		with = apart(on);
		if (without != now->off || with != now->on)
			fail_msg(
			    "operation %zu: off: %d, on: %d", i, without, with);
	}
}

static int
hold(void)
{
	move_in();
	return 0;
}

/* What the kernel says of it, not the wall. */
static void
look_from_outside(void)
{
	char text[16384], link[64] = "", path[64];
	pid_t pid = apart_hold(hold);

	assert_false(apart_same_namespace(pid, "mnt"));
	apart_file(pid, "mounts", text, sizeof(text));
	assert_null(strstr(text, " /dev"));
	assert_null(strstr(text, " /sys"));
	assert_null(strstr(text, " /tmp"));
	assert_non_null(strstr(text, " / tmpfs ro,nosuid,nodev,noexec,"));
	assert_non_null(strstr(text, " /room "));
	(void)snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	assert_true(readlink(path, link, sizeof(link) - 1) > 0);
	assert_string_equal(link, "/");
	(void)snprintf(path, sizeof(path), "/proc/%d/root/etc", (int)pid);
	assert_int_equal(access(path, F_OK), -1);
	apart_release(pid);
}

static void
test_as_root(void **state)
{
	(void)state;
	APART_NEEDS_ROOT();
	who = ROOT;
	check_operations();
	look_from_outside();
	operation = look_as_child;
	assert_int_equal(apart(on), 0);
}

static void
test_as_root_in_a_user_namespace(void **state)
{
	(void)state;
	APART_NEEDS_ROOT();
	who = ROOT_IN_USERNS;
	check_operations();
	look_from_outside();
	operation = look_as_child;
	assert_int_equal(apart(on), 0);
}

static void
test_as_an_ordinary_user(void **state)
{
	(void)state;
	who = ORDINARY_IN_USERNS;
	check_operations();
	look_from_outside();
}

/* Nothing of it is seen, or stays, outside. */
static void
test_nothing_is_left(void **state)
{
	static char before[65536], after[65536];

	(void)state;
	apart_file(getpid(), "mountinfo", before, sizeof(before));
	who = geteuid() == 0 ? ROOT : ORDINARY_IN_USERNS;
	operation = know_itself;
	assert_int_equal(apart(on), 0);
	apart_file(getpid(), "mountinfo", after, sizeof(after));
	assert_string_equal(before, after);
}

/* ---- as a zygote is made ---- */

/* Without /proc, as another user, as the first of its process numbers. */
static int
zygote(void)
{
	struct err err;

	apart_must(wall_mountns_leave(&err), &err);
	if (who != ORDINARY_IN_USERNS)
		apart_must(
		    wall_ids(apart_ids(true).child, 1ull << CAP_SETPCAP, &err),
		    &err);
	apart_must(wall_caps(0, &err), &err);
	for (int cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_READ, cap) == 1)
			return 1;
	return chroot("/") < 0 ? errno : 0;
}

static int
keeper_with_zygote(void)
{
	const uint64_t caps = 1ull << CAP_SETPCAP | 1ull << CAP_SYS_ADMIN |
			      1ull << CAP_SYS_CHROOT | 1ull << CAP_SETUID |
			      1ull << CAP_SETGID;
	struct err err;
	int status = 0;
	pid_t pid;

	move_in();
	if (who == ROOT)
		apart_must(wall_ids(apart_ids(true).keeper, caps, &err), &err);
	else
		apart_must(wall_caps(caps, &err), &err);
	pid = wall_pidns_fork(&err);
	apart_must(pid, &err);
	if (pid == 0)
		_exit(zygote());
	(void)waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 250;
}

static void
test_in_order(void **state)
{
	(void)state;
	for (who = geteuid() == 0 ? ROOT : ORDINARY_IN_USERNS; who < WHO_END;
	     who++)
		assert_int_equal(apart(keeper_with_zygote), EPERM);
}

/* ---- the check by itself ---- */

#define ROOT_LINE  "2 1 0:2 / / ro,nosuid,nodev,noexec,relatime - tmpfs t rw\n"
#define ROOM_LINE  "3 2 8:1 /a /room ro,nosuid,nodev,relatime - ext4 d rw\n"
#define PROC_LINE  "4 2 0:4 / /proc ro,nosuid,nodev,noexec - proc proc rw\n"
#define MASK_LINE  "5 4 0:5 / /proc/acpi ro,nosuid,nodev,noexec - tmpfs t ro\n"
#define GOOD_LINES ROOT_LINE ROOM_LINE PROC_LINE

static const struct mounts {
	const char *text, *complaint;
} mounts[] = {
	{ GOOD_LINES, NULL },
	{ GOOD_LINES MASK_LINE, NULL },
	{ ROOM_LINE PROC_LINE, "0 mounts at /" },
	{ ROOT_LINE PROC_LINE, "0 mounts at /room" },
	{ ROOT_LINE ROOM_LINE, "0 mounts at /proc" },
	{ GOOD_LINES ROOT_LINE, "2 mounts at /" },
	{ GOOD_LINES "6 2 8:1 / /dev ro,nosuid,nodev,noexec - t d rw\n",
	    "/dev is still mounted" },
	{ GOOD_LINES "6 2 8:1 / /rooms ro,nosuid,nodev,noexec - t d rw\n",
	    "/rooms is still mounted" },
	{ GOOD_LINES "6 4 0:5 / /proc/acpi rw,nosuid,nodev,noexec - t t ro\n",
	    "/proc/acpi is not ro" },
	{ GOOD_LINES "6 3 8:2 / /room/x ro,nosuid - ext4 d rw\n",
	    "/room/x is not nodev" },
	{ "2 1 0:2 / / rw,nosuid,nodev,noexec - tmpfs t ro\n", "/ is not ro" },
	{ "2 1 0:2 / / ro,nosuid,nodev,noexecute - tmpfs t rw\n",
	    "/ is not noexec" },
	{ GOOD_LINES "6 2 8:1\n", "a short line" },
	{ "", "0 mounts at /" },
};

static void
test_check(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		struct err err = { 0 };
		char text[1024];
		int r;

		(void)snprintf(text, sizeof(text), "%s", mounts[i].text);
		r = mountinfo_check_text(text, &err);
		if (!mounts[i].complaint) {
			assert_int_equal(r, 0);
			continue;
		}
		assert_int_equal(r, -EPERM);
		assert_non_null(strstr(err.text, "wall mountns: check: "));
		if (!strstr(err.text, mounts[i].complaint))
			fail_msg("%s", err.text);
	}
	/* Of a whole system it complains, too. */
	assert_int_equal(mountinfo_check(NULL), -EPERM);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_root),
		cmocka_unit_test(test_as_root_in_a_user_namespace),
		cmocka_unit_test(test_as_an_ordinary_user),
		cmocka_unit_test(test_nothing_is_left),
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests_name(
	    "mountns", tests, make_artifacts, drop_artifacts);
}
