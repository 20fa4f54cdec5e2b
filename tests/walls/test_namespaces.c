/* test_namespaces.c: user, network, IPC, UTS, cgroup and process-number
 * namespaces, each on and off, as root and as an ordinary user.
 * SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include "conf/limits.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Who raises the wall: an ordinary user needs a user namespace for it. */
static enum who {
	ROOT,
	ROOT_IN_USERNS,
	ORDINARY_IN_USERNS
} who;
#define WHO_END (ORDINARY_IN_USERNS + 1)

static int (*wall)(struct err *err);
static deed_fn *operation;

static void
prepare(void)
{
	struct wall_ids ids = apart_ids(who == ROOT_IN_USERNS);
	struct err err;

	if (who == ORDINARY_IN_USERNS)
		apart_ordinary();
	if (who != ROOT)
		apart_must(wall_userns(&ids, &err), &err);
}

static int
off(void)
{
	prepare();
	return operation();
}

static void
raise_wall(void)
{
	struct err err;

	prepare();
	apart_must(wall(&err), &err);
}

static int
on(void)
{
	raise_wall();
	return operation();
}

static int
hold(void)
{
	raise_wall();
	/* So that an ordinary user may look at it, too. */
	(void)prctl(PR_SET_DUMPABLE, 1);
	return 0;
}

/* Every who that this process can be: the operation succeeds with the wall
 * off, and fails with code with it on. The namespace link differs. */
static void
check(int (*raise)(struct err *), const char *link, deed_fn *deed, int code)
{
	wall = raise;
	operation = deed;
	for (who = geteuid() == 0 ? ROOT : ORDINARY_IN_USERNS; who < WHO_END;
	     who++) {
		pid_t pid;

		assert_int_equal(apart(off), 0);
		assert_int_equal(apart(on), code);
		pid = apart_hold(hold);
		assert_false(apart_same_namespace(pid, link));
		apart_release(pid);
	}
}

/* ---- network ---- */

static struct sockaddr_in listener_address;
static char listener_name[32];

static int
connect_loopback(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return connect(fd, (struct sockaddr *)&listener_address,
		   sizeof(listener_address)) < 0
		   ? errno
		   : 0;
}

static socklen_t
abstract_address(struct sockaddr_un *ret_address)
{
	*ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(ret_address->sun_path + 1, listener_name, strlen(listener_name));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   strlen(listener_name));
}

static int
connect_abstract(void)
{
	struct sockaddr_un address;
	socklen_t n = abstract_address(&address);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return connect(fd, (struct sockaddr *)&address, n) < 0 ? errno : 0;
}

static void
test_netns(void **state)
{
	socklen_t n = sizeof(listener_address);
	struct sockaddr_un address;
	int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	listener_address = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	assert_int_equal(bind(tcp, (struct sockaddr *)&listener_address, n), 0);
	assert_int_equal(
	    getsockname(tcp, (struct sockaddr *)&listener_address, &n), 0);
	assert_int_equal(listen(tcp, 16), 0);
	(void)snprintf(
	    listener_name, sizeof(listener_name), "walls.%d", (int)getpid());
	n = abstract_address(&address);
	assert_int_equal(bind(local, (struct sockaddr *)&address, n), 0);
	assert_int_equal(listen(local, 16), 0);
	check(wall_netns, "net", connect_loopback, ENETUNREACH);
	check(wall_netns, "net", connect_abstract, ECONNREFUSED);
	(void)close(tcp);
	(void)close(local);
}

/* ---- IPC ---- */

static key_t segment_key;

static int
find_segment(void)
{
	return shmget(segment_key, 0, 0) < 0 ? errno : 0;
}

static void
test_ipcns(void **state)
{
	int id;

	(void)state;
	segment_key = (key_t)(0x77616c00 + getpid());
	id = shmget(segment_key, 4096, IPC_CREAT | IPC_EXCL | 0666);
	assert_true(id >= 0);
	check(wall_ipcns, "ipc", find_segment, ENOENT);
	assert_int_equal(shmctl(id, IPC_RMID, NULL), 0);
}

/* ---- host name ---- */

static char host_name[64];

static int
know_host(void)
{
	char name[64] = "";

	(void)gethostname(name, sizeof(name) - 1);
	if (strcmp(name, host_name) == 0)
		return 0;
	return strcmp(name, "room") == 0 ? 1 : 2;
}

static void
test_utsns(void **state)
{
	(void)state;
	assert_int_equal(gethostname(host_name, sizeof(host_name) - 1), 0);
	if (strcmp(host_name, "room") == 0)
		APART_SKIP("this host is called room");
	check(wall_utsns, "uts", know_host, 1);
	assert_int_equal(know_host(), 0); /* this one's is as it was */
}

