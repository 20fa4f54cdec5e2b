/* mount_tree.c: what file systems of rooms are made of.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/mount_tree.h"

#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIR_MODE 0555

int
mount_tree_copy(int dir, const char *path, uint64_t flags, struct err *err)
{
	struct mount_attr attr = { .attr_set = flags };
	own_fd int tree = open_tree(
	    dir, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

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

int
mount_root_make(const char *size, const char *inodes, struct err *err)
{
	own_fd int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	int root;
	int r;

	if (fs < 0)
		return fail_errno(err, "wall mountns: fsopen tmpfs");
	r = option_set(fs, "size", size, err);
	if (r == 0)
		r = option_set(fs, "nr_inodes", inodes, err);
	if (r == 0)
		r = option_set(fs, "mode", "0755", err);
	if (r < 0)
		return r;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return fail_errno(err, "wall mountns: make a tmpfs");
	root = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTRS & ~MOUNT_ATTR_RDONLY);
	return root < 0 ? fail_errno(err, "wall mountns: fsmount tmpfs") : root;
}

int
mount_root_add(int root, const char *name, int tree, struct err *err)
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

/* Both roots are then at the same place, the old one above: it goes. */
int
mount_root_enter(int root, struct err *err)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTRS };

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
