/* wasi_save.c: open descriptors as bytes, and back. What is loaded was
 * written by wasi_save; ranges are checked all the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasi_state.h"

#include "base/own.h"

#include <errno.h>
#include <string.h>

/* The path follows. */
struct saved_fd {
	uint32_t number;
	uint32_t root;
	uint32_t flags;
	uint32_t path_n;
	uint64_t rights, inheriting;
	uint64_t pos;
};

static int
save_fd(struct wasi *wasi, uint32_t number, struct buf *into)
{
	const struct fd *fd = &wasi->fds[number];
	struct saved_fd saved = {
		.number = number,
		.flags = fd->flags,
		.rights = fd->rights,
		.inheriting = fd->inheriting,
		.pos = fd->pos,
	};
	own_buf struct buf path;
	unsigned root = 0;
	int r;

	buf_init(&path, GUEST_PATH_MAX);
	r = memfs_path_of(wasi->fs, fd->node, &root, &path);
	if (r < 0)
		return r;
	saved.root = root;
	saved.path_n = (uint32_t)path.n;
	r = buf_add(into, &saved, sizeof(saved));
	return r == 0 ? buf_add(into, path.p, path.n) : r;
}

int
wasi_save(struct wasi *wasi, struct buf *into, struct err *err)
{
	int r;

	for (uint32_t i = 0; i < GUEST_FDS_MAX; i++) {
		if (wasi->fds[i].kind != FD_NODE || wasi->fds[i].preopen)
			continue;
		r = save_fd(wasi, i, into);
		if (r < 0)
			return fail(
			    err, -r, "save descriptor %u: %s", i, strerror(-r));
	}
	return 0;
}

static int
load_fd(struct wasi *wasi, const struct saved_fd *saved, struct span path,
    struct err *err)
{
	struct memfs_node *node;
	struct fd *fd;
	enum wasi_errno e;

	if (saved->number >= GUEST_FDS_MAX || fd_is_own(saved->number) ||
	    saved->root >= memfs_roots(wasi->fs) ||
	    wasi->fds[saved->number].kind != FD_FREE)
		return fail(
		    err, EINVAL, "saved descriptors: number %u", saved->number);
	e = memfs_lookup(
	    wasi->fs, memfs_root(wasi->fs, saved->root), path, false, &node);
	if (e != WASI_OK)
		return fail(err, ENOENT, "saved descriptor %u: %.*s is gone",
		    saved->number, (int)path.n, (const char *)path.p);
	fd = &wasi->fds[saved->number];
	*fd = (struct fd){
		.kind = FD_NODE,
		.flags = (uint16_t)saved->flags,
		.rights = saved->rights,
		.inheriting = saved->inheriting,
		.pos = saved->pos,
		.node = node,
	};
	memfs_hold(node);
	return 0;
}

int
wasi_load(struct wasi *wasi, struct span saved, struct err *err)
{
	struct saved_fd head;
	struct span path;
	int r = 0;

	while (r == 0 && saved.n > 0) {
		if (saved.n < sizeof(head))
			return fail(err, EINVAL, "saved descriptors: cut");
		memcpy(&head, saved.p, sizeof(head));
		path.p = saved.p + sizeof(head);
		path.n = head.path_n;
		if (head.path_n > GUEST_PATH_MAX ||
		    path.n > saved.n - sizeof(head))
			return fail(err, EINVAL, "saved descriptors: cut");
		saved.p = path.p + path.n;
		saved.n -= sizeof(head) + path.n;
		r = load_fd(wasi, &head, path, err);
	}
	return r;
}