/* ---- cgroup names ---- */

static char group_dir[256];

static void
join_group(void)
{
	char path[300];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/cgroup.procs", group_dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		apart_broken("join a group", NULL);
	(void)close(fd);
}

/* The name of the group is seen in /proc/self/cgroup. */
static int
know_group(void)
{
	char text[8192] = "";
	int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		apart_broken("read /proc/self/cgroup", NULL);
	return strstr(text, "/walls-test.") ? 0 : ENOENT;
}

static int
group_off(void)
{
	join_group();
	return know_group();
}

static int
group_on(void)
{
	struct err err;

	join_group();
	prepare();
	apart_must(wall_cgroupns(&err), &err);
	return know_group();
}

/* The place of the first cgroup file system, of either version. */
static bool
find_groups(char *ret_dir, size_t n)
{
	char text[16384], *line, *rest = text;

	apart_file(getpid(), "mounts", text, sizeof(text));
	while ((line = strsep(&rest, "\n"))) {
		char device[64], dir[200], type[16];

		if (sscanf(line, "%63s %199s %15s", device, dir, type) == 3 &&
		    (strcmp(type, "cgroup2") == 0 ||
			(strcmp(type, "cgroup") == 0 &&
			    strstr(line, "pids")))) {
			(void)snprintf(ret_dir, n, "%s", dir);
			return true;
		}
	}
	return false;
}

static void
test_cgroupns(void **state)
{
	char dir[200];

	(void)state;
	APART_NEEDS_ROOT();
	if (!find_groups(dir, sizeof(dir)))
		APART_SKIP("no cgroup file system is mounted");
	(void)snprintf(group_dir, sizeof(group_dir), "%s/walls-test.%d", dir,
	    (int)getpid());
	if (mkdir(group_dir, 0755) < 0)
		APART_SKIP("no cgroup can be made here");
	for (who = ROOT; who < WHO_END; who++) {
		assert_int_equal(apart(group_off), 0);
		assert_int_equal(apart(group_on), ENOENT);
	}
	assert_int_equal(rmdir(group_dir), 0);
}

/* ---- users ---- */

/* What root may: here to rename the host, as it is called already. */
static int
rename_host(void)
{
	return sethostname(host_name, strlen(host_name)) < 0 ? errno : 0;
}

static struct wall_ids ids_now;

static int
userns_hold(void)
{
	struct err err;

	if (!ids_now.many)
		apart_ordinary();
	apart_must(wall_userns(&ids_now, &err), &err);
	if (geteuid() != KEEPER_ID || getegid() != KEEPER_ID)
		apart_broken("not the keeper", NULL);
	return 0;
}

static int
userns_rename(void)
{
	(void)userns_hold();
	return rename_host();
}

static int
userns_of_its_own(void)
{
	struct err err;

	(void)userns_hold();
	apart_must(wall_utsns(&err), &err);
	return 0;
}

static void
look_at_users(const char *users)
{
	char text[256], caps[32], squeezed[256];
	size_t n = 0;
	pid_t pid = apart_hold(userns_hold);

	apart_file(pid, "uid_map", text, sizeof(text));
	for (size_t i = 0; text[i]; i++)
		if (text[i] != ' ' || (n > 0 && squeezed[n - 1] != ' ' &&
					  squeezed[n - 1] != '\n'))
			squeezed[n++] = text[i];
	squeezed[n] = '\0';
	assert_string_equal(squeezed, users);
	apart_line(pid, "status", "CapEff:", caps, sizeof(caps));
	assert_true(strtoull(caps, NULL, 16) & 1ull << CAP_SYS_ADMIN);
	apart_release(pid);
	assert_int_equal(apart(userns_rename), EPERM);
	assert_int_equal(apart(userns_of_its_own), 0);
}

static void
test_userns_of_an_ordinary_user(void **state)
{
	char users[64];

	(void)state;
	(void)snprintf(users, sizeof(users), "%u %u 1\n", KEEPER_ID,
	    geteuid() == 0 ? ORDINARY : geteuid());
	ids_now = apart_ids(false);
	look_at_users(users);
}

static void
test_userns_of_root(void **state)
{
	char users[64];

	(void)state;
	APART_NEEDS_ROOT();
	assert_int_equal(gethostname(host_name, sizeof(host_name) - 1), 0);
	assert_int_equal(apart(rename_host), 0);
	(void)snprintf(users, sizeof(users), "%u %u 1\n%u %u 1\n", KEEPER_ID,
	    KEEPER_ID, CHILD_ID, CHILD_ID);
	ids_now = apart_ids(true);
	look_at_users(users);
}

