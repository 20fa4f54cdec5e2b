/* memfs_host.c: the tree as the host fills, freezes and reads it. Paths here
 * are our own, so there are no symlinks to follow but in memfs_read_whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/memfs_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
memfs_errno(enum wasi_errno e)
{
	static const struct {
		enum wasi_errno e;
		int code;
	} table[] = {
		{ WASI_EXIST, EEXIST },
		{ WASI_ISDIR, EISDIR },
		{ WASI_LOOP, ELOOP },
		{ WASI_NOENT, ENOENT },
		{ WASI_NOMEM, ENOMEM },
		{ WASI_NOSPC, ENOSPC },
		{ WASI_NOTDIR, ENOTDIR },
		{ WASI_ROFS, EROFS },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].e == e)
			return table[i].code;
	}
	return EINVAL;
}

/* The directory called name in dir, made if it is absent. */
static int
host_subdir(struct memfs *fs, struct memfs_node *dir, struct span name,
    bool readonly, struct memfs_node **ret_dir)
{
	struct memfs_entry *entry = dir_find(&dir->dir, name);
	struct memfs_node *node;

	if (entry && entry->node->type != WASI_TYPE_DIR)
		return -ENOTDIR;
	if (entry) {
		*ret_dir = entry->node;
		return 0;
	}
	if (name.n > GUEST_NAME_MAX)
		return -ENAMETOOLONG;
	node = node_new(fs, WASI_TYPE_DIR);
	if (!node)
		return -ENOMEM;
	node->readonly = readonly;
	entry = dir_add(dir, name, node, false);
	if (!entry) {
		node_drop(fs, node);
		return -ENOMEM;
	}
	entry->since = fs->marks;
	*ret_dir = node;
	return 0;
}

/* The directory that shall hold the last component of path, and that
 * component; the root itself and an empty name for "/". */
static int
host_parent(struct memfs *fs, const char *path, bool readonly,
    struct memfs_node **ret_dir, struct span *ret_name)
{
	struct span rest, name, next;
	struct memfs_node *dir;
	int r;

	if (path[0] != '/')
		return -EINVAL;
	dir = fs->roots[memfs_root_of(fs, span_of(path), &rest)];
	name = path_component(&rest);
	for (next = path_component(&rest); next.n > 0;
	     next = path_component(&rest)) {
		r = host_subdir(fs, dir, name, readonly, &dir);
		if (r < 0)
			return r;
		name = next;
	}
	*ret_dir = dir;
	*ret_name = name;
	return 0;
}

int
memfs_add_dir(struct memfs *fs, const char *path, bool readonly)
{
	struct memfs_node *dir;
	struct span name;
	int r = host_parent(fs, path, readonly, &dir, &name);

	if (r == 0 && name.n > 0)
		r = host_subdir(fs, dir, name, readonly, &dir);
	if (r == 0)
		dir->readonly = readonly;
	return r;
}

/* Gives a fresh node a new name; drops it where that fails. */
static int
host_name(
    struct memfs *fs, const char *path, bool readonly, struct memfs_node *node)
{
	struct memfs_entry *entry;
	struct memfs_node *dir;
	struct span name;
	int r = host_parent(fs, path, readonly, &dir, &name);

	if (r == 0 && name.n > GUEST_NAME_MAX)
		r = -ENAMETOOLONG;
	if (r == 0 && (name.n == 0 || dir_find(&dir->dir, name)))
		r = -EEXIST;
	if (r == 0) {
		entry = dir_add(dir, name, node, false);
		if (entry)
			entry->since = fs->marks;
		else
			r = -ENOMEM;
	}
	if (r < 0)
		node_drop(fs, node);
	return r;
}

/* The file's own copy of bytes, whatever the quota. */
static int
host_copy(struct memfs *fs, struct memfs_node *node, struct span bytes)
{
	struct memfs_limits limits = fs->limits;
	enum wasi_errno e;
	size_t n;

	fs->limits.bytes = UINT64_MAX;
	fs->limits.file_size = UINT64_MAX;
	e = data_write(fs, &node->data, 0, bytes.p, bytes.n, &n);
	fs->limits = limits;
	return e == WASI_OK && n == bytes.n ? 0 : -ENOMEM;
}

static void
host_lend(struct data *data, struct span bytes)
{
	data->borrowed = bytes.n > 0 ? bytes.p : (const uint8_t *)"";
	data->borrowed_n = data->size = bytes.n;
}

