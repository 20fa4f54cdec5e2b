/* memfs.h: a file tree in plain heap memory: what a room has for a disk.
 * It makes no system call; time and random bytes come through hooks. A
 * process that forks copies it, and two never share one.
 *
 * A tree has one or more roots. The first is "/"; a further root carries a
 * guest name (an absolute path) and is not reachable from "/", so that a
 * directory can exist "inside" a file. The host's helpers choose the root by
 * the longest name that begins the path, as the guest's libc does.
 *
 * Nodes are borrowed from the tree, except where a function says "holds".
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_MEMFS_H
#define WASM_MEMFS_H

#include "base/buf.h"
#include "base/err.h"
#include "wasm/wasi_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memfs;
struct memfs_node;

struct memfs_limits {
	uint64_t bytes;     /* what files and symlinks may hold together */
	uint32_t entries;   /* names the guest may have made */
	uint64_t file_size; /* the largest size of one file, holes included */
};

struct memfs_hooks {
	void *arg;
	uint64_t (*now_ns)(void *arg); /* since 1970 */
	void (*random)(void *arg, uint8_t *bytes, size_t n);
};

enum memfs_device {
	MEMFS_NULL,
	MEMFS_ZERO,
	MEMFS_RANDOM
};

struct memfs_stat {
	uint64_t ino; /* unique in the tree, never used twice */
	enum wasi_filetype type;
	uint64_t nlink;
	uint64_t size;
	uint64_t atim_ns, mtim_ns, ctim_ns;
};

struct memfs_dirent {
	uint64_t cookie; /* where the listing goes on after this entry */
	uint64_t ino;
	enum wasi_filetype type;
	struct span name; /* borrowed until the directory changes */
};

/* How memfs_open opens: WASI_OPEN_... bits, and the rest as words. */
struct memfs_how {
	uint32_t oflags;
	bool follow; /* a symlink at the end of the path */
	bool change; /* the file will be written */
};

/* ---- the tree as the host sees it; 0 or -errno, paths absolute ---- */

/* An empty tree with the root "/". NULL without memory. */
struct memfs *memfs_new(const struct memfs_limits *limits);
void memfs_free(struct memfs *fs);

void memfs_set_limits(struct memfs *fs, const struct memfs_limits *limits);
/* Without hooks the time is 1970 and random devices give zeros. */
void memfs_set_hooks(struct memfs *fs, const struct memfs_hooks *hooks);

/* Adds a root under a guest name. At most MEMFS_ROOTS_MAX in all. */
int memfs_add_root(struct memfs *fs, const char *name);
unsigned memfs_roots(const struct memfs *fs);
const char *memfs_root_name(const struct memfs *fs, unsigned index);
struct memfs_node *memfs_root(struct memfs *fs, unsigned index);

/* These make missing parents with the same readonly, count against no quota
 * and may add to read-only directories. A directory that exists is fine and
 * takes the new readonly. A read-only file borrows bytes for the life of the
 * tree, a writable one copies them; memfs_add_cow makes a writable one that
 * borrows them, too, and copies what is written to, within the quota. mtime_ns
 * is since 1970. */
int memfs_add_dir(struct memfs *fs, const char *path, bool readonly);
int memfs_add_file(struct memfs *fs, const char *path, struct span bytes,
    bool readonly, uint64_t mtime_ns);
int memfs_add_cow(
    struct memfs *fs, const char *path, struct span bytes, uint64_t mtime_ns);
int memfs_add_symlink(
    struct memfs *fs, const char *path, const char *target, bool readonly);
int memfs_add_device(
    struct memfs *fs, const char *path, enum memfs_device kind);

/* Makes path read-only: the directory itself, or with all that is below. */
int memfs_freeze(struct memfs *fs, const char *path, bool below);

/* Adds the whole content of a regular file to *into; follows symlinks. */
int memfs_read_whole(struct memfs *fs, const char *path, struct buf *into);

/* What is new or changed after this is so for memfs_each_change. */
void memfs_mark(struct memfs *fs);

/* Tells of every regular file below the directory path that is new there, or
 * was written to, since the last mark (or ever); a write of the bytes that were
 * there counts, a time that was set does not. Directories are walked in the
 * order of their entries, symlinks not followed. path is that below the
 * directory, and empty where it has more than path_max bytes. Until each is
 * false. Nothing, if there is no such directory. */
