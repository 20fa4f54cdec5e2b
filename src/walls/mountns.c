/* mountns.c: a file system of its own, which holds nothing of the host but
 * the artifacts and /proc.
 *
 * The new root is a tmpfs, mounted over the one directory that surely exists
 * and is reached without walking a path: that of the artifacts. The root of
 * the host is then put below it, and taken away.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include "base/own.h"
#include "conf/limits.h"
#include "walls/mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ATTR_ARTIFACTS \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
/* Of the artifacts, the compiled module is mapped executable. */
#define ATTR_OTHERS (ATTR_ARTIFACTS | MOUNT_ATTR_NOEXEC)

#define DIR_MODE 0555

/* A copy of the mounts at path, with more flags than these have. A descriptor,
 * or -errno. */
static int
tree_copy(const char *path, uint64_t flags, struct err *err)
{
	struct mount_attr attr = { .attr_set = flags };
	own_fd int tree = open_tree(
	    AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	if (tree < 0)
		return fail_errno(err, "wall mountns: open_tree %s", path);
	if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
		sizeof(attr)) < 0)
		return fail_errno(err, "wall mountns: mount_setattr %s", path);
	return give_fd(&tree);
}

static int
option_set(int fs, const char *key, const char *value, struct err *err)
{
	if (fsconfig(fs, FSCONFIG_SET_STRING, key, value, 0) < 0)
		return fail_errno(err, "wall mountns: tmpfs %s=%s", key, value);
	return 0;
}

/* A tmpfs that is mounted nowhere yet: its root directory, or -errno. */
static int
root_make(struct err *err)
{
	own_fd int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	int root;
	int r;

	if (fs < 0)
		return fail_errno(err, "wall mountns: fsopen tmpfs");
	r = option_set(fs, "size", ROOT_SIZE, err);
	if (r == 0)
		r = option_set(fs, "nr_inodes", ROOT_INODES, err);
	if (r == 0)
		r = option_set(fs, "mode", "0755", err);
	if (r < 0)
		return r;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return fail_errno(err, "wall mountns: make a tmpfs");
	root = fsmount(fs, FSMOUNT_CLOEXEC, ATTR_OTHERS & ~MOUNT_ATTR_RDONLY);
	return root < 0 ? fail_errno(err, "wall mountns: fsmount tmpfs") : root;
}

/* The directory name (which begins with a slash) in root, with tree mounted
 * on it unless that is -1. */
static int
root_add(int root, const char *name, int tree, struct err *err)
{
	/* Not as the umask has it: another user must find the way. */
	if (mkdirat(root, name + 1, 0700) < 0 ||
	    fchmodat(root, name + 1, DIR_MODE, 0) < 0)
		return fail_errno(err, "wall mountns: mkdir %s", name);
	if (tree >= 0 &&
	    move_mount(tree, "", root, name + 1, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return fail_errno(err, "wall mountns: move_mount %s", name);
	return 0;
}

static int
root_fill(int root, int artifacts, int proc, struct err *err)
{
	int r = root_add(root, WALL_ROOT_ARTIFACTS, artifacts, err);

	if (r == 0)
		r = root_add(root, "/proc", proc, err);
	if (r == 0)
		r = root_add(root, WALL_ROOT_EMPTY, -1, err);
	return r;
}

/* Both roots are then at the same place, the old one above: it goes. */
static int
root_enter(int root, struct err *err)
{
	struct mount_attr attr = { .attr_set = ATTR_OTHERS };

	if (fchdir(root) < 0)
		return fail_errno(err, "wall mountns: fchdir");
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return fail_errno(err, "wall mountns: pivot_root");
	if (umount2(".", MNT_DETACH) < 0)
		return fail_errno(err, "wall mountns: umount the old root");
	if (chdir("/") < 0)
		return fail_errno(err, "wall mountns: chdir");
	if (mount_setattr(AT_FDCWD, "/", 0, &attr, sizeof(attr)) < 0)
		return fail_errno(err, "wall mountns: mount_setattr /");
	return 0;
}

/* The working directory is the artifacts': of all that a process holds, the
 * kernel takes it and the root alone into a new namespace. */
static int
namespace_enter(int artifacts_fd, struct err *err)
{
	if (fchdir(artifacts_fd) < 0)
		return fail_errno(err, "wall mountns: fchdir to the artifacts");
	if (unshare(CLONE_NEWNS) < 0)
		return fail_errno(err, "wall mountns: unshare");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return fail_errno(err, "wall mountns: make all private");
	return 0;
}

/* In the new namespace: the root, with all that will be in it. */
static int
root_build(struct err *err)
{
	own_fd int artifacts = tree_copy(".", ATTR_ARTIFACTS, err);
	own_fd int proc =
	    artifacts < 0 ? -1 : tree_copy("/proc", ATTR_OTHERS, err);
	own_fd int root = -1;
	int r;

	if (artifacts < 0)
		return artifacts;
	if (proc < 0)
		return proc;
	root = root_make(err);
	if (root < 0)
		return root;
	if (move_mount(root, "", AT_FDCWD, ".", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return fail_errno(err, "wall mountns: move_mount the root");
	r = root_fill(root, artifacts, proc, err);
	return r < 0 ? r : root_enter(root, err);
}

int
wall_mountns(int artifacts_fd, struct err *err)
{
	int r = namespace_enter(artifacts_fd, err);

	if (r == 0)
		r = root_build(err);
	return r == 0 ? mountinfo_check(err) : r;
}

int
wall_mountns_leave(struct err *err)
{
	if (chroot(WALL_ROOT_EMPTY) < 0)
		return fail_errno(err, "wall mountns: chroot");
	if (chdir("/") < 0)
		return fail_errno(err, "wall mountns: chdir");
	return 0;
}
