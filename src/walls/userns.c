/* userns.c: a user namespace, and the numbers that users have in it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include "base/own.h"
#include "conf/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAP_MAX 96 /* two lines of three numbers */

static int
file_write(const char *path, const char *text, struct err *err)
{
	own_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return fail_errno(err, "wall userns: open %s", path);
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return fail_errno(err, "wall userns: write %s", path);
	return 0;
}

static int
namespace_enter(struct err *err)
{
	if (unshare(CLONE_NEWUSER) == 0)
		return 0;
	if (errno == ENOSPC)
		return fail(err, ENOSPC,
		    "wall userns: unshare: No space left on device (the limit "
		    "user.max_user_namespaces, or the depth of nesting)");
	return fail_errno(err, "wall userns: unshare");
}

/* ---- an ordinary user: its own number, under another name ---- */

static int
own_map(uid_t user, gid_t group, uid_t as, struct err *err)
{
	char map[MAP_MAX];
	int r = file_write("/proc/self/setgroups", "deny", err);

	(void)snprintf(map, sizeof(map), "%u %u 1", as, group);
	if (r == 0)
		r = file_write("/proc/self/gid_map", map, err);
	(void)snprintf(map, sizeof(map), "%u %u 1", as, user);
	if (r == 0)
		r = file_write("/proc/self/uid_map", map, err);
	return r;
}

static int
enter_alone(uid_t as, struct err *err)
{
	/* Asked before: inside there is no number for them yet. */
	uid_t user = geteuid();
	gid_t group = getegid();
	int dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	int r = namespace_enter(err);

	if (r < 0)
		return r;
	/* The files of a process that is not dumpable are root's. */
	if (dumpable != 1)
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	r = own_map(user, group, as, err);
	if (dumpable == 0)
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return r;
}

/* ---- root: two numbers, written by a helper that stays outside ---- */

/* The helper's life: waits for the byte that says the namespace is there,
 * writes the maps of process pid, and says what came of it. When pid dies,
 * the pipe ends, and the helper with it. */
static _Noreturn void
helper_main(pid_t pid, const struct wall_ids *ids, int begin, int end)
{
	struct err err = { 0 };
	char path[64], map[MAP_MAX], byte;
	int r = fd_read_all(begin, &byte, 1);

	if (r < 0)
		_exit(1);
	(void)snprintf(map, sizeof(map), "%u %u 1\n%u %u 1\n", ids->keeper,
	    ids->keeper, ids->child, ids->child);
	(void)snprintf(path, sizeof(path), "/proc/%d/gid_map", (int)pid);
	r = file_write(path, map, &err);
	(void)snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	if (r == 0)
		(void)file_write(path, map, &err);
	(void)!write(end, &err, sizeof(err));
	_exit(0);
}

static int
helper_answer(int fd, struct err *err)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };
	struct err said = { 0 };
	int ready;

	do
		ready = poll(&end, 1, USERNS_HELPER_MS);
	while (ready < 0 && errno == EINTR);
	if (ready == 0)
		return fail(err, ETIMEDOUT,
		    "wall userns: the maps were not written in %u ms",
		    USERNS_HELPER_MS);
	if (ready < 0 || fd_read_all(fd, &said, sizeof(said)) < 0)
		return fail(err, EPIPE,
		    "wall userns: the process that writes the maps died");
	return said.code == 0 ? 0 : fail(err, said.code, "%s", said.text);
}

/* begin: tells the helper that the namespace is there. */
static int
enter_mapped(int begin, int end, struct err *err)
{
	int r = namespace_enter(err);

	if (r == 0 && write(begin, "", 1) != 1)
		r = fail_errno(err, "wall userns: tell the helper");
	if (r == 0)
		r = helper_answer(end, err);
	return r;
}

/* Whoever this process was has no number in the namespace. It has every
 * capability there, and they stay: root's rule is for a root that is mapped. */
static int
become_keeper(uid_t keeper, struct err *err)
{
	if (setgroups(0, NULL) < 0)
		return fail_errno(err, "wall userns: setgroups");
	if (setresgid(keeper, keeper, keeper) < 0)
		return fail_errno(err, "wall userns: setresgid %u", keeper);
	if (setresuid(keeper, keeper, keeper) < 0)
		return fail_errno(err, "wall userns: setresuid %u", keeper);
	return 0;
}

/* begin and end: the two pipes, as pipe gives them. */
static int
enter_with_helper(
    const struct wall_ids *ids, const int begin[2], int end[2], struct err *err)
{
	pid_t self = getpid();
	pid_t helper = fork();
	int r;

	if (helper < 0)
		return fail_errno(err, "wall userns: fork a helper");
	if (helper == 0) {
		(void)close(begin[1]);
		helper_main(self, ids, begin[0], end[1]);
	}
	/* So that its death is an end; its other pipe stays readable here, so
	 * that writing to a dead helper is not ours. */
	fd_close(end[1]);
	end[1] = -1;
	r = enter_mapped(begin[1], end[0], err);
	/* It has ended, or is of no use any more. */
	(void)kill(helper, SIGKILL);
	while (waitpid(helper, NULL, 0) < 0 && errno == EINTR)
		;
	return r < 0 ? r : become_keeper(ids->keeper, err);
}

static int
enter_many(const struct wall_ids *ids, struct err *err)
{
	int begin[2], end[2];
	int r;

	if (pipe2(begin, O_CLOEXEC) < 0)
		return fail_errno(err, "wall userns: pipe");
	if (pipe2(end, O_CLOEXEC) < 0) {
		r = fail_errno(err, "wall userns: pipe");
	} else {
		r = enter_with_helper(ids, begin, end, err);
		fd_close(end[0]);
		fd_close(end[1]);
	}
	fd_close(begin[0]);
	fd_close(begin[1]);
	return r;
}

int
wall_userns(const struct wall_ids *ids, struct err *err)
{
	return ids->many ? enter_many(ids, err) : enter_alone(ids->keeper, err);
}
