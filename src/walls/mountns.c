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
#include "walls/mount_tree.h"
#include "walls/mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int
root_fill(int root, int artifacts, int proc, struct err *err)
{
	int r = mount_root_add(root, WALL_ROOT_ARTIFACTS, artifacts, err);

	if (r == 0)
		r = mount_root_add(root, "/proc", proc, err);
	if (r == 0)
		r = mount_root_add(root, WALL_ROOT_EMPTY, -1, err);
	return r;
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

/* In the new namespace: the root, with all that will be in it. Of the
 * artifacts, the compiled module is mapped executable. */
static int
root_build(struct err *err)
{
	own_fd int artifacts =
	    mount_tree_copy(AT_FDCWD, ".", MOUNT_ATTRS_EXEC, err);
	own_fd int proc = artifacts < 0 ? -1
					: mount_tree_copy(AT_FDCWD, "/proc",
					      MOUNT_ATTRS, err);
	own_fd int root = -1;
	int r;

	if (artifacts < 0)
		return artifacts;
	if (proc < 0)
		return proc;
	root = mount_root_make(ROOT_SIZE, ROOT_INODES, err);
	if (root < 0)
		return root;
	if (move_mount(root, "", AT_FDCWD, ".", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return fail_errno(err, "wall mountns: move_mount the root");
	r = root_fill(root, artifacts, proc, err);
	return r < 0 ? r : mount_root_enter(root, err);
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
