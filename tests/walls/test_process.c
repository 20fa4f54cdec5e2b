/* test_process.c: the walls of a single process: parent, fds, rlimits, mdwe,
 * no_new_privs; each on and off.
 * SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include "conf/limits.h"

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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- parent ---- */

/* A parent that dies; its child answers, if it outlives it, through ends[1].
 * Shared with the deeds below: a deed has no argument. */
static struct {
	bool walled;
	int ends[2];
} family;

static int
parent_that_dies(void)
{
	pid_t self = getpid();
	int ready[2];
	char byte;

	if (pipe(ready) < 0)
		apart_broken("pipe", NULL);
	if (fork() == 0) {
		struct err err;

		(void)close(family.ends[0]);
		if (family.walled)
			apart_must(wall_parent(self, &err), &err);
		(void)!write(ready[1], "r", 1);
		(void)poll(NULL, 0, 200);
		_exit(write(family.ends[1], "x", 1) != 1);
	}
	return read(ready[0], &byte, 1) == 1 ? 0 : 1;
}

/* Bytes that came from the orphan before its end. */
static ssize_t
orphan_says(bool walled)
{
	char byte;
	ssize_t got;

	family.walled = walled;
	assert_int_equal(pipe(family.ends), 0);
	assert_int_equal(apart(parent_that_dies), 0);
	(void)close(family.ends[1]);
	got = read(family.ends[0], &byte, 1);
	(void)close(family.ends[0]);
	return got;
}

static void
test_parent(void **state)
{
	(void)state;
	assert_int_equal(orphan_says(false), 1);
	assert_int_equal(orphan_says(true), 0);
}

static int
parent_is_gone(void)
{
	struct err err;

	apart_assert_err(
	    wall_parent(getpid(), &err), ESRCH, &err, "parent", "is gone");
	return 0;
}

static int
parent_is_outside(void)
{
	struct err err;
	int signal_now = 0;

	apart_must(wall_parent(0, &err), &err);
	(void)prctl(PR_GET_PDEATHSIG, &signal_now);
	return signal_now;
}

static void
test_parent_elsewhere(void **state)
{
	(void)state;
	assert_int_equal(apart(parent_is_gone), 0);
	assert_int_equal(apart(parent_is_outside), SIGKILL);
}

/* ---- fds ---- */

#define KEPT  50
#define OTHER 51
#define NULLS 52

static void
fds_open(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(STDERR_FILENO, KEPT) < 0 ||
	    dup2(STDERR_FILENO, OTHER) < 0 || dup2(null, NULLS) < 0)
		apart_broken("descriptors", NULL);
}

static void
fds_closed(void)
{
	const int keep[] = { KEPT };
	struct err err;

	fds_open();
	apart_must(wall_fds(NULLS, keep, 1, &err), &err);
}

static int
write_to_other(void)
{
	return fcntl(OTHER, F_GETFD) < 0 ? errno : 0;
}

static int
fds_off(void)
{
	fds_open();
	return write_to_other();
}

static int
fds_on(void)
{
	fds_closed();
	return write_to_other();
}

static int
fds_hold(void)
{
	fds_closed();
	/* Seen from outside: this process has no way to say that it is. */
	(void)kill(getpid(), SIGSTOP);
	return 0;
}

static void
assert_link(pid_t pid, int fd, const char *target)
{
	char path[64], link[64] = "";

	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	if (!target) {
		assert_int_equal(readlink(path, link, sizeof(link) - 1), -1);
		return;
	}
	assert_true(readlink(path, link, sizeof(link) - 1) > 0);
	assert_string_equal(link, target);
}

static void
test_fds(void **state)
{
	char theirs[64] = "";
	pid_t pid;

	(void)state;
	assert_int_equal(apart(fds_off), 0);
	assert_int_equal(apart(fds_on), EBADF);
	assert_true(readlink("/proc/self/fd/2", theirs, 63) > 0);
	pid = fork();
	if (pid == 0)
		_exit(fds_hold());
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	for (int fd = 0; fd < 64; fd++)
		assert_link(pid, fd,
		    fd <= 2      ? "/dev/null"
		    : fd == KEPT ? theirs
				 : NULL);
	apart_release(pid);
}