/* The helper is gone, and reaped, whatever a program does with SIGCHLD. */
static int
userns_without_a_trace(void)
{
	struct err err;
	sigset_t child;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	ids_now = apart_ids(true);
	apart_must(wall_userns(&ids_now, &err), &err);
	return waitpid(-1, NULL, WNOHANG) < 0 ? errno : 0;
}

static int
userns_not_dumpable(void)
{
	struct wall_ids ids = apart_ids(false);
	struct err err;

	apart_ordinary();
	(void)prctl(PR_SET_DUMPABLE, 0);
	apart_must(wall_userns(&ids, &err), &err);
	return prctl(PR_GET_DUMPABLE);
}

static void
test_userns_edges(void **state)
{
	(void)state;
	assert_int_equal(apart(userns_not_dumpable), 0);
	APART_NEEDS_ROOT();
	assert_int_equal(apart(userns_without_a_trace), ECHILD);
}

/* ---- process numbers ---- */

static pid_t outside;

static int
signal_outside(void)
{
	return kill(outside, 0) < 0 ? errno : 0;
}

/* The deed in a process that is, or is not, the first of a namespace. */
static int
fork_and(bool first, deed_fn *deed)
{
	struct err err;
	int status = 0;
	pid_t pid = first ? wall_pidns_fork(&err) : fork();

	apart_must(pid, &err);
	if (pid == 0)
		_exit(deed());
	(void)waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 250;
}

static int
number(void)
{
	return getpid() == 1 && getppid() == 0 ? 0 : 1;
}

/* A keeper has one zygote after the other, and children of its own. */
static int
pidns_twice(void)
{
	prepare();
	for (int i = 0; i < 2; i++)
		if (fork_and(true, number) != 0)
			return 1;
	return fork_and(false, number) == 1 ? 0 : 2;
}

static int
pidns_on(void)
{
	prepare();
	return fork_and(true, signal_outside);
}

static int
pidns_off(void)
{
	prepare();
	return fork_and(false, signal_outside);
}

static void
test_pidns(void **state)
{
	(void)state;
	outside = getpid();
	for (who = geteuid() == 0 ? ROOT : ORDINARY_IN_USERNS; who < WHO_END;
	     who++) {
		/* A process that is ours or not: there it is no process. */
		int code = apart(pidns_off);

		assert_true(code == 0 || code == EPERM);
		if (who == ROOT)
			assert_int_equal(code, 0);
		assert_int_equal(apart(pidns_on), ESRCH);
		assert_int_equal(apart(pidns_twice), 0);
	}
}

/* Its descendants' end of a pipe closes when the first process is killed, and
 * not otherwise. */
static bool
descendants_die(bool first)
{
	struct err err;
	struct pollfd end = { .events = POLLIN };
	int ends[2], ready;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = first ? wall_pidns_fork(&err) : fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (fork() == 0) {
			(void)close(ends[0]);
			(void)!write(ends[1], "r", 1);
			(void)poll(NULL, 0, 500);
			_exit(0);
		}
		(void)poll(NULL, 0, 5000);
		_exit(0);
	}
	(void)close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	apart_release(pid);
	end.fd = ends[0];
	ready = poll(&end, 1, 200);
	(void)close(ends[0]);
	return ready == 1;
}

static int
numbers_hold(void)
{
	/* What is held is the first process's parent; it looks itself. */
	struct err err;
	char value[64];
	char expected[64];
	pid_t pid = wall_pidns_fork(&err);
	int fine;

	apart_must(pid, &err);
	if (pid == 0) {
		(void)poll(NULL, 0, 5000);
		_exit(0);
	}
	apart_line(pid, "status", "NSpid:", value, sizeof(value));
	(void)snprintf(expected, sizeof(expected), "%d\t1", (int)pid);
	fine =
	    strcmp(value, expected) == 0 && !apart_same_namespace(pid, "pid");
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return fine ? 0 : 1;
}

static void
test_pidns_from_outside(void **state)
{
	(void)state;
	APART_NEEDS_ROOT();
	assert_false(descendants_die(false));
	assert_true(descendants_die(true));
	assert_int_equal(apart(numbers_hold), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_userns_of_an_ordinary_user),
		cmocka_unit_test(test_userns_of_root),
		cmocka_unit_test(test_userns_edges),
		cmocka_unit_test(test_netns),
		cmocka_unit_test(test_ipcns),
		cmocka_unit_test(test_utsns),
		cmocka_unit_test(test_cgroupns),
		cmocka_unit_test(test_pidns),
		cmocka_unit_test(test_pidns_from_outside),
	};

	return cmocka_run_group_tests_name("namespaces", tests, NULL, NULL);
}
