/* cgroup_delegate.c: controllers for the groups below ours, in version 2.
 * Hostile input: names of processes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/cgroup_delegate.h"

#include "base/own.h"
#include "walls/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANCESTORS_MAX 8 /* a trial, its keeper, the launcher, the server */
#define VACATE_MAX    8 /* rounds: processes may fork meanwhile */

/* The parent of a process, 0 if there is none to be seen, and its name. */
static pid_t
parent_of(pid_t pid, char ret_name[NAME_MAX])
{
	char path[CGROUP_NAME_MAX];
	char text[CGROUP_TEXT_MAX];
	const char *open_mark;
	const char *close_mark;
	int parent = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	ret_name[0] = '\0';
	if (cgroup_read(AT_FDCWD, path, text) <= 0)
		return 0;
	/* "7 (name) S 1 ...", where the name may hold anything. */
	open_mark = strchr(text, '(');
	close_mark = strrchr(text, ')');
	if (!open_mark || !close_mark || close_mark < open_mark ||
	    strnlen(close_mark, 5) < 5)
		return 0;
	(void)snprintf(ret_name, NAME_MAX, "%.*s",
	    (int)(close_mark - open_mark - 1), open_mark + 1);
	for (const char *digit = close_mark + 4;
	     *digit >= '0' && *digit <= '9' && parent < INT_MAX / 10 - 1;
	     digit++)
		parent = parent * 10 + (*digit - '0');
	return parent;
}

/* The process that began it all: the parent of the outermost launcher among
 * the ancestors, or this one if there is none. */
static pid_t
server_pid(void)
{
	pid_t server = getpid();
	pid_t pid = server;

	for (unsigned i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		char name[NAME_MAX];
		pid_t parent = parent_of(pid, name);

		if (parent > 0 && strcmp(name, "launcher") == 0)
			server = parent;
		pid = parent;
	}
	return server;
}

/* True if pid is server or descends from it. */
static bool
is_ours(pid_t pid, pid_t server)
{
	for (unsigned i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
		char name[NAME_MAX];

		if (pid == server)
			return true;
		pid = parent_of(pid, name);
	}
	return false;
}

static int
check_ours(const char *text, const char *base_name, struct err *err)
{
	pid_t server = server_pid();
	pid_t pid;

	while ((pid = cgroup_next_pid(&text)) != 0)
		if (!is_ours(pid, server))
			return fail(err, EBUSY,
			    "%s: process %d of others is in it: a delegated "
			    "group is needed",
			    cgroup_path_end(base_name), (int)pid);
	return 0;
}

static void
move_all(const char *text, int leaf)
{
	pid_t pid;

	/* One that has ended meanwhile need not move. */
	while ((pid = cgroup_next_pid(&text)) != 0)
		(void)cgroup_write_number(leaf, "cgroup.procs", (uint64_t)pid);
}

int
cgroup_vacate(int base, const char *base_name, struct err *err)
{
	char text[CGROUP_TEXT_MAX];
	own_fd int leaf = -1;

	for (unsigned i = 0; i < VACATE_MAX; i++) {
		ssize_t n = cgroup_read(base, "cgroup.procs", text);
		int r;

		if (n < 0)
			return fail(err, (int)-n, "%s/cgroup.procs: %s",
			    cgroup_path_end(base_name), strerror((int)-n));
		if (n == 0)
			return 0;
		r = check_ours(text, base_name, err);
		if (r < 0)
			return r;
		if (leaf < 0 && mkdirat(base, CGROUP_SERVER, 0755) < 0 &&
		    errno != EEXIST)
			return fail_errno(err, "%s/" CGROUP_SERVER,
			    cgroup_path_end(base_name));
		if (leaf < 0)
			leaf = cgroup_open_dir(base, CGROUP_SERVER);
		if (leaf < 0)
			return fail_errno(err, "%s/" CGROUP_SERVER,
			    cgroup_path_end(base_name));
		move_all(text, leaf);
	}
	return fail(err, EBUSY,
	    "%s: its processes do not move into " CGROUP_SERVER,
	    cgroup_path_end(base_name));
}

int
cgroup_enable(int dir, const char *controller)
{
	char text[CGROUP_NAME_MAX];

	(void)snprintf(text, sizeof(text), "+%s", controller);
	return cgroup_write(dir, "cgroup.subtree_control", text);
}

/* The walls of the set whose controller is not in the file's list. */
static wall_set
lacking(int base, const char *file, wall_set set)
{
	char text[CGROUP_TEXT_MAX];
	wall_set left = 0;

	(void)cgroup_read(base, file, text);
	for (unsigned i = 0; i < WALLS; i++) {
		const char *controller = cgroup_controller((enum wall)i);

		if ((set & WALL_BIT(i)) && controller &&
		    !cgroup_has_word(text, controller))
			left |= WALL_BIT(i);
	}
	return left;
}

static void
why_lacking(wall_set set, const char *base_name, struct err why[WALLS])
{
	for (unsigned i = 0; i < WALLS; i++)
		if (set & WALL_BIT(i))
			(void)fail(&why[i], ENOENT,
			    "%s: this group is not given the controller %s",
			    cgroup_path_end(base_name),
			    cgroup_controller((enum wall)i));
}

/* Only the root of the whole hierarchy lacks the file; to that one alone the
 * rule about processes does not apply. */
static bool
is_root(int base)
{
	return faccessat(base, "cgroup.events", F_OK, 0) < 0;
}

/* Gives those that could not be enabled. */
static wall_set
enable_all(int base, const struct cgroup_tree *tree, wall_set set,
    struct err why[WALLS])
{
	wall_set failed = 0;

	for (unsigned i = 0; i < WALLS; i++) {
		int r;

		if (!(set & WALL_BIT(i)))
			continue;
		r = cgroup_enable(base, cgroup_controller((enum wall)i));
		errno = -r;
		if (r < 0)
			failed |= cgroup_why(WALL_BIT(i), why, tree->base,
			    "cgroup.subtree_control");
	}
	return failed;
}

wall_set
cgroup_delegate(int base, const struct cgroup_tree *tree, struct err why[WALLS])
{
	wall_set absent = lacking(base, "cgroup.controllers", tree->walls);
	wall_set served = tree->walls & ~absent;
	wall_set needed = lacking(base, "cgroup.subtree_control", served);
	struct err err;

	why_lacking(absent, tree->base, why);
	if (needed && !is_root(base) &&
	    cgroup_vacate(base, tree->base, &err) < 0) {
		for (unsigned i = 0; i < WALLS; i++)
			if (needed & WALL_BIT(i))
				why[i] = err;
		return served & ~needed;
	}
	return served & ~enable_all(base, tree, needed, why);
}