/* The null descriptor is one of the standard three already. */
static int
fds_null_is_standard(void)
{
	struct err err;

	fds_open();
	if (dup2(NULLS, STDOUT_FILENO) < 0)
		apart_broken("dup2", NULL);
	apart_must(wall_fds(STDOUT_FILENO, NULL, 0, &err), &err);
	return fcntl(KEPT, F_GETFD) < 0 && fcntl(STDIN_FILENO, F_GETFD) == 0
		   ? 0
		   : 1;
}

static int
fds_refused(void)
{
	struct err err;

	apart_assert_err(
	    wall_fds(-1, NULL, 0, &err), EBADF, &err, "fds", "dup2");
	apart_refuse(SYS_close_range, 0, ENOSYS);
	apart_assert_err(wall_fds(STDERR_FILENO, NULL, 0, &err), ENOSYS, &err,
	    "fds", "close_range");
	return 0;
}

static void
test_fds_edges(void **state)
{
	(void)state;
	assert_int_equal(apart(fds_null_is_standard), 0);
	assert_int_equal(apart(fds_refused), 0);
}

/* ---- rlimits ---- */

/* More than a sanitizer's own. */
#define DATA_BYTES ((uint64_t)1 << 46)

static void
limit(void)
{
	struct err err;

	apart_must(wall_rlimits(DATA_BYTES, CHILD_FDS_MAX, 0, &err), &err);
}

static int
write_a_file(void)
{
	int fd = (int)syscall(SYS_memfd_create, "file", 0u);

	(void)signal(SIGXFSZ, SIG_IGN);
	return fd >= 0 && write(fd, "x", 1) == 1 ? 0 : errno;
}

static int
fork_once(void)
{
	pid_t pid;

	apart_ordinary(); /* the limit does not bind root */
	pid = fork();
	if (pid == 0)
		_exit(0);
	return pid > 0 ? 0 : errno;
}

static int
many_files(void)
{
	for (unsigned i = 0; i < CHILD_FDS_MAX; i++)
		if (dup(STDERR_FILENO) < 0)
			return errno;
	return 0;
}

static int
lock_memory(void)
{
	static char page[4096];

	apart_ordinary();
	/* Not mlock: a sanitizer's does nothing. */
	return syscall(SYS_mlock, page, sizeof(page)) < 0 ? errno : 0;
}

static int
queue_a_signal(void)
{
	union sigval value = { .sival_int = 1 };
	sigset_t set;

	apart_ordinary();
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGRTMIN);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return sigqueue(getpid(), SIGRTMIN, value) < 0 ? errno : 0;
}

