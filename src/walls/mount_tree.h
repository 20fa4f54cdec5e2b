/* mount_tree.h: what file systems of rooms are made of: copies of mounts, and a
 * root to put them on. All return 0 (or a descriptor) or -errno.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WALLS_MOUNT_TREE_H
#define WALLS_MOUNT_TREE_H

#include "base/err.h"

#include <stdint.h>
#include <sys/mount.h>

/* What programs are mapped from may be executed, nothing else. */
#define MOUNT_ATTRS_EXEC \
	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define MOUNT_ATTRS (MOUNT_ATTRS_EXEC | MOUNT_ATTR_NOEXEC)

/* A copy of the mounts at path (below the directory dir, or AT_FDCWD), with
 * more flags than these have. A descriptor. */
int mount_tree_copy(int dir, const char *path, uint64_t flags, struct err *err);

/* A tmpfs of so many bytes and files that is mounted nowhere yet: its root
 * directory, a descriptor. */
int mount_root_make(const char *size, const char *inodes, struct err *err);

/* The directory name (which begins with a slash) in root, with tree mounted on
 * it unless that is -1. */
int mount_root_add(int root, const char *name, int tree, struct err *err);

/* Makes root, which is mounted on the working directory, the root of all, and
 * read-only; nothing else is left. */
int mount_root_enter(int root, struct err *err);

#endif
