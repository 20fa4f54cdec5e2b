/* memfs_names.c: making, removing and renaming names, as POSIX says.
 * Hostile input. Pure; fuzzed by fuzz_memfs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/memfs_impl.h"

#include <string.h>

/* Whether a new name may be made at the place. */
static enum wasi_errno
place_may_make(const struct memfs *fs, const struct place *place)
{
	if (!place->dir->dir.parent)
		return WASI_NOENT; /* the directory was removed */
	if (place->dir->readonly)
		return WASI_ROFS;
	if (fs->entries >= fs->limits.entries)
		return WASI_NOSPC;
	return WASI_OK;
}

/* Gives the node the place's name. */
static enum wasi_errno
place_make(struct memfs *fs, const struct place *place, struct memfs_node *node)
{
	struct memfs_entry *entry =
	    dir_add(place->dir, place->name, node, true);

	if (!entry)
		return WASI_NOMEM;
	entry->since = fs->marks;
	fs->entries++;
	node_modified(fs, place->dir);
	return WASI_OK;
}

static enum wasi_errno
place_make_new(
    struct memfs *fs, const struct place *place, struct memfs_node *node)
{
	enum wasi_errno e = WASI_NOMEM;

	if (node) {
		e = place_make(fs, place, node);
		if (e != WASI_OK)
			node_drop(fs, node);
	}
	return e;
}

static enum wasi_errno
place_may_remove(const struct place *place)
{
	return place->dir->readonly || place->node->readonly ? WASI_ROFS
							     : WASI_OK;
}

static void
place_remove(struct memfs *fs, const struct place *place)
{
	struct memfs_node *node = place->node;

	fs->entries -= place->entry->counted;
	dir_remove(place->entry);
	node_modified(fs, place->dir);
	node_changed(fs, node);
	node_drop(fs, node);
}

enum wasi_errno
memfs_mkdir(struct memfs *fs, struct memfs_node *dir, struct span path)
{
	struct place place;
	enum wasi_errno e = memfs_walk(fs, dir, path, END_KEEP, &place);

	if (e == WASI_OK && place.node)
		e = WASI_EXIST;
	if (e == WASI_OK)
		e = place_may_make(fs, &place);
	if (e == WASI_OK)
		e = place_make_new(fs, &place, node_new(fs, WASI_TYPE_DIR));
	return e;
}

enum wasi_errno
memfs_rmdir(struct memfs *fs, struct memfs_node *dir, struct span path)
{
	struct place place;
	enum wasi_errno e = memfs_walk(fs, dir, path, END_KEEP, &place);

	if (e != WASI_OK)
		return e;
	if (place.last == LAST_DOT)
		return WASI_INVAL;
	if (place.last == LAST_DOTDOT)
		return WASI_NOTEMPTY;
	if (!place.node)
		return WASI_NOENT;
	if (place.node->type != WASI_TYPE_DIR)
		return WASI_NOTDIR;
	e = place_may_remove(&place);
	if (e == WASI_OK && place.node->dir.live > 0)
		e = WASI_NOTEMPTY;
	if (e == WASI_OK)
		place_remove(fs, &place);
	return e;
}

enum wasi_errno
memfs_unlink(struct memfs *fs, struct memfs_node *dir, struct span path)
{
	struct place place;
	enum wasi_errno e = memfs_walk(fs, dir, path, END_KEEP, &place);

	if (e != WASI_OK)
		return e;
	if (!place.node)
		return WASI_NOENT;
	if (place.node->type == WASI_TYPE_DIR)
		return WASI_ISDIR;
	if (place.slash)
		return WASI_NOTDIR;
	e = place_may_remove(&place);
	if (e == WASI_OK)
		place_remove(fs, &place);
	return e;
}

/* A name for a symlink or a hard link. */
static enum wasi_errno
walk_to_new(struct memfs *fs, struct memfs_node *dir, struct span path,
    struct place *ret_place)
{
	enum wasi_errno e = memfs_walk(fs, dir, path, END_KEEP, ret_place);

	if (e != WASI_OK)
		return e;
	if (ret_place->node)
		return WASI_EXIST;
	if (ret_place->slash)
		return WASI_NOENT; /* only a directory may be made so */
	return place_may_make(fs, ret_place);
}

enum wasi_errno
memfs_symlink(struct memfs *fs, struct span target, struct memfs_node *dir,
    struct span path)
{
	struct place place;
	enum wasi_errno e;

