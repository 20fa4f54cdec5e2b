/* cell.c: the walls of one native worker.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cell/cell.h"

#include "base/own.h"
#include "conf/wall.h"
#include "walls/jail_root.h"
#include "walls/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static int
say(int r, const struct err *err, char why[CELL_WHY])
{
	if (r < 0)
		(void)snprintf(why, CELL_WHY, "%s", err->text);
	return r;
}

static int
own_mounts(struct err *err)
{
	if (unshare(CLONE_NEWNS) < 0)
		return fail_errno(err, "wall mountns: unshare");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return fail_errno(err, "wall mountns: make all private");
	return 0;
}

/* Of Linux 5.6, and not in every kernel: how long the machine has run is not
 * to be seen. The room's clocks begin at about 0. */
static void
own_clocks(void)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	char text[48];
	own_fd int file = -1;

	if (unshare(CLONE_NEWTIME) < 0)
		return;
	file = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	for (unsigned i = 0; i < 2; i++) {
		struct timespec now = { 0 };

		(void)clock_gettime(clocks[i], &now);
		(void)snprintf(text, sizeof(text), "%d -%lld 0\n",
		    (int)clocks[i], (long long)now.tv_sec);
		if (file >= 0)
			(void)!write(file, text, strlen(text));
	}
}

static int
own_processes(struct err *err)
{
	if (unshare(CLONE_NEWPID) < 0)
		return fail_errno(err, "wall pidns: unshare");
	own_clocks();
	return 0;
}

static int
own_user(struct err *err)
{
	const struct wall_ids ids = { .keeper = geteuid() };

	return wall_userns(&ids, err);
}

int
cell_enter(uint32_t walls, char why[CELL_WHY])
{
	static const struct {
		enum wall wall;
		int (*raise)(struct err *err);
	} steps[] = {
		{ WALL_USERNS, own_user },
		{ WALL_MOUNTNS, own_mounts },
		{ WALL_NETNS, wall_netns },
		{ WALL_IPCNS, wall_ipcns },
		{ WALL_UTSNS, wall_utsns },
		{ WALL_CGROUPNS, wall_cgroupns },
		{ WALL_PIDNS, own_processes },
	};
	struct err err = { 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
		if (walls & WALL_BIT(steps[i].wall))
			r = steps[i].raise(&err);
	return say(r, &err, why);
}

/* ---- the namespaces, as the kernel names them ---- */

static const struct {
	enum wall wall;
	const char *name;
} spaces[CELL_SPACES] = {
	{ WALL_USERNS, "user" },
	{ WALL_MOUNTNS, "mnt" },
	{ WALL_PIDNS, "pid" },
	{ WALL_NETNS, "net" },
	{ WALL_IPCNS, "ipc" },
	{ WALL_UTSNS, "uts" },
	{ WALL_CGROUPNS, "cgroup" },
};

static int
look(uint64_t ret_spaces[CELL_SPACES], struct err *err)
{
	for (unsigned i = 0; i < CELL_SPACES; i++) {
		char path[32];
		struct stat st;

		(void)snprintf(
		    path, sizeof(path), "/proc/self/ns/%s", spaces[i].name);
		if (stat(path, &st) < 0)
			return fail_errno(err, "wall proof: look at %s", path);
		ret_spaces[i] = st.st_ino;
	}
	return 0;
}

int
cell_look(uint64_t ret_spaces[CELL_SPACES], char why[CELL_WHY])
{
	struct err err = { 0 };

	return say(look(ret_spaces, &err), &err, why);
}

static int
all_are_new(const struct cell_terms *terms, struct err *err)
{
	uint64_t now[CELL_SPACES] = { 0 };
	int r = look(now, err);

	for (unsigned i = 0; r == 0 && i < CELL_SPACES; i++)
		if (terms->walls & WALL_BIT(spaces[i].wall) &&
		    now[i] == terms->before[i])
			r = fail(err, EPERM,
			    "wall proof: the %s namespace is not its own",
			    spaces[i].name);
	return r;
}

static int
raise_scratch(const struct cell_terms *terms, struct err *err)
{
	return wall_jail_scratch(terms->workspace_bytes, terms->tmp_bytes, err);
}

static int
raise_caps(const struct cell_terms *terms, struct err *err)
{
	(void)terms;
	return wall_caps(0, err);
}

static int
raise_no_new_privs(const struct cell_terms *terms, struct err *err)
{
	(void)terms;
	return wall_no_new_privs(err);
}

static int
raise_landlock(const struct cell_terms *terms, struct err *err)
{
	return terms->walls & WALL_BIT(WALL_MOUNTNS)
		   ? wall_landlock_native(err)
		   : wall_landlock_scratch(terms->scratch, err);
}

static int
raise_rlimits(const struct cell_terms *terms, struct err *err)
{
	return wall_rlimits_native(terms->data_bytes, terms->processes, err);
}

static int
raise_seccomp(const struct cell_terms *terms, struct err *err)
{
	(void)terms;
	return wall_seccomp(SECCOMP_NATIVE, err);
}

int
cell_close(const struct cell_terms *terms, char why[CELL_WHY])
{
	static const struct {
		enum wall wall;
		int (*raise)(const struct cell_terms *terms, struct err *err);
	} steps[] = {
		{ WALL_PROOF, all_are_new },
		{ WALL_MOUNTNS, raise_scratch },
		{ WALL_CAPS, raise_caps },
		{ WALL_NO_NEW_PRIVS, raise_no_new_privs },
		{ WALL_LANDLOCK, raise_landlock },
		{ WALL_RLIMITS, raise_rlimits },
		{ WALL_SECCOMP, raise_seccomp },
	};
	struct err err = { 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
		if (terms->walls & WALL_BIT(steps[i].wall))
			r = steps[i].raise(terms, &err);
	return say(r, &err, why);
}

int
cell_alone(uint32_t walls, char why[CELL_WHY])
{
	struct err err = { 0 };

	return walls & WALL_BIT(WALL_SECCOMP)
		   ? say(wall_seccomp(SECCOMP_NATIVE_ALONE, &err), &err, why)
		   : 0;
}
