/* cgroup_end.c: killing the processes of a group, removing groups, and
 * sweeping up after keepers that are dead.
 *
 * Where there is no cgroup.kill, processes are killed by number. A number may
 * be another process's by the time of the signal; so a pidfd is opened first,
 * and the signal sent only if the group has the number still.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/cgroup_end.h"

#include "base/clock.h"
#include "base/own.h"
#include "base/sys.h"
#include "conf/limits.h"
#include "walls/cgroup.h"
#include "walls/cgroup_file.h"
#include "walls/cgroup_find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static bool
has_pid(int dir, const char *procs, pid_t pid)
{
	char text[CGROUP_TEXT_MAX];
	const char *at = text;
	pid_t next;

	if (cgroup_read(dir, procs, text) <= 0)
		return false;
	do
		next = cgroup_next_pid(&at);
	while (next != 0 && next != pid);
	return next == pid;
}

static void
end_process(int dir, const char *procs, pid_t pid)
{
	own_fd int pidfd = sys_pidfd_open(pid);

	/* Who is gone already, or may not be signalled, shows by the group's
	 * not becoming empty or becoming so. */
	if (pidfd >= 0 && has_pid(dir, procs, pid))
		(void)sys_pidfd_kill(pidfd, SIGKILL);
}

int
cgroup_end(int dir, const char *procs)
{
	char text[CGROUP_TEXT_MAX];
	const char *at = text;
	ssize_t n = cgroup_read(dir, procs, text);
	pid_t pid;

	if (n <= 0)
		return (int)n;
	while ((pid = cgroup_next_pid(&at)) != 0)
		if (pid != getpid())
			end_process(dir, procs, pid);
	return 1;
}

/* Calls act for each group in the group dir. */
static void
each_group(int dir, void (*act)(int dir, const char *name))
{
	int again = cgroup_open_dir(dir, ".");
	DIR *list = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;

	if (!list) {
		fd_close(again);
		return;
	}
	while ((entry = readdir(list)) != NULL)
		if (entry->d_type == DT_DIR)
			act(dir, entry->d_name);
	(void)closedir(list);
}

/* Groups that a room makes: "self" and the numbers of slots. */
static bool
is_inner(const char *name)
{
	return strcmp(name, CGROUP_SELF) == 0 ||
	       strspn(name, "0123456789") == strlen(name);
}

static void
inner_end(int room, const char *name)
{
	own_fd int dir = is_inner(name) ? cgroup_open_dir(room, name) : -1;

	if (dir >= 0)
		(void)cgroup_end(dir, "cgroup.procs");
}

static void
inner_remove(int room, const char *name)
{
	if (is_inner(name))
		(void)unlinkat(room, name, AT_REMOVEDIR);
}

/* One try. */
static int
room_end(int base, const char *name)
{
	own_fd int room = cgroup_open_dir(base, name);

	if (room < 0)
		return errno == ENOENT ? 0 : -errno;
	if (cgroup_write(room, "cgroup.kill", "1") < 0) {
		(void)cgroup_end(room, "cgroup.procs");
		each_group(room, inner_end);
	}
	each_group(room, inner_remove);
	/* Another sweeper may have been faster. */
	return unlinkat(base, name, AT_REMOVEDIR) < 0 && errno != ENOENT
		   ? -errno
		   : 0;
}

int
cgroup_room_end(int base, const char *name)
{
	static const struct timespec step = { 0, CGROUP_END_STEP_US * 1000L };
	uint64_t end = clock_us() + CGROUP_END_US;
	int r;

	while ((r = room_end(base, name)) == -EBUSY && clock_us() < end)
		(void)nanosleep(&step, NULL);
	return r;
}

/* Anything but a clear no counts as yes. Not by kill(2): a launcher may send
 * no other signal than SIGKILL. */
static bool
alive(pid_t pid)
{
	own_fd int pidfd = sys_pidfd_open(pid);

	return pidfd >= 0 || errno != ESRCH;
}

/* A living keeper holds the lock of its room's group. */
static bool
is_unlocked(int base, const char *name)
{
	own_fd int room = cgroup_open_dir(base, name);

	return room >= 0 && flock(room, LOCK_EX | LOCK_NB) == 0;
}

/* Two signs that a keeper is dead, for either can deceive: its number may
 * belong to another, or mean nothing in this namespace; its lock is not there
 * yet while it starts. */
static bool
is_dead(int base, const char *name)
{
	pid_t pid;

	return cgroup_room_pid(name, &pid) && !alive(pid) &&
	       is_unlocked(base, name);
}

static void
dead_end(int base, const char *name)
{
	if (is_dead(base, name))
		(void)cgroup_room_end(base, name);
}

void
cgroup_sweep(int base)
{
	each_group(base, dead_end);
}

/* In another namespace of process numbers a keeper that lives may have the same
 * one; and what a dead one forked last may hold its lock for a moment. */
static int
tree_remove(const struct cgroup_tree *tree, const char *name, struct err *err)
{
	own_fd int base = open(tree->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = base < 0 ? -errno : 0;

	if (r == 0 && faccessat(base, name, F_OK, 0) < 0 && errno == ENOENT)
		return 0;
	if (r == 0)
		r = is_unlocked(base, name) ? room_end(base, name) : -EBUSY;
	return r == 0 ? 0
		      : fail(err, -r, "%s/%s: %s", cgroup_path_end(tree->base),
			    name, strerror(-r));
}

int
cgroup_remove(pid_t pid, struct err *err)
{
	own_mem struct cgroup_trees *trees = malloc(sizeof(*trees));
	struct err why[WALLS];
	char name[CGROUP_NAME_MAX];
	int r = 0;

	if (!trees)
		return fail(err, ENOMEM, "remove control groups");
	/* Alive again: the number is another's, perhaps of a keeper. */
	if (pid <= 0 || alive(pid))
		return 0;
	cgroup_room_name(pid, name);
	(void)cgroup_find("/proc/self", WALLS_CGROUP, trees, why);
	for (unsigned i = 0; i < trees->n; i++) {
		int one = tree_remove(&trees->tree[i], name, err);

		r = r < 0 ? r : one;
	}
	return r;
}