	if (target.n == 0)
		return WASI_NOENT;
	if (target.n >= GUEST_PATH_MAX)
		return WASI_NAMETOOLONG;
	if (memchr(target.p, 0, target.n))
		return WASI_INVAL;
	e = walk_to_new(fs, dir, path, &place);
	if (e != WASI_OK)
		return e;
	if (fs->bytes >= fs->limits.bytes ||
	    target.n > fs->limits.bytes - fs->bytes)
		return WASI_NOSPC;
	return place_make_new(fs, &place, node_new_symlink(fs, target));
}

enum wasi_errno
memfs_readlink(struct memfs *fs, struct memfs_node *dir, struct span path,
    struct span *ret_target)
{
	struct memfs_node *node;
	enum wasi_errno e = memfs_lookup(fs, dir, path, false, &node);

	if (e == WASI_OK && node->type != WASI_TYPE_LINK)
		e = WASI_INVAL;
	if (e == WASI_OK)
		*ret_target = node->target;
	return e;
}

enum wasi_errno
memfs_link(struct memfs *fs, struct memfs_node *from_dir, struct span from,
    bool follow, struct memfs_node *to_dir, struct span to)
{
	struct memfs_node *node;
	struct place place;
	enum wasi_errno e = memfs_lookup(fs, from_dir, from, follow, &node);

	if (e == WASI_OK)
		e = walk_to_new(fs, to_dir, to, &place);
	if (e != WASI_OK)
		return e;
	if (node->type == WASI_TYPE_DIR)
		return WASI_PERM;
	if (node->readonly || node->type == WASI_TYPE_CHAR)
		return WASI_XDEV;
	if (node->names >= GUEST_LINKS_MAX)
		return WASI_MLINK;
	e = place_make(fs, &place, node);
	if (e == WASI_OK)
		node_changed(fs, node);
	return e;
}

/* Whether dir is node or below it. */
static bool
node_contains(const struct memfs_node *node, const struct memfs_node *dir)
{
	const struct memfs_node *up;

	while (dir != node) {
		up = dir->dir.parent;
		if (!up || up == dir)
			return false;
		dir = up;
	}
	return true;
}

/* The root above dir; NULL if a directory on the way was removed. */
static const struct memfs_node *
node_root(const struct memfs_node *dir)
{
	const struct memfs_node *up = dir->dir.parent;

	while (up && up != dir) {
		dir = up;
		up = dir->dir.parent;
	}
	return up;
}

/* The checks of rename in the order of Linux, which programs see. */
static enum wasi_errno
rename_check(const struct place *from, const struct place *to)
{
	bool is_dir;

	if (from->last != LAST_NAME || to->last != LAST_NAME)
		return WASI_BUSY;
	if (!from->node)
		return WASI_NOENT;
	is_dir = from->node->type == WASI_TYPE_DIR;
	if (!is_dir && (from->slash || to->slash))
		return WASI_NOTDIR;
	if (node_root(from->dir) != node_root(to->dir))
		return to->dir->dir.parent ? WASI_XDEV : WASI_NOENT;
	if (is_dir && node_contains(from->node, to->dir))
		return WASI_INVAL;
	if (to->node && from->dir != to->dir &&
	    node_contains(to->node, from->dir))
		return WASI_NOTEMPTY;
	if (to->dir->readonly || (to->node && to->node->readonly))
		return WASI_ROFS;
	if (to->node == from->node || !to->node)
		return place_may_remove(from);
	if (is_dir && to->node->type != WASI_TYPE_DIR)
		return WASI_NOTDIR;
	if (!is_dir && to->node->type == WASI_TYPE_DIR)
		return WASI_ISDIR;
	if (is_dir && to->node->dir.live > 0)
		return WASI_NOTEMPTY;
	return place_may_remove(from);
}

/* The target's entry leads to the source's node, so that a listing under
 * way shows the name once; then the source's entry goes. */
static void
rename_over(struct memfs *fs, const struct place *from, const struct place *to)
{
	struct memfs_node *moved = from->node, *gone = to->node;

	fs->entries -= from->entry->counted;
	dir_remove(from->entry);
	dir_replace(to->entry, moved);
	to->entry->since = fs->marks;
	node_changed(fs, gone);
	node_drop(fs, gone);
}

