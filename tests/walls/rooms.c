/* rooms.c: keepers with the control groups of a room.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms.h"

#include "conf/limits.h"

#include "base/clock.h"
#include "base/fd.h"
#include "walls/cgroup_end.h"
#include "walls/cgroup_file.h"

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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct cgroup_trees trees;
struct cgroup *room;
wall_set missing;
struct err why[WALLS];

/* ---- rooms ---- */

struct cgroup *
rooms_open(wall_set wanted)
{
	static const struct cgroup_limits limits = {
		.slot_memory_bytes = SLOT_BYTES,
		.processes = PROCESSES,
		.slot_processes = CGROUP_SLOT_PIDS,
		.slots = SLOTS,
	};
	struct cgroup *cgroup;

	cgroup_open(&limits, wanted, &cgroup, &missing, why);
	for (unsigned i = 0; i < WALLS; i++)
		if (missing & WALL_BIT(i))
			print_message("# missing %s: %s\n",
			    wall_name((enum wall)i), why[i].text);
	return cgroup;
}

/* The directory of keeper's group in the tree that serves the wall, and a file
 * there. False: no tree serves it. */
bool
rooms_path(pid_t keeper, enum wall wall, const char *file,
    char ret_path[ROOMS_PATH_MAX])
{
	for (unsigned i = 0; i < trees.n; i++)
		if (trees.tree[i].walls & WALL_BIT(wall)) {
			(void)snprintf(ret_path, ROOMS_PATH_MAX,
			    "%s/breakroom.%d%s%s", trees.tree[i].base,
			    (int)keeper, *file ? "/" : "", file);
			return true;
		}
	return false;
}

bool
rooms_exists(pid_t keeper)
{
	static const enum wall walls[] = { WALL_CGROUP_MEMORY, WALL_CGROUP_PIDS,
		WALL_CGROUP_CPU, WALL_CGROUP_KILL };
	char path[ROOMS_PATH_MAX];

	for (unsigned i = 0; i < 4; i++)
		if (rooms_path(keeper, walls[i], "", path) &&
		    access(path, F_OK) == 0)
			return true;
	return false;
}

void
rooms_remove(pid_t keeper)
{
	struct err err;

	for (unsigned i = 0; i < 1000 && cgroup_remove(keeper, &err) < 0; i++)
		(void)poll(NULL, 0, 1);
}

/* Runs keeper in a process, removes its room as a launcher does, and asserts
 * that nothing is left. */
void
rooms_with(deed_fn *keeper)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)alarm(20);
		_exit(keeper());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	rooms_remove(pid);
	assert_false(rooms_exists(pid));
	assert_int_equal(status, 0);
}

/* A keeper that has opened a room and waits. */
int
rooms_open_all(void)
{
	return rooms_open(WALLS_CGROUP) ? 0 : 1;
}

/* ---- processes in it ---- */

pid_t
rooms_fork(int slot, deed_fn *deed)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct err err;

		if (slot >= 0)
			apart_must(
			    cgroup_join(cgroup_procs_fd(room, slot), &err),
			    &err);
		_exit(deed());
	}
	return pid;
}

int
rooms_end_of(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) <= 0)
		return -1;
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int
rooms_allocate(void)
{
	char *p = mmap(NULL, BEYOND, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(p != MAP_FAILED);
	for (size_t i = 0; i < BEYOND; i += 4096)
		p[i] = 1;
	return 0;
}

/* What belongs to no process until it is counted by the group. */
int
rooms_fill(void)
{
	static char page[65536];
	int fd = memfd_create("test", MFD_CLOEXEC);

	MUST(fd >= 0);
	memset(page, 1, sizeof(page));
	for (size_t i = 0; i < BEYOND; i += sizeof(page))
		MUST(write(fd, page, sizeof(page)) == sizeof(page));
	return 0;
}

/* Ten processes, each with a session of its own, whose parents are gone. */
int
rooms_scatter(void)
{
	for (unsigned i = 0; i < 10; i++)
		if (fork() == 0) {
			(void)setsid();
			if (fork() != 0)
				_exit(0);
			(void)setsid();
			(void)poll(NULL, 0, 15000);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	return 0;
}

/* True once nobody holds the other end, within two seconds. */
bool
rooms_all_gone(int fd)
{
	struct pollfd end = { .fd = fd };

	return poll(&end, 1, 2000) == 1 && (end.revents & POLLHUP);
}

/* The slot that is taken next, once it is empty: killed processes leave it a
 * moment later than their descriptors. */
int
rooms_take(void)
{
	uint64_t end = clock_us() + 2000000;
	int slot;

	while ((slot = cgroup_take(room)) == -EAGAIN && clock_us() < end)
		(void)poll(NULL, 0, 1);
	return slot;
}

/* Starts scatter in the slot; the descriptor that shows the end of it. */
int
rooms_scatter_in(int slot)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0 ||
	    rooms_end_of(rooms_fork(slot, rooms_scatter)) != 0)
		return -1;
	(void)close(ends[1]);
	return ends[0];
}

/* ---- the machine ---- */

static int
open_all_walls(void)
{
	return rooms_open(WALLS_CGROUP) ? (int)(missing != 0) : 1;
}

/* Moves this process into the group at path, or does not. */
static void
move_to(const char *path, int version)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)cgroup_write(dir, version == 1 ? "tasks" : "cgroup.procs", "0");
	fd_close(dir);
}

/* In a group of its own in each tree: a keeper of another test that runs at
 * the same time would sweep up what is left here on purpose. */
static void
go_apart(void)
{
	for (unsigned i = 0; i < trees.n; i++) {
		char path[ROOMS_PATH_MAX];

		(void)snprintf(path, sizeof(path), "%s/test.%d",
		    trees.tree[i].base, (int)getpid());
		(void)mkdir(path, 0755);
		move_to(path, trees.tree[i].version);
	}
}

static void
come_back(void)
{
	for (unsigned i = 0; i < trees.n; i++) {
		const char *base = trees.tree[i].base;
		char path[ROOMS_PATH_MAX];
		int dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		(void)snprintf(path, sizeof(path), "%s/..", base);
		move_to(path, trees.tree[i].version);
		cgroup_sweep(dir); /* after a test that failed */
		fd_close(dir);
		for (unsigned j = 0; rmdir(base) < 0 && j < 1000; j++)
			(void)poll(NULL, 0, 1);
	}
}

static bool
can_open(void)
{
	pid_t pid = fork();
	int r;

	if (pid == 0)
		_exit(open_all_walls());
	r = rooms_end_of(pid);
	rooms_remove(pid);
	return r == 0;
}

int
rooms_run(int (*tests)(void))
{
	bool ready;
	int r = 77;

	(void)cgroup_find("/proc/self", WALLS_CGROUP, &trees, why);
	if (geteuid() == 0)
		go_apart();
	(void)cgroup_find("/proc/self", WALLS_CGROUP, &trees, why);
	ready = geteuid() == 0 && can_open();
	if (ready)
		r = tests();
	else
		(void)printf("1..0 # SKIP needs root and control groups of "
			     "version 1, with cgroup2 beside\n");
	if (geteuid() == 0)
		come_back();
	return r;
}