/* Private, writable memory beyond a limit of its own; nothing is touched. */
static int
map_memory(void)
{
	void *p = mmap(NULL, 512u * MIB, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? errno : 0;
}

static int
map_memory_limited(void)
{
	struct err err;

	apart_must(wall_rlimits(256u * MIB, CHILD_FDS_MAX, 0, &err), &err);
	return map_memory();
}

static void
test_rlimit_of_memory(void **state)
{
	(void)state;
	assert_int_equal(apart(map_memory), 0);
	assert_int_equal(apart(map_memory_limited), ENOMEM);
}

/* Each operation, and its errno under the limits; without them it works. */
static const struct bound {
	deed_fn *deed;
	int code;
} bounds[] = {
	{ write_a_file, EFBIG },
	{ fork_once, EAGAIN },
	{ many_files, EMFILE },
	{ lock_memory, EPERM },
	{ queue_a_signal, EAGAIN },
};

#define BOUNDS (sizeof(bounds) / sizeof(bounds[0]))

static const struct bound *bound_now;

static int
bound_on(void)
{
	limit();
	return bound_now->deed();
}

static void
test_rlimits(void **state)
{
	(void)state;
	for (size_t i = 0; i < BOUNDS; i++) {
		bound_now = &bounds[i];
		assert_int_equal(apart(bounds[i].deed), 0);
		assert_int_equal(apart(bound_on), bounds[i].code);
	}
}

/* A crash, with a core file allowed; true if the kernel wrote one, or gave it
 * to a handler. */
static bool
crash_dumps(bool walled)
{
	char dir[] = "/tmp/walls.XXXXXX";
	int status = 0;
	pid_t pid;

	assert_non_null(mkdtemp(dir));
	pid = fork();
	if (pid == 0) {
		struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

		if (chdir(dir) < 0 || setrlimit(RLIMIT_CORE, &all) < 0)
			apart_broken("a core file", NULL);
		if (walled)
			limit();
		(void)signal(SIGQUIT, SIG_DFL);
		(void)raise(SIGQUIT);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	apart_remove(dir);
	assert_true(WIFSIGNALED(status));
	return WCOREDUMP(status);
}

static void
test_core(void **state)
{
	struct rlimit core;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_CORE, &core), 0);
	if (core.rlim_max != RLIM_INFINITY)
		APART_SKIP("core files are limited here already");
	assert_true(crash_dumps(false));
	assert_false(crash_dumps(true));
}

static int
hold_limits(void)
{
	limit();
	return 0;
}

static void
test_rlimits_outside(void **state)
{
	static const char *const names[][2] = {
		{ "Max core file size", "1 " },
		{ "Max file size", "0 " },
		{ "Max open files", "4 " },
		{ "Max processes", "0 " },
		{ "Max locked memory", "0 " },
		{ "Max msgqueue size", "0 " },
		{ "Max pending signals", "0 " },
		{ "Max nice priority", "0 " },
		{ "Max realtime priority", "0 " },
	};
	pid_t pid = apart_hold(hold_limits);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char value[128], soft[32], hard[32];

		apart_line(pid, "limits", names[i][0], value, sizeof(value));
		assert_int_equal(sscanf(value, "%31s %31s", soft, hard), 2);
		assert_string_equal(soft, hard);
		assert_int_equal(soft[0], names[i][1][0]);
		assert_int_equal(soft[1], '\0');
	}
	apart_release(pid);
}

/* A lower hard limit stays, and is no error. */
static int
limits_lower(void)
{
	struct rlimit none = { 0, 0 };
	struct err err;

	if (setrlimit(RLIMIT_CORE, &none) < 0)
		apart_broken("setrlimit", NULL);
	apart_ordinary();
	apart_must(wall_rlimits(DATA_BYTES, CHILD_FDS_MAX, 0, &err), &err);
	(void)getrlimit(RLIMIT_CORE, &none);
	return none.rlim_max == 0 ? 0 : 1;
}

static int
limits_refused(void)
{
	struct err err;

	apart_refuse(SYS_prlimit64, 0, EPERM);
	apart_assert_err(wall_rlimits(DATA_BYTES, CHILD_FDS_MAX, 0, &err),
	    EPERM, &err, "rlimits", "RLIMIT_DATA");
	return 0;
}

static void
test_rlimits_edges(void **state)
{
	(void)state;
	assert_int_equal(apart(limits_lower), 0);
	assert_int_equal(apart(limits_refused), 0);
}

/* ---- mdwe ---- */

static int
gain_exec(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		apart_broken("mmap", NULL);
	return mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0 ? errno : 0;
}

static int
map_writable_exec(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? errno : 0;
}

static int
map_file_exec(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *page =
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	return page == MAP_FAILED ? errno : 0;
}

static deed_fn *mdwe_deed;

static int
mdwe_on(void)
{
	struct err err;

	apart_must(wall_mdwe(&err), &err);
	return mdwe_deed();
}