/* The entry with the new name, or NULL. */
static struct memfs_entry *
rename_to_new(const struct place *from, const struct place *to)
{
	struct memfs_node *moved = from->node;
	struct memfs_entry *entry;

	if (from->dir == to->dir)
		return dir_rename(from->entry, to->name);
	entry = dir_add(to->dir, to->name, moved, from->entry->counted);
	if (!entry)
		return NULL;
	dir_remove(from->entry);
	if (moved->type == WASI_TYPE_DIR) {
		moved->dir.entry = entry;
		moved->dir.parent = to->dir;
	}
	return entry;
}

enum wasi_errno
memfs_rename(struct memfs *fs, struct memfs_node *from_dir, struct span from,
    struct memfs_node *to_dir, struct span to)
{
	struct place old = { 0 }, new = { 0 };
	struct memfs_entry *entry = NULL;
	enum wasi_errno e = memfs_walk(fs, from_dir, from, END_KEEP, &old);

	if (e == WASI_OK)
		e = memfs_walk(fs, to_dir, to, END_KEEP, &new);
	if (e == WASI_OK)
		e = rename_check(&old, &new);
	if (e != WASI_OK || old.node == new.node)
		return e; /* two names of one file: both stay */
	if (new.node) {
		rename_over(fs, &old, &new);
	} else {
		entry = rename_to_new(&old, &new);
		if (!entry)
			return WASI_NOMEM;
		entry->since = fs->marks;
	}
	node_modified(fs, old.dir);
	node_modified(fs, new.dir);
	node_changed(fs, old.node);
	return WASI_OK;
}

/* Opening what is there. */
static enum wasi_errno
open_check(const struct place *place, const struct memfs_how *how)
{
	const struct memfs_node *node = place->node;
	bool truncate = how->oflags & WASI_OPEN_TRUNCATE;

	if (how->oflags & WASI_OPEN_CREATE && how->oflags & WASI_OPEN_EXCLUSIVE)
		return WASI_EXIST;
	if (node->type == WASI_TYPE_DIR) {
		if (how->change || truncate || how->oflags & WASI_OPEN_CREATE)
			return WASI_ISDIR;
		return WASI_OK;
	}
	if (place->slash || how->oflags & WASI_OPEN_DIRECTORY)
		return WASI_NOTDIR;
	if (node->type == WASI_TYPE_LINK)
		return WASI_LOOP;
	if (node->type == WASI_TYPE_FILE && node->readonly &&
	    (how->change || truncate))
		return WASI_ROFS;
	return WASI_OK;
}

static enum wasi_errno
open_there(
    struct memfs *fs, const struct place *place, const struct memfs_how *how)
{
	enum wasi_errno e = open_check(place, how);

	if (e == WASI_OK && how->oflags & WASI_OPEN_TRUNCATE &&
	    place->node->type == WASI_TYPE_FILE)
		e = memfs_resize(fs, place->node, 0);
	return e;
}

static enum wasi_errno
open_new(struct memfs *fs, struct place *place, const struct memfs_how *how)
{
	enum wasi_errno e;

	if (!(how->oflags & WASI_OPEN_CREATE))
		return WASI_NOENT;
	e = place_may_make(fs, place);
	if (e != WASI_OK)
		return e;
	place->node = node_new(fs, WASI_TYPE_FILE);
	return place_make_new(fs, place, place->node);
}

static enum walk_end
open_end(const struct memfs_how *how)
{
	if (!(how->oflags & WASI_OPEN_CREATE))
		return how->follow ? END_FOLLOW : END_SLASH;
	return how->follow && !(how->oflags & WASI_OPEN_EXCLUSIVE)
		   ? END_CREATE
		   : END_CREATE_NEW;
}

enum wasi_errno
memfs_open(struct memfs *fs, struct memfs_node *dir, struct span path,
    const struct memfs_how *how, struct memfs_node **ret_node)
{
	struct place place;
	enum wasi_errno e;

	if (how->oflags & ~WASI_OPEN_ALL ||
	    (how->oflags & WASI_OPEN_CREATE &&
		how->oflags & WASI_OPEN_DIRECTORY))
		return WASI_INVAL;
	e = memfs_walk(fs, dir, path, open_end(how), &place);
	if (e != WASI_OK)
		return e;
	e = place.node ? open_there(fs, &place, how)
		       : open_new(fs, &place, how);
	if (e != WASI_OK)
		return e;
	memfs_hold(place.node);
	*ret_node = place.node;
	return WASI_OK;
}
