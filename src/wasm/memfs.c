/* memfs.c: the tree itself: nodes, their lives and times, what a descriptor
 * does with them. Hostile input. Pure; fuzzed by fuzz_memfs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/memfs_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIR_SIZE 4096u /* what stat says of any directory */

uint64_t
memfs_now(const struct memfs *fs)
{
	return fs->hooks.now_ns ? fs->hooks.now_ns(fs->hooks.arg) : 0;
}

void
memfs_charge(struct memfs *fs, uint64_t n)
{
	fs->bytes += n;
	if (fs->bytes > fs->bytes_peak)
		fs->bytes_peak = fs->bytes;
}

struct memfs_node *
node_new(struct memfs *fs, enum wasi_filetype type)
{
	struct memfs_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->ino = ++fs->last_ino;
	node->type = type;
	node->atim_ns = node->mtim_ns = node->ctim_ns = memfs_now(fs);
	node->changed = fs->marks;
	if (type == WASI_TYPE_DIR)
		node->dir.last_cookie = COOKIE_DOTDOT;
	node->next = fs->nodes;
	if (fs->nodes)
		fs->nodes->prev = node;
	fs->nodes = node;
	return node;
}

struct memfs_node *
node_new_symlink(struct memfs *fs, struct span target)
{
	uint8_t *copy = malloc(target.n);
	struct memfs_node *node;

	if (!copy)
		return NULL;
	node = node_new(fs, WASI_TYPE_LINK);
	if (!node) {
		free(copy);
		return NULL;
	}
	memcpy(copy, target.p, target.n);
	node->target.p = copy;
	node->target.n = target.n;
	memfs_charge(fs, target.n);
	return node;
}

static void
node_free(struct memfs *fs, struct memfs_node *node)
{
	if (node->type == WASI_TYPE_DIR) {
		dir_done(&node->dir);
	} else if (node->type == WASI_TYPE_FILE) {
		data_resize(fs, &node->data, 0);
	} else if (node->type == WASI_TYPE_LINK) {
		fs->bytes -= node->target.n;
		free((void *)(uintptr_t)node->target.p);
	}
	if (node->prev)
		node->prev->next = node->next;
	else
		fs->nodes = node->next;
	if (node->next)
		node->next->prev = node->prev;
	free(node);
}

static bool
node_is_root(const struct memfs_node *node)
{
	return node->type == WASI_TYPE_DIR && node->dir.parent == node;
}

void
node_drop(struct memfs *fs, struct memfs_node *node)
{
	if (node->names == 0 && node->holds == 0 && !node_is_root(node))
		node_free(fs, node);
}

void
node_changed(struct memfs *fs, struct memfs_node *node)
{
	node->ctim_ns = memfs_now(fs);
}

void
node_modified(struct memfs *fs, struct memfs_node *node)
{
	node->mtim_ns = node->ctim_ns = memfs_now(fs);
	node->changed = fs->marks;
}

void
memfs_mark(struct memfs *fs)
{
	fs->marks++;
}

struct memfs *
memfs_new(const struct memfs_limits *limits)
{
	struct memfs *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return NULL;
	fs->limits = *limits;
	if (memfs_add_root(fs, "") < 0) {
		free(fs);
		return NULL;
	}
	return fs;
}

void
memfs_free(struct memfs *fs)
{
	if (!fs)
		return;
	while (fs->nodes)
		node_free(fs, fs->nodes);
	for (unsigned i = 0; i < fs->roots_n; i++)
		free(fs->root_names[i]);
	free(fs);
}

void
memfs_set_limits(struct memfs *fs, const struct memfs_limits *limits)
{
	fs->limits = *limits;
}

void
memfs_set_hooks(struct memfs *fs, const struct memfs_hooks *hooks)
{
	fs->hooks = *hooks;
}

int
memfs_add_root(struct memfs *fs, const char *name)
{
	struct memfs_node *root;
	char *copy;

	if (fs->roots_n == MEMFS_ROOTS_MAX)
		return -ENOSPC;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	root = node_new(fs, WASI_TYPE_DIR);
	if (!root) {
		free(copy);
		return -ENOMEM;
	}
	root->dir.parent = root;
	fs->root_names[fs->roots_n] = copy;
	fs->roots[fs->roots_n++] = root;
	return 0;
}

unsigned
memfs_roots(const struct memfs *fs)
{
	return fs->roots_n;
}

const char *
memfs_root_name(const struct memfs *fs, unsigned index)
{
	return index == 0 ? "/" : fs->root_names[index];
}

struct memfs_node *
memfs_root(struct memfs *fs, unsigned index)
{
	return fs->roots[index];
}

uint64_t
memfs_bytes(const struct memfs *fs)
{
	return fs->bytes;
}

uint64_t
memfs_bytes_peak(const struct memfs *fs)
{
	return fs->bytes_peak;
}

