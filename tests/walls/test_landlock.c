/* test_landlock.c: files, ports, abstract sockets and signals, with Landlock
 * on and off.
 * SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ABI_TCP    4
#define ABI_SCOPES 6

static int abi; /* this kernel's, asked in another way than the wall asks */
static int tcp, local;
static struct sockaddr_in tcp_address;
static char local_name[32];
static char dir[] = "/tmp/walls.XXXXXX"; /* the one that may be read */
static char file[64], other[64];         /* in it, and beside it */
static pid_t parent_pid;

static int
touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	return fd < 0 || close(fd) < 0 || chmod(path, 0666) < 0;
}

static socklen_t
local_address(struct sockaddr_un *ret_address)
{
	*ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(ret_address->sun_path + 1, local_name, strlen(local_name));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   strlen(local_name));
}

static int
set_up(void **state)
{
	socklen_t n = sizeof(tcp_address);
	struct sockaddr_un address;

	(void)state;
	abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
	parent_pid = getpid();
	if (!mkdtemp(dir) || chmod(dir, 0777) < 0)
		return -1;
	(void)snprintf(file, sizeof(file), "%s/file", dir);
	(void)snprintf(other, sizeof(other), "%s.other", dir);
	if (touch(file) || touch(other))
		return -1;
	tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	tcp_address = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	if (bind(tcp, (struct sockaddr *)&tcp_address, n) < 0 ||
	    getsockname(tcp, (struct sockaddr *)&tcp_address, &n) < 0 ||
	    listen(tcp, 64) < 0)
		return -1;
	(void)snprintf(
	    local_name, sizeof(local_name), "landlock.%d", (int)getpid());
	local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	n = local_address(&address);
	return bind(local, (struct sockaddr *)&address, n) < 0 ||
	       listen(local, 64) < 0;
}

static int
tear_down(void **state)
{
	(void)state;
	return unlink(file) + unlink(other) + rmdir(dir);
}

/* ---- operations ---- */

static int
open_path(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	return fd < 0 ? errno : 0;
}

static int
read_host(void)
{
	return open_path("/etc/passwd", O_RDONLY);
}

static int
list_host(void)
{
	return open_path("/etc", O_RDONLY | O_DIRECTORY);
}

static int
execute_host(void)
{
	(void)execl("/bin/true", "true", (char *)NULL);
	return errno;
}

static int
write_other(void)
{
	return open_path(other, O_WRONLY);
}

static int
truncate_other(void)
{
	return truncate(other, 0) < 0 ? errno : 0;
}

static int
read_dir(void)
{
	return open_path(file, O_RDONLY) +
	       open_path(dir, O_RDONLY | O_DIRECTORY);
}

static int
write_dir(void)
{
	return open_path(file, O_WRONLY);
}

static int
make_in_dir(void)
{
	char path[80];
	int r;

	(void)snprintf(path, sizeof(path), "%s/new", dir);
	r = mkdir(path, 0700) < 0 ? errno : 0;
	(void)rmdir(path);
	return r;
}

static int
connect_tcp(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return connect(
		   fd, (struct sockaddr *)&tcp_address, sizeof(tcp_address)) < 0
		   ? errno
		   : 0;
}

static int
bind_tcp(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return bind(fd, (struct sockaddr *)&any, sizeof(any)) < 0 ? errno : 0;
}

static int
connect_local(void)
{
	struct sockaddr_un address;
	socklen_t n = local_address(&address);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return connect(fd, (struct sockaddr *)&address, n) < 0 ? errno : 0;
}

static int
signal_parent(void)
{
	return kill(parent_pid, 0) < 0 ? errno : 0;
}

static int
trace_parent(void)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)parent_pid);
	return open_path(path, O_RDONLY);
}

/* ---- on and off ---- */

static deed_fn *operation;
static bool with_dir, as_ordinary;

static void
raise_wall(void)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int said = 0;
	struct err err;

	if (as_ordinary)
		apart_ordinary();
	apart_must(wall_no_new_privs(&err), &err);
	apart_must(wall_landlock(&fd, with_dir ? 1 : 0, &said, &err), &err);
	if (said != abi)
		apart_broken("another version", NULL);
}

static int
off(void)
{
	if (as_ordinary)
		apart_ordinary();
	return operation();
}

static int
on(void)
{
	raise_wall();
	return operation();
}

static const struct operation {
	deed_fn *deed;
	int abi;        /* from which it is refused */
	int code;       /* then */
	bool root_only; /* an ordinary user may not anyway */
} operations[] = {
	{ read_host, 1, EACCES, false },
	{ list_host, 1, EACCES, false },
	{ execute_host, 1, EACCES, false },
	{ write_other, 1, EACCES, false },
	{ truncate_other, 3, EACCES, false },
	{ write_dir, 1, EACCES, false },
	{ make_in_dir, 1, EACCES, false },
	{ connect_tcp, ABI_TCP, EACCES, false },
	{ bind_tcp, ABI_TCP, EACCES, false },
	{ connect_local, ABI_SCOPES, EPERM, false },
	{ signal_parent, ABI_SCOPES, EPERM, true },
	{ trace_parent, 1, EACCES, true },
};

