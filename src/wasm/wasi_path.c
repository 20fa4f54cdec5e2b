/* wasi_path.c: what the guest does with paths below an open directory.
 * Hostile input: descriptors, pointers, lengths, flags; fuzzed by fuzz_wasi.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasi_state.h"

#include <string.h>

/* A directory and a path below it: the descriptor at fd, pointer and length
 * at path and path + 1. */
static enum wasi_errno
slots_path(struct wasi *wasi, const uint64_t *fd, const uint64_t *path,
    struct memfs_node **ret_dir, struct span *ret_path)
{
	enum wasi_errno e = fd_dir(wasi, *fd, ret_dir);

	return e == WASI_OK ? slots_span(wasi, path, ret_path) : e;
}

/* The functions that have a directory and a path and nothing else. */
static uint32_t
path_only(struct wasi *wasi, const struct import_args *args,
    enum wasi_errno (*act)(
	struct memfs *fs, struct memfs_node *dir, struct span path))
{
	struct memfs_node *dir;
	struct span path;
	enum wasi_errno e =
	    slots_path(wasi, &args->slot[0], &args->slot[1], &dir, &path);

	return e == WASI_OK ? act(wasi->fs, dir, path) : e;
}

IMPORT(path_create_directory)
{
	return path_only(wasi, args, memfs_mkdir);
}

IMPORT(path_remove_directory)
{
	return path_only(wasi, args, memfs_rmdir);
}

IMPORT(path_unlink_file)
{
	return path_only(wasi, args, memfs_unlink);
}

/* The node that fd, lookup flags, path and length at the slots name. */
static enum wasi_errno
slots_lookup(
    struct wasi *wasi, const uint64_t *slots, struct memfs_node **ret_node)
{
	struct memfs_node *dir;
	struct span path;
	enum wasi_errno e = slots_path(wasi, &slots[0], &slots[2], &dir, &path);

	if (e != WASI_OK)
		return e;
	return memfs_lookup(
	    wasi->fs, dir, path, slots[1] & WASI_LOOKUP_FOLLOW, ret_node);
}

IMPORT(path_filestat_get)
{
	struct memfs_node *node;
	enum wasi_errno e = slots_lookup(wasi, args->slot, &node);

	if (e != WASI_OK)
		return e;
	return filestat_put(wasi, guest_ptr_of(args->slot[4]), node);
}

IMPORT(path_filestat_set_times)
{
	struct memfs_node *node;
	enum wasi_errno e = slots_lookup(wasi, args->slot, &node);

	if (e != WASI_OK)
		return e;
	return memfs_set_times(wasi->fs, node, args->slot[4], args->slot[5],
	    (uint32_t)args->slot[6]);
}

/* Opens at the free number; the rights are what the guest asked for, within
 * what the directory passes on. */
static enum wasi_errno
open_at(struct wasi *wasi, const uint64_t *slots, uint32_t number)
{
	const struct fd *parent = fd_of(wasi, slots[0]);
	uint64_t rights = slots[5] & parent->inheriting;
	struct memfs_how how = {
		.oflags = (uint32_t)slots[4],
		.follow = slots[1] & WASI_LOOKUP_FOLLOW,
		.change = rights & WASI_RIGHTS_CHANGE,
	};
	struct memfs_node *dir, *node;
	struct span path;
	enum wasi_errno e = slots_path(wasi, &slots[0], &slots[2], &dir, &path);

	if (e == WASI_OK)
		e = memfs_open(wasi->fs, dir, path, &how, &node);
	if (e != WASI_OK)
		return e;
	wasi->fds[number] = (struct fd){
		.kind = FD_NODE,
		.flags = (uint16_t)slots[7],
		.rights = rights,
		.inheriting = slots[6] & parent->inheriting,
		.node = node,
	};
	return WASI_OK;
}

IMPORT(path_open)
{
	struct guest_ptr ret = guest_ptr_of(args->slot[8]);
	uint32_t number = 0;
	enum wasi_errno e;

	if (!fd_of(wasi, args->slot[0]))
		return WASI_BADF;
	if (!guest_at(&wasi->mem, ret, sizeof(number)))
		return WASI_FAULT;
	if (args->slot[7] & ~(uint64_t)WASI_FD_ALL)
		return WASI_INVAL;
	e = fd_lowest(wasi, &number);
	if (e == WASI_OK)
		e = open_at(wasi, args->slot, number);
	if (e == WASI_OK)
		(void)guest_put_u32(&wasi->mem, ret, number);
	return e;
}

IMPORT(path_rename)
{
	const uint64_t *slots = args->slot;
	struct memfs_node *from_dir, *to_dir;
	struct span from, to;
	enum wasi_errno e =
	    slots_path(wasi, &slots[0], &slots[1], &from_dir, &from);

	if (e == WASI_OK)
		e = slots_path(wasi, &slots[3], &slots[4], &to_dir, &to);
	if (e == WASI_OK)
		e = memfs_rename(wasi->fs, from_dir, from, to_dir, to);
	return e;
}

IMPORT(path_link)
{
	const uint64_t *slots = args->slot;
	struct memfs_node *from_dir, *to_dir;
	struct span from, to;
	enum wasi_errno e =
	    slots_path(wasi, &slots[0], &slots[2], &from_dir, &from);

	if (e == WASI_OK)
		e = slots_path(wasi, &slots[4], &slots[5], &to_dir, &to);
	if (e == WASI_OK)
		e = memfs_link(wasi->fs, from_dir, from,
		    slots[1] & WASI_LOOKUP_FOLLOW, to_dir, to);
	return e;
}

IMPORT(path_symlink)
{
	struct memfs_node *dir;
	struct span target, path;
	enum wasi_errno e =
	    slots_path(wasi, &args->slot[2], &args->slot[3], &dir, &path);

	if (e == WASI_OK)
		e = slots_span(wasi, &args->slot[0], &target);
	if (e == WASI_OK)
		e = memfs_symlink(wasi->fs, target, dir, path);
	return e;
}

/* A target longer than the buffer is cut, as POSIX says. */
IMPORT(path_readlink)
{
	const uint64_t *slots = args->slot;
	struct guest_ptr into = guest_ptr_of(slots[3]);
	struct guest_ptr ret = guest_ptr_of(slots[5]);
	struct memfs_node *dir;
	struct span path, target;
	uint32_t n;
	enum wasi_errno e = slots_path(wasi, &slots[0], &slots[1], &dir, &path);

	if (e != WASI_OK)
		return e;
	if (!guest_at(&wasi->mem, into, slots[4]) ||
	    !guest_at(&wasi->mem, ret, sizeof(n)))
		return WASI_FAULT;
	e = memfs_readlink(wasi->fs, dir, path, &target);
	if (e != WASI_OK)
		return e;
	n = (uint32_t)(target.n < slots[4] ? target.n : slots[4]);
	(void)guest_put(&wasi->mem, into, target.p, n);
	(void)guest_put_u32(&wasi->mem, ret, n);
	return WASI_OK;
}
