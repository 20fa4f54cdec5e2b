/* memfs_put.c: a file put into the guest's tree by the host, as the guest would
 * have done it.
 * Hostile input: what the guest has left in the way. Pure; fuzzed by
 * fuzz_memfs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/memfs_impl.h"

#include <errno.h>

static enum wasi_errno
make_dirs(struct memfs *fs, struct memfs_node *dir, struct span path)
{
	for (size_t n = 1; n < path.n; n++) {
		enum wasi_errno e;

		if (path.p[n] != '/')
			continue;
		e = memfs_mkdir(fs, dir, (struct span){ path.p, n });
		if (e != WASI_OK && e != WASI_EXIST)
			return e;
	}
	return WASI_OK;
}

static bool
fits(const struct memfs *fs, size_t n)
{
	return fs->entries < fs->limits.entries &&
	       fs->bytes <= fs->limits.bytes &&
	       n <= fs->limits.bytes - fs->bytes && n <= fs->limits.file_size;
}

/* A new node in place of one that may be open. */
static enum wasi_errno
make_file(struct memfs *fs, struct memfs_node *dir, struct span path,
    struct span bytes)
{
	const struct memfs_how how = {
		.oflags = WASI_OPEN_CREATE | WASI_OPEN_EXCLUSIVE,
		.change = true,
	};
	struct memfs_node *node;
	size_t n = 0;
	enum wasi_errno e = memfs_open(fs, dir, path, &how, &node);

	if (e != WASI_OK)
		return e;
	e = memfs_write(fs, node, 0, bytes.p, bytes.n, &n);
	if (e == WASI_OK && n < bytes.n)
		e = WASI_NOSPC;
	memfs_release(fs, node);
	if (e != WASI_OK)
		(void)memfs_unlink(fs, dir, path);
	return e;
}

int
memfs_put_file(
    struct memfs *fs, const char *dir_path, struct span path, struct span bytes)
{
	struct memfs_node *dir;
	enum wasi_errno e;
	int r = memfs_find(fs, dir_path, false, &dir);

	if (r < 0)
		return r;
	e = make_dirs(fs, dir, path);
	if (e == WASI_OK && !fits(fs, bytes.n))
		e = WASI_NOSPC;
	if (e == WASI_OK)
		e = memfs_unlink(fs, dir, path);
	if (e == WASI_OK || e == WASI_NOENT)
		e = make_file(fs, dir, path, bytes);
	return e == WASI_OK ? 0 : -memfs_errno(e);
}