static void
check_operations(void)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]);
	     i++) {
		const struct operation *now = &operations[i];
		int without, with, expected;

		if (now->root_only && as_ordinary)
			continue;
		expected = abi >= now->abi ? now->code : 0;
		operation = now->deed;
		without = apart(off);
		with = apart(on);
		if (without != 0 || with != expected)
			fail_msg(
			    "operation %zu: off: %d, on: %d", i, without, with);
	}
}

static void
check_dir(void)
{
	operation = read_dir;
	with_dir = false;
	assert_int_equal(apart(off), 0);
	assert_int_equal(apart(on), 2 * EACCES);
	with_dir = true;
	assert_int_equal(apart(on), 0);
}

static void
test_as_this_user(void **state)
{
	(void)state;
	if (abi < 1)
		APART_SKIP("this kernel has no Landlock");
	as_ordinary = false;
	check_dir();
	for (int i = 0; i < 2; i++) {
		with_dir = i;
		check_operations();
	}
}

static void
test_as_an_ordinary_user(void **state)
{
	(void)state;
	if (abi < 1)
		APART_SKIP("this kernel has no Landlock");
	as_ordinary = true;
	check_dir();
	check_operations();
}

/* ---- siblings: each has a domain of its own ---- */

static pid_t sibling;

static int
signal_sibling(void)
{
	return kill(sibling, 0) < 0 ? errno : 0;
}

static int
hold(void)
{
	raise_wall();
	return 0;
}

/* As the children of a zygote that is in a domain already. */
static int
siblings(void)
{
	struct err err;
	int status = 0;
	pid_t pid;

	raise_wall();
	sibling = fork();
	if (sibling == 0) {
		apart_must(wall_landlock(NULL, 0, NULL, &err), &err);
		(void)poll(NULL, 0, 5000);
		_exit(0);
	}
	/* Before: both are of one domain. The sibling may be in its own by
	 * now, and a parent reaches into that. */
	if (signal_sibling() != 0)
		return 1;
	pid = fork();
	if (pid == 0) {
		apart_must(wall_landlock(NULL, 0, NULL, &err), &err);
		_exit(signal_sibling());
	}
	(void)waitpid(pid, &status, 0);
	(void)kill(sibling, SIGKILL);
	return WEXITSTATUS(status);
}

static void
test_siblings(void **state)
{
	(void)state;
	if (abi < ABI_SCOPES)
		APART_SKIP("this kernel's Landlock has no scopes");
	as_ordinary = with_dir = false;
	assert_int_equal(apart(siblings), EPERM);
	sibling = apart_hold(hold);
	/* From outside it is reached: that is how it is ended. */
	assert_int_equal(signal_sibling(), 0);
	apart_release(sibling);
}

/* ---- where it is missing ---- */

static int
not_built_in(void)
{
	struct err err;

	apart_refuse(SYS_landlock_create_ruleset, 0, ENOSYS);
	apart_assert_err(wall_landlock(NULL, 0, NULL, &err), ENOSYS, &err,
	    "landlock", "not built into this kernel");
	return 0;
}

static int
disabled(void)
{
	struct err err;

	apart_refuse(SYS_landlock_create_ruleset, 0, EOPNOTSUPP);
	apart_assert_err(wall_landlock(NULL, 0, NULL, &err), EOPNOTSUPP, &err,
	    "landlock", "disabled when this kernel was started");
	return 0;
}

static int
refused(void)
{
	struct err err;

	apart_refuse(SYS_landlock_create_ruleset, 0, EPERM);
	apart_assert_err(wall_landlock(NULL, 0, NULL, &err), EPERM, &err,
	    "landlock", "version");
	return 0;
}

static void
test_missing(void **state)
{
	(void)state;
	assert_int_equal(apart(not_built_in), 0);
	assert_int_equal(apart(disabled), 0);
	assert_int_equal(apart(refused), 0);
}

static int
not_restricted(void)
{
	struct err err;

	apart_refuse(SYS_landlock_restrict_self, 0, EPERM);
	apart_assert_err(wall_landlock(NULL, 0, NULL, &err), EPERM, &err,
	    "landlock", "restrict");
	return 0;
}

static int
no_directory(void)
{
	int fd = -1;
	struct err err;

	apart_assert_err(wall_landlock(&fd, 1, NULL, &err), EBADF, &err,
	    "landlock", "allow what is below");
	return 0;
}

/* Without no_new_privs, and without a capability. */
static int
privileged(void)
{
	struct err err;

	apart_ordinary();
	apart_assert_err(wall_landlock(NULL, 0, NULL, &err), EPERM, &err,
	    "landlock", "restrict");
	return 0;
}

static void
test_refused(void **state)
{
	(void)state;
	if (abi < 1)
		APART_SKIP("this kernel has no Landlock");
	assert_int_equal(apart(not_restricted), 0);
	assert_int_equal(apart(no_directory), 0);
	assert_int_equal(apart(privileged), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_this_user),
		cmocka_unit_test(test_as_an_ordinary_user),
		cmocka_unit_test(test_siblings),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name(
	    "landlock", tests, set_up, tear_down);
}