void memfs_each_change(struct memfs *fs, const char *path, size_t path_max,
    bool (*each)(void *arg, struct span path, struct memfs_node *file),
    void *arg);

/* Removes path and all that is below, read-only or not; open nodes live on
 * until they are released. */
int memfs_remove_tree(struct memfs *fs, const char *path);

/* Puts a file there as if the guest had: makes missing directories, counts
 * against the quotas, and takes the place of a file or symlink that has its
 * name. path is below the directory dir. 0; -ENOSPC, -EISDIR, -ENOTDIR, -EROFS:
 * the place is as it was, but for new directories; -ENOMEM. */
int memfs_put_file(
    struct memfs *fs, const char *dir, struct span path, struct span bytes);

/* Bytes that files and symlinks hold now (not the borrowed ones), and the
 * most they ever held. */
uint64_t memfs_bytes(const struct memfs *fs);
uint64_t memfs_bytes_peak(const struct memfs *fs);
uint32_t memfs_entries(const struct memfs *fs);

/* Adds the writable part (what is in writable directories) to *into.
 * Borrowed files and devices in it are not saved. */
int memfs_save(struct memfs *fs, struct buf *into);

/* Puts back what memfs_save gave into a tree with the same read-only part.
 * After a failure the tree is in part filled: free it. */
int memfs_load(struct memfs *fs, struct span saved, struct err *err);

/* ---- the tree as the guest sees it; hostile input ---- */

/* Finds path below dir. ".." stops at "/", and does not leave another root
 * (NOTCAPABLE); an absolute path is NOTCAPABLE, an empty one NOENT. */
enum wasi_errno memfs_lookup(struct memfs *fs, struct memfs_node *dir,
    struct span path, bool follow, struct memfs_node **ret_node);

/* Finds or makes a node and holds it until memfs_release. */
enum wasi_errno memfs_open(struct memfs *fs, struct memfs_node *dir,
    struct span path, const struct memfs_how *how,
    struct memfs_node **ret_node);
void memfs_hold(struct memfs_node *node);
void memfs_release(struct memfs *fs, struct memfs_node *node);

enum wasi_filetype memfs_type(const struct memfs_node *node);
void memfs_stat(const struct memfs_node *node, struct memfs_stat *ret_stat);
enum wasi_errno memfs_set_times(struct memfs *fs, struct memfs_node *node,
    uint64_t atim_ns, uint64_t mtim_ns, uint32_t fstflags);

/* Reads and writes up to n bytes. A write may be short when the disk is full
 * or the file at its largest; it fails only if nothing could be written. */
enum wasi_errno memfs_read(struct memfs *fs, struct memfs_node *node,
    uint64_t offset, uint8_t *bytes, size_t n, size_t *ret_n);
enum wasi_errno memfs_write(struct memfs *fs, struct memfs_node *node,
    uint64_t offset, const uint8_t *bytes, size_t n, size_t *ret_n);
enum wasi_errno memfs_resize(
    struct memfs *fs, struct memfs_node *node, uint64_t size);

enum wasi_errno memfs_mkdir(
    struct memfs *fs, struct memfs_node *dir, struct span path);
enum wasi_errno memfs_rmdir(
    struct memfs *fs, struct memfs_node *dir, struct span path);
enum wasi_errno memfs_unlink(
    struct memfs *fs, struct memfs_node *dir, struct span path);
enum wasi_errno memfs_rename(struct memfs *fs, struct memfs_node *from_dir,
    struct span from, struct memfs_node *to_dir, struct span to);
enum wasi_errno memfs_link(struct memfs *fs, struct memfs_node *from_dir,
    struct span from, bool follow, struct memfs_node *to_dir, struct span to);
enum wasi_errno memfs_symlink(struct memfs *fs, struct span target,
    struct memfs_node *dir, struct span path);
/* The target is borrowed until the link is removed. */
enum wasi_errno memfs_readlink(struct memfs *fs, struct memfs_node *dir,
    struct span path, struct span *ret_target);

/* The first entry after cookie (0: from the start, which is "."). False at
 * the end. An entry that stays while others come and go is given once. */
bool memfs_next_entry(const struct memfs_node *dir, uint64_t cookie,
    struct memfs_dirent *ret_entry);

/* Where node can be found: adds its path below its root to *into. 0;
 * -ENOENT if it has no name any more, -errno. Slow: walks the tree. */
int memfs_path_of(struct memfs *fs, const struct memfs_node *node,
    unsigned *ret_root, struct buf *into);

#endif