static int
mdwe_refused(void)
{
	struct err err;

	apart_refuse(SYS_prctl, 65, EINVAL);
	apart_assert_err(
	    wall_mdwe(&err), EINVAL, &err, "mdwe", "unknown to this kernel");
	return 0;
}

static void
test_mdwe(void **state)
{
	(void)state;
	assert_int_equal(apart(mdwe_refused), 0);
	if (prctl(66 /* PR_GET_MDWE */, 0, 0, 0, 0) < 0)
		APART_SKIP("this kernel has no PR_SET_MDWE");
	assert_int_equal(apart(gain_exec), 0);
	assert_int_equal(apart(map_writable_exec), 0);
	mdwe_deed = gain_exec;
	assert_int_equal(apart(mdwe_on), EACCES);
	mdwe_deed = map_writable_exec;
	assert_int_equal(apart(mdwe_on), EACCES);
	mdwe_deed =
	    map_file_exec; /* what was so from the start stays allowed */
	assert_int_equal(apart(mdwe_on), 0);
}

/* ---- no_new_privs ---- */

static void
copy_program(const char *from, const char *to)
{
	char bytes[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	ssize_t n;

	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(out, bytes, (size_t)n), n);
	assert_int_equal(n, 0);
	assert_int_equal(fchmod(out, 04755), 0);
	(void)close(in);
	(void)close(out);
}

/* A program of root's with the set-user-id bit: "test -O FILE" says whether
 * its effective user owns a file of root's. */
static char setuid_program[64];

static int
execute_setuid(void)
{
	apart_ordinary();
	(void)execl(setuid_program, "test", "-O", "/proc/1", (char *)NULL);
	return 99;
}

static int
execute_setuid_walled(void)
{
	struct err err;

	apart_must(wall_no_new_privs(&err), &err);
	return execute_setuid();
}

static int
hold_no_new_privs(void)
{
	struct err err;

	apart_must(wall_no_new_privs(&err), &err);
	return 0;
}

static int
no_new_privs_refused(void)
{
	struct err err;

	apart_refuse(SYS_prctl, PR_SET_NO_NEW_PRIVS, EPERM);
	apart_assert_err(wall_no_new_privs(&err), EPERM, &err, "no_new_privs",
	    "PR_SET_NO_NEW_PRIVS");
	return 0;
}

static void
test_no_new_privs(void **state)
{
	char value[16];
	pid_t pid = apart_hold(hold_no_new_privs);

	(void)state;
	apart_line(pid, "status", "NoNewPrivs:", value, sizeof(value));
	assert_string_equal(value, "1");
	apart_release(pid);
	assert_int_equal(apart(no_new_privs_refused), 0);
}

static void
test_no_new_privs_of_a_program(void **state)
{
	char dir[] = "/tmp/walls.XXXXXX";
	struct statvfs place;
	int off, on;

	(void)state;
	APART_NEEDS_ROOT();
	if (statvfs("/tmp", &place) < 0 || (place.f_flag & ST_NOSUID))
		APART_SKIP("/tmp is mounted nosuid");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0755), 0);
	(void)snprintf(setuid_program, sizeof(setuid_program), "%s/test", dir);
	copy_program("/usr/bin/test", setuid_program);
	off = apart(execute_setuid);
	on = apart(execute_setuid_walled);
	assert_int_equal(unlink(setuid_program), 0);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(off, 0);
	assert_int_equal(on, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parent),
		cmocka_unit_test(test_parent_elsewhere),
		cmocka_unit_test(test_fds),
		cmocka_unit_test(test_fds_edges),
		cmocka_unit_test(test_rlimits),
		cmocka_unit_test(test_rlimit_of_memory),
		cmocka_unit_test(test_core),
		cmocka_unit_test(test_rlimits_outside),
		cmocka_unit_test(test_rlimits_edges),
		cmocka_unit_test(test_mdwe),
		cmocka_unit_test(test_no_new_privs),
		cmocka_unit_test(test_no_new_privs_of_a_program),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