int
memfs_add_file(struct memfs *fs, const char *path, struct span bytes,
    bool readonly, uint64_t mtime_ns)
{
	struct memfs_node *node = node_new(fs, WASI_TYPE_FILE);
	int r = 0;

	if (!node)
		return -ENOMEM;
	node->readonly = readonly;
	node->atim_ns = node->mtim_ns = node->ctim_ns = mtime_ns;
	if (readonly) {
		host_lend(&node->data, bytes);
	} else if (bytes.n > 0) {
		r = host_copy(fs, node, bytes);
	}
	if (r < 0) {
		node_drop(fs, node);
		return r;
	}
	return host_name(fs, path, readonly, node);
}

int
memfs_add_cow(
    struct memfs *fs, const char *path, struct span bytes, uint64_t mtime_ns)
{
	struct memfs_node *node = node_new(fs, WASI_TYPE_FILE);

	if (!node)
		return -ENOMEM;
	node->atim_ns = node->mtim_ns = node->ctim_ns = mtime_ns;
	if (bytes.n > 0)
		host_lend(&node->data, bytes);
	return host_name(fs, path, false, node);
}

int
memfs_add_symlink(
    struct memfs *fs, const char *path, const char *target, bool readonly)
{
	struct memfs_node *node;

	if (!*target)
		return -EINVAL;
	node = node_new_symlink(fs, span_of(target));
	if (!node)
		return -ENOMEM;
	node->readonly = readonly;
	return host_name(fs, path, readonly, node);
}

int
memfs_add_device(struct memfs *fs, const char *path, enum memfs_device kind)
{
	struct memfs_node *node = node_new(fs, WASI_TYPE_CHAR);

	if (!node)
		return -ENOMEM;
	node->device = kind;
	return host_name(fs, path, true, node);
}

int
memfs_find(struct memfs *fs, const char *path, bool follow,
    struct memfs_node **ret_node)
{
	struct span rest;
	unsigned root;
	enum wasi_errno e;

	if (path[0] != '/')
		return -EINVAL;
	root = memfs_root_of(fs, span_of(path), &rest);
	*ret_node = fs->roots[root];
	if (rest.n == 0)
		return 0;
	e = memfs_lookup(fs, fs->roots[root], rest, follow, ret_node);
	return e == WASI_OK ? 0 : -memfs_errno(e);
}

int
memfs_freeze(struct memfs *fs, const char *path, bool below)
{
	struct memfs_entry *entry = NULL;
	struct memfs_node *node;
	int r = memfs_find(fs, path, false, &node);

	if (r < 0)
		return r;
	node->readonly = true;
	if (!below || node->type != WASI_TYPE_DIR)
		return 0;
	while ((entry = tree_next(node, entry)) != NULL)
		entry->node->readonly = true;
	return 0;
}

int
memfs_read_whole(struct memfs *fs, const char *path, struct buf *into)
{
	struct memfs_node *node;
	int r = memfs_find(fs, path, true, &node);

	if (r < 0)
		return r;
	if (node->type != WASI_TYPE_FILE)
		return node->type == WASI_TYPE_DIR ? -EISDIR : -EINVAL;
	if (node->data.size == 0)
		return 0;
	if (node->data.size > SIZE_MAX)
		return -ENOBUFS;
	r = buf_reserve(into, (size_t)node->data.size);
	if (r == 0)
		into->n += data_read(
		    &node->data, 0, into->p + into->n, (size_t)node->data.size);
	return r;
}

/* Writes the entry's path below top to the end of path, max bytes long. What was
 * written; empty if it is longer. */
static struct span
path_below(const struct memfs_node *top, const struct memfs_entry *entry,
    uint8_t *path, size_t max)
{
	size_t at = max;

	for (;; entry = entry->dir->dir.entry) {
		if (entry->name_n > at)
			return (struct span){ 0 };
		at -= entry->name_n;
		memcpy(path + at, entry->name, entry->name_n);
		if (entry->dir == top)
			return (struct span){ path + at, max - at };
		if (at == 0)
			return (struct span){ 0 };
		path[--at] = '/';
	}
}