uint32_t
memfs_entries(const struct memfs *fs)
{
	return fs->entries;
}

void
memfs_hold(struct memfs_node *node)
{
	node->holds++;
}

void
memfs_release(struct memfs *fs, struct memfs_node *node)
{
	node->holds--;
	node_drop(fs, node);
}

enum wasi_filetype
memfs_type(const struct memfs_node *node)
{
	return node->type;
}

static uint64_t
node_size(const struct memfs_node *node)
{
	if (node->type == WASI_TYPE_FILE)
		return node->data.size;
	if (node->type == WASI_TYPE_LINK)
		return node->target.n;
	return node->type == WASI_TYPE_DIR ? DIR_SIZE : 0;
}

static uint64_t
node_nlink(const struct memfs_node *node)
{
	if (node->type != WASI_TYPE_DIR)
		return node->names;
	return node->dir.parent ? 2u + node->dir.subdirs : 0;
}

void
memfs_stat(const struct memfs_node *node, struct memfs_stat *ret_stat)
{
	*ret_stat = (struct memfs_stat){
		.ino = node->ino,
		.type = node->type,
		.nlink = node_nlink(node),
		.size = node_size(node),
		.atim_ns = node->atim_ns,
		.mtim_ns = node->mtim_ns,
		.ctim_ns = node->ctim_ns,
	};
}

enum wasi_errno
memfs_set_times(struct memfs *fs, struct memfs_node *node, uint64_t atim_ns,
    uint64_t mtim_ns, uint32_t fstflags)
{
	uint64_t now = memfs_now(fs);

	if (fstflags & ~WASI_SET_ALL ||
	    (fstflags & WASI_SET_ATIM && fstflags & WASI_SET_ATIM_NOW) ||
	    (fstflags & WASI_SET_MTIM && fstflags & WASI_SET_MTIM_NOW))
		return WASI_INVAL;
	if (node->readonly)
		return WASI_ROFS;
	if (fstflags & (WASI_SET_ATIM | WASI_SET_ATIM_NOW))
		node->atim_ns = fstflags & WASI_SET_ATIM ? atim_ns : now;
	if (fstflags & (WASI_SET_MTIM | WASI_SET_MTIM_NOW))
		node->mtim_ns = fstflags & WASI_SET_MTIM ? mtim_ns : now;
	node->ctim_ns = now;
	return WASI_OK;
}

static size_t
device_read(
    struct memfs *fs, enum memfs_device device, uint8_t *bytes, size_t n)
{
	switch (device) {
	case MEMFS_NULL:
		return 0;
	case MEMFS_RANDOM:
		if (fs->hooks.random) {
			fs->hooks.random(fs->hooks.arg, bytes, n);
			return n;
		}
		break;
	case MEMFS_ZERO:
		break;
	}
	memset(bytes, 0, n);
	return n;
}

/* What reading or writing says of a node that has no bytes. */
static enum wasi_errno
node_has_bytes(const struct memfs_node *node)
{
	if (node->type == WASI_TYPE_DIR)
		return WASI_ISDIR;
	return node->type == WASI_TYPE_LINK ? WASI_INVAL : WASI_OK;
}

enum wasi_errno
memfs_read(struct memfs *fs, struct memfs_node *node, uint64_t offset,
    uint8_t *bytes, size_t n, size_t *ret_n)
{
	enum wasi_errno e = node_has_bytes(node);

	if (e != WASI_OK)
		return e;
	if (n == 0)
		*ret_n = 0;
	else if (node->type == WASI_TYPE_FILE)
		*ret_n = data_read(&node->data, offset, bytes, n);
	else
		*ret_n = device_read(fs, node->device, bytes, n);
	return WASI_OK;
}

enum wasi_errno
memfs_write(struct memfs *fs, struct memfs_node *node, uint64_t offset,
    const uint8_t *bytes, size_t n, size_t *ret_n)
{
	enum wasi_errno e = node_has_bytes(node);

	if (e != WASI_OK)
		return e;
	if (n == 0 || node->type != WASI_TYPE_FILE) {
		*ret_n = n;
		return WASI_OK;
	}
	if (node->readonly)
		return WASI_ROFS;
	e = data_write(fs, &node->data, offset, bytes, n, ret_n);
	if (e == WASI_OK)
		node_modified(fs, node);
	return e;
}

enum wasi_errno
memfs_resize(struct memfs *fs, struct memfs_node *node, uint64_t size)
{
	enum wasi_errno e = node_has_bytes(node);

	if (e != WASI_OK)
		return e;
	if (node->type != WASI_TYPE_FILE)
		return WASI_INVAL;
	if (node->readonly)
		return WASI_ROFS;
	if (size > fs->limits.file_size)
		return WASI_FBIG;
	data_resize(fs, &node->data, size);
	node_modified(fs, node);
	return WASI_OK;
}
