/* memfs_walk.c: from a path to a place in the tree.
 * Hostile input: paths and the targets of symlinks. Pure; fuzzed by
 * fuzz_memfs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/memfs_impl.h"

#include <string.h>

/* Where a walk stands. Following a symlink puts its target on top of what is
 * left of the path that named it. */
struct walk {
	struct memfs *fs;
	struct memfs_node *at;
	enum walk_end end;
	unsigned depth;
	unsigned links;
	struct span rest[GUEST_SYMLINKS_MAX + 1];
};

struct span
path_component(struct span *path)
{
	struct span name;
	size_t n = 0;

	while (path->n > 0 && *path->p == '/') {
		path->p++;
		path->n--;
	}
	while (n < path->n && path->p[n] != '/')
		n++;
	name = (struct span){ path->p, n };
	path->p += n;
	path->n -= n;
	return name;
}

/* Whether name (of an absolute path) begins path, at a slash or its end. */
static bool
path_begins(struct span path, const char *name, size_t n)
{
	return path.n >= n && memcmp(path.p, name, n) == 0 &&
	       (path.n == n || path.p[n] == '/');
}

unsigned
memfs_root_of(const struct memfs *fs, struct span path, struct span *ret_rest)
{
	unsigned best = 0;
	size_t best_n = 0;

	for (unsigned i = 1; i < fs->roots_n; i++) {
		size_t n = strlen(fs->root_names[i]);

		if (n > best_n && path_begins(path, fs->root_names[i], n)) {
			best = i;
			best_n = n;
		}
	}
	path.p += best_n;
	path.n -= best_n;
	while (path.n > 0 && *path.p == '/') {
		path.p++;
		path.n--;
	}
	*ret_rest = path;
	return best;
}

static struct span
walk_component(struct walk *walk)
{
	struct span name;

	for (;;) {
		name = path_component(&walk->rest[walk->depth]);
		if (name.n > 0 || walk->depth == 0)
			return name;
		walk->depth--;
	}
}

/* Whether nothing but slashes follows; *ret_slash: at least one does. */
static bool
walk_at_end(const struct walk *walk, bool *ret_slash)
{
	*ret_slash = false;
	for (unsigned i = 0; i <= walk->depth; i++) {
		for (size_t j = 0; j < walk->rest[i].n; j++) {
			if (walk->rest[i].p[j] != '/')
				return false;
			*ret_slash = true;
		}
	}
	return true;
}

/* Whether to follow the symlink that the last component names. */
static bool
walk_follows_last(const struct walk *walk, bool slash)
{
	return walk->end == END_FOLLOW || walk->end == END_CREATE ||
	       (slash && walk->end == END_SLASH);
}

static enum wasi_errno
walk_follow(struct walk *walk, const struct memfs_node *link)
{
	struct span target = link->target;

	if (++walk->links > GUEST_SYMLINKS_MAX)
		return WASI_LOOP;
	if (target.p[0] == '/') {
		unsigned root = memfs_root_of(walk->fs, target, &target);

		walk->at = walk->fs->roots[root];
	}
	walk->rest[++walk->depth] = target;
	return WASI_OK;
}

/* "." and ".."; true if it was one of them. */
static bool
walk_dots(struct walk *walk, struct span name, enum wasi_errno *ret_error)
{
	struct memfs_node *parent = walk->at->dir.parent;

	*ret_error = WASI_OK;
	if (span_is(name, "."))
		return true;
	if (!span_is(name, ".."))
		return false;
	if (!parent)
		*ret_error = WASI_NOENT;
	else if (parent == walk->at && parent != walk->fs->roots[0])
		*ret_error = WASI_NOTCAPABLE;
	else
		walk->at = parent;
	return true;
}

/* A path that ends at a directory without naming it: "a/.", or a link to
 * "/". */
static void
place_at_dir(
    struct memfs_node *dir, enum walk_last last, struct place *ret_place)
{
	*ret_place = (struct place){
		.dir = dir,
		.last = last,
		.node = dir,
	};
}

/* Takes one component. *ret_ended if it was the last one. */
static enum wasi_errno
walk_step(struct walk *walk, struct span name, bool *ret_ended,
    struct place *ret_place)
{
	bool slash, last = walk_at_end(walk, &slash);
	struct memfs_entry *entry;
	enum wasi_errno e;

	*ret_ended = last;
	if (walk->at->type != WASI_TYPE_DIR)
		return WASI_NOTDIR;
	if (name.n > GUEST_NAME_MAX)
		return WASI_NAMETOOLONG;
	if (walk_dots(walk, name, &e)) {
		place_at_dir(
		    walk->at, name.n == 1 ? LAST_DOT : LAST_DOTDOT, ret_place);
		return e;
	}
	entry = dir_find(&walk->at->dir, name);
	if (!entry && !last)
		return WASI_NOENT;
	if (last && slash &&
	    (walk->end == END_CREATE || walk->end == END_CREATE_NEW))
		return WASI_ISDIR;
	if (entry && entry->node->type == WASI_TYPE_LINK &&
	    (!last || walk_follows_last(walk, slash))) {
		*ret_ended = false;
		return walk_follow(walk, entry->node);
	}
	*ret_place = (struct place){
		.dir = walk->at,
		.last = LAST_NAME,
		.name = name,
		.slash = slash,
		.entry = entry,
		.node = entry ? entry->node : NULL,
	};
	if (!last)
		walk->at = entry->node;
	return WASI_OK;
}

static enum wasi_errno
path_check(struct span path)
{
	if (path.n == 0)
		return WASI_NOENT;
	if (path.n >= GUEST_PATH_MAX)
		return WASI_NAMETOOLONG;
	if (memchr(path.p, 0, path.n))
		return WASI_INVAL;
	if (path.p[0] == '/')
		return WASI_NOTCAPABLE;
	return WASI_OK;
}

enum wasi_errno
memfs_walk(struct memfs *fs, struct memfs_node *dir, struct span path,
    enum walk_end end, struct place *ret_place)
{
	struct walk walk;
	struct span name;
	bool ended = false;
	enum wasi_errno e = path_check(path);

	if (e != WASI_OK)
		return e;
	walk.fs = fs;
	walk.at = dir;
	walk.end = end;
	walk.depth = 0;
	walk.links = 0;
	walk.rest[0] = path;
	while (!ended) {
		name = walk_component(&walk);
		if (name.n == 0) {
			place_at_dir(walk.at, LAST_DOT, ret_place);
			break;
		}
		e = walk_step(&walk, name, &ended, ret_place);
		if (e != WASI_OK)
			return e;
	}
	return WASI_OK;
}

/* A slash behind a name asks for a directory. */
static enum wasi_errno
place_exists(const struct place *place)
{
	if (!place->node)
		return WASI_NOENT;
	if (place->slash && place->node->type != WASI_TYPE_DIR)
		return WASI_NOTDIR;
	return WASI_OK;
}

enum wasi_errno
memfs_lookup(struct memfs *fs, struct memfs_node *dir, struct span path,
    bool follow, struct memfs_node **ret_node)
{
	struct place place;
	enum wasi_errno e =
	    memfs_walk(fs, dir, path, follow ? END_FOLLOW : END_SLASH, &place);

	if (e == WASI_OK)
		e = place_exists(&place);
	if (e == WASI_OK)
		*ret_node = place.node;
	return e;
}
