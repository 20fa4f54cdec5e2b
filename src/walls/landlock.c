/* landlock.c: no file, port, abstract socket or signal by name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As the kernel's, of which the headers of Debian 12 have the first member
 * alone. A member that the kernel does not know yet must be zero. */
struct ruleset {
	uint64_t fs, net, scoped;
};

/* What each version of the interface added: every right that it names. */
static const struct {
	int abi;
	struct ruleset adds;
} ladder[] = {
	{ 1, { .fs = (1u << 13) - 1 } },        /* EXECUTE to MAKE_SYM */
	{ 2, { .fs = 1u << 13 } },              /* REFER */
	{ 3, { .fs = 1u << 14 } },              /* TRUNCATE */
	{ 4, { .net = 1u << 0 | 1u << 1 } },    /* BIND_TCP, CONNECT_TCP */
	{ 5, { .fs = 1u << 15 } },              /* IOCTL_DEV */
	{ 6, { .scoped = 1u << 0 | 1u << 1 } }, /* ABSTRACT_UNIX, SIGNAL */
	{ 9, { .fs = 1u << 16 } },              /* RESOLVE_UNIX */
	{ 10, { .net = 1u << 2 | 1u << 3 } },   /* BIND_UDP, CONNECT_UDP */
};

#define ABI_TSYNC      8
#define RESTRICT_TSYNC (1u << 3) /* all threads, not the calling one alone */

static int
abi_find(struct err *err)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);

	if (abi > 0)
		return (int)abi;
	if (abi < 0 && errno == EOPNOTSUPP)
		return fail(err, EOPNOTSUPP,
		    "wall landlock: disabled when this kernel was started");
	if (abi < 0 && errno == ENOSYS)
		return fail(
		    err, ENOSYS, "wall landlock: not built into this kernel");
	if (abi < 0)
		return fail_errno(err, "wall landlock: ask for the version");
	return fail(err, ENOSYS, "wall landlock: version %ld", abi);
}

static int
ruleset_make(int abi, struct err *err)
{
	struct ruleset all = { 0 };
	long fd;

	for (size_t i = 0; i < sizeof(ladder) / sizeof(ladder[0]); i++) {
		if (ladder[i].abi > abi)
			break;
		all.fs |= ladder[i].adds.fs;
		all.net |= ladder[i].adds.net;
		all.scoped |= ladder[i].adds.scoped;
	}
	fd = syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	if (fd < 0)
		return fail_errno(
		    err, "wall landlock: create a ruleset of version %d", abi);
	return (int)fd;
}

#define READ_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define MAKE_RIGHTS                                                    \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | \
	    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE)

static int
allow(int ruleset, int dir, uint64_t rights, struct err *err)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = rights,
		.parent_fd = dir,
	};

	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH,
		&rule, 0) < 0)
		return fail_errno(
		    err, "wall landlock: allow what is below %d", dir);
	return 0;
}

/* All that a ruleset of this version names of files. */
static uint64_t
fs_rights(int abi)
{
	uint64_t rights = 0;

	for (size_t i = 0; i < sizeof(ladder) / sizeof(ladder[0]); i++)
		if (ladder[i].abi <= abi)
			rights |= ladder[i].adds.fs;
	return rights;
}

static int
allow_below(int ruleset, const char *path, uint64_t rights, struct err *err)
{
	own_fd int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? fail_errno(err, "wall landlock: open %s", path)
		       : allow(ruleset, dir, rights, err);
}

/* Below a directory all but devices, which are not made, nor asked for what
 * only they know; all others are for reading. */
static int
restrict_native(const char *const *dirs, unsigned n, struct err *err)
{
	int abi = abi_find(err);
	own_fd int ruleset = abi < 0 ? -1 : ruleset_make(abi, err);
	uint64_t scratch =
	    abi < 0
		? 0
		: fs_rights(abi) & ~(uint64_t)(LANDLOCK_ACCESS_FS_MAKE_CHAR |
					       LANDLOCK_ACCESS_FS_MAKE_BLOCK);
	int r;

	if (ruleset < 0)
		return abi < 0 ? abi : ruleset;
	r = allow_below(
	    ruleset, "/", READ_RIGHTS | LANDLOCK_ACCESS_FS_EXECUTE, err);
	for (unsigned i = 0; r == 0 && i < n; i++)
		r = allow_below(ruleset, dirs[i], scratch, err);
	if (r == 0)
		r = allow_below(ruleset, "/dev",
		    READ_RIGHTS | LANDLOCK_ACCESS_FS_WRITE_FILE, err);
	if (r == 0 && syscall(SYS_landlock_restrict_self, ruleset,
			  abi >= ABI_TSYNC ? RESTRICT_TSYNC : 0u) < 0)
		r = fail_errno(err, "wall landlock: restrict");
	return r;
}

int
wall_landlock_native(struct err *err)
{
	static const char *const dirs[] = { "/workspace", "/tmp" };

	return restrict_native(dirs, 2, err);
}

int
wall_landlock_scratch(const char *dir, struct err *err)
{
	return restrict_native(&dir, 1, err);
}

/* Denies all but these rights below the directories. */
static int
restrict_to(
    const int *dirs, unsigned n, uint64_t rights, int *ret_abi, struct err *err)
{
	int abi = abi_find(err);
	own_fd int ruleset = abi < 0 ? -1 : ruleset_make(abi, err);

	if (abi < 0)
		return abi;
	if (ruleset < 0)
		return ruleset;
	for (unsigned i = 0; i < n; i++) {
		int r = allow(ruleset, dirs[i], rights, err);

		if (r < 0)
			return r;
	}
	if (syscall(SYS_landlock_restrict_self, ruleset,
		abi >= ABI_TSYNC ? RESTRICT_TSYNC : 0u) < 0)
		return fail_errno(err, "wall landlock: restrict");
	if (ret_abi)
		*ret_abi = abi;
	return 0;
}

int
wall_landlock(
    const int *read_dirs, unsigned n_read, int *ret_abi, struct err *err)
{
	return restrict_to(read_dirs, n_read, READ_RIGHTS, ret_abi, err);
}

int
wall_landlock_make(int dir, struct err *err)
{
	return restrict_to(&dir, 1, MAKE_RIGHTS, NULL, err);
}