/* True if the file, or a name on the way to it, is of after the last mark. */
static bool
is_news(const struct memfs *fs, const struct memfs_node *top,
    const struct memfs_entry *entry)
{
	if (entry->node->changed >= fs->marks)
		return true;
	for (;; entry = entry->dir->dir.entry) {
		if (entry->since >= fs->marks)
			return true;
		if (entry->dir == top)
			return false;
	}
}

void
memfs_each_change(struct memfs *fs, const char *path, size_t path_max,
    bool (*each)(void *arg, struct span path, struct memfs_node *file),
    void *arg)
{
	uint8_t below[GUEST_PATH_MAX];
	struct memfs_entry *entry = NULL;
	struct memfs_node *top;

	if (path_max > sizeof(below))
		path_max = sizeof(below);
	if (memfs_find(fs, path, false, &top) < 0 || top->type != WASI_TYPE_DIR)
		return;
	while ((entry = tree_next(top, entry)) != NULL) {
		if (entry->node->type == WASI_TYPE_FILE &&
		    is_news(fs, top, entry) &&
		    !each(arg, path_below(top, entry, below, path_max),
			entry->node))
			return;
	}
}

/* Removes one name; the node with it unless it has others or is open. */
static void
host_remove(struct memfs *fs, struct memfs_entry *entry)
{
	struct memfs_node *node = entry->node;

	fs->entries -= entry->counted;
	dir_remove(entry);
	node_drop(fs, node);
}

/* Empties the directory, the deepest names first. */
static void
host_empty(struct memfs *fs, struct memfs_node *top)
{
	struct memfs_node *dir = top;

	for (;;) {
		struct memfs_entry *entry = dir_after(&dir->dir, 0);

		if (!entry && dir == top)
			return;
		if (entry && entry->node->type == WASI_TYPE_DIR &&
		    entry->node->dir.live > 0) {
			dir = entry->node;
		} else if (entry) {
			host_remove(fs, entry);
		} else {
			dir = dir->dir.parent;
		}
	}
}

int
memfs_remove_tree(struct memfs *fs, const char *path)
{
	struct span rest;
	struct place place;
	unsigned root;
	enum wasi_errno e;

	if (path[0] != '/')
		return -EINVAL;
	root = memfs_root_of(fs, span_of(path), &rest);
	if (rest.n == 0) {
		host_empty(fs, fs->roots[root]);
		return 0;
	}
	e = memfs_walk(fs, fs->roots[root], rest, END_KEEP, &place);
	if (e != WASI_OK)
		return -memfs_errno(e);
	if (!place.entry)
		return place.node ? -EINVAL : -ENOENT;
	if (place.node->type == WASI_TYPE_DIR)
		host_empty(fs, place.node);
	host_remove(fs, place.entry);
	return 0;
}

/* Adds the names from the root down to dir, a slash behind each. */
static int
path_add_dirs(const struct memfs_node *dir, struct buf *into)
{
	const struct memfs_node *up, *lower = NULL;
	int r = 0;

	while (r == 0 && lower != dir) {
		for (up = dir; up->dir.parent != up && up->dir.parent != lower;
		     up = up->dir.parent)
			;
		if (up->dir.entry) {
			r = buf_add(
			    into, up->dir.entry->name, up->dir.entry->name_n);
			if (r == 0)
				r = buf_add(into, "/", 1);
		}
		lower = up;
	}
	return r;
}

static const struct memfs_entry *
node_entry(
    const struct memfs *fs, const struct memfs_node *node, unsigned *ret_root)
{
	for (unsigned i = 0; i < fs->roots_n; i++) {
		struct memfs_entry *entry = NULL;

		*ret_root = i;
		while ((entry = tree_next(fs->roots[i], entry)) != NULL) {
			if (entry->node == node)
				return entry;
		}
	}
	return NULL;
}

int
memfs_path_of(struct memfs *fs, const struct memfs_node *node,
    unsigned *ret_root, struct buf *into)
{
	const struct memfs_entry *entry;
	unsigned root = 0;
	int r;

	for (unsigned i = 0; i < fs->roots_n; i++) {
		if (fs->roots[i] == node) {
			*ret_root = i;
			return buf_add(into, ".", 1);
		}
	}
	entry = node_entry(fs, node, &root);
	if (!entry)
		return -ENOENT;
	r = path_add_dirs(entry->dir, into);
	if (r == 0)
		r = buf_add(into, entry->name, entry->name_n);
	if (r == 0)
		*ret_root = root;
	return r;
}
