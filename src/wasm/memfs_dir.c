/* memfs_dir.c: the entries of a directory: found by a hash table, listed in
 * the order of cookies which never come twice, so that a listing neither
 * skips nor repeats an entry that stays while others come and go.
 * Hostile input: names. Pure; fuzzed by fuzz_memfs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/memfs_impl.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS_FIRST 8u
#define SLOTS_FIRST   8u
#define SLOTS_TO_PACK 32u /* fewer are not worth packing */

/* FNV-1a: who makes names collide slows down only its own call. */
static uint32_t
name_hash(struct span name)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < name.n; i++)
		hash = (hash ^ name.p[i]) * 16777619u;
	return hash;
}

static struct memfs_entry **
dir_bucket(const struct dir *dir, uint32_t hash)
{
	return &dir->buckets[hash & (dir->buckets_n - 1)];
}

struct memfs_entry *
dir_find(const struct dir *dir, struct span name)
{
	uint32_t hash = name_hash(name);
	struct memfs_entry *entry;

	if (dir->buckets_n == 0)
		return NULL;
	for (entry = *dir_bucket(dir, hash); entry; entry = entry->next) {
		if (entry->hash == hash && entry->name_n == name.n &&
		    memcmp(entry->name, name.p, name.n) == 0)
			return entry;
	}
	return NULL;
}

static void
bucket_put(struct dir *dir, struct memfs_entry *entry)
{
	struct memfs_entry **bucket = dir_bucket(dir, entry->hash);

	entry->next = *bucket;
	*bucket = entry;
}

static void
bucket_take(struct dir *dir, const struct memfs_entry *entry)
{
	struct memfs_entry **link = dir_bucket(dir, entry->hash);

	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
}

static bool
buckets_grow(struct dir *dir)
{
	uint32_t n = dir->buckets_n ? dir->buckets_n * 2 : BUCKETS_FIRST;
	struct memfs_entry **buckets = calloc(n, sizeof(struct memfs_entry *));

	if (!buckets)
		return false;
	free(dir->buckets);
	dir->buckets = buckets;
	dir->buckets_n = n;
	for (uint32_t i = 0; i < dir->slots_n; i++) {
		if (dir->slots[i].entry)
			bucket_put(dir, dir->slots[i].entry);
	}
	return true;
}

/* The first slot whose cookie is larger. */
static uint32_t
slot_after(const struct dir *dir, uint64_t cookie)
{
	uint32_t low = 0, high = dir->slots_n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (dir->slots[middle].cookie <= cookie)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct slot *
slot_of(const struct dir *dir, const struct memfs_entry *entry)
{
	return &dir->slots[slot_after(dir, entry->cookie - 1)];
}

static void
slots_pack(struct dir *dir)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < dir->slots_n; i++) {
		if (dir->slots[i].entry)
			dir->slots[kept++] = dir->slots[i];
	}
	dir->slots_n = kept;
}

static bool
slots_make_room(struct dir *dir)
{
	uint32_t cap = dir->slots_cap ? dir->slots_cap * 2 : SLOTS_FIRST;
	struct slot *slots;

	if (dir->slots_n < dir->slots_cap)
		return true;
	if (dir->live < dir->slots_n / 2) {
		slots_pack(dir);
		return true;
	}
	slots = realloc(dir->slots, cap * sizeof(*slots));
	if (!slots)
		return false;
	dir->slots = slots;
	dir->slots_cap = cap;
	return true;
}

static struct memfs_entry *
entry_new(struct memfs_node *dir, struct span name, struct memfs_node *node)
{
	struct memfs_entry *entry = malloc(sizeof(*entry) + name.n);

	if (!entry)
		return NULL;
	*entry = (struct memfs_entry){
		.dir = dir,
		.node = node,
		.hash = name_hash(name),
		.name_n = (uint8_t)name.n,
	};
	memcpy(entry->name, name.p, name.n);
	return entry;
}

/* The node has one more name: entry. */
static void
entry_attach(struct memfs_entry *entry)
{
	struct memfs_node *node = entry->node;

	node->names++;
	if (node->type != WASI_TYPE_DIR)
		return;
	node->dir.entry = entry;
	node->dir.parent = entry->dir;
	entry->dir->dir.subdirs++;
}

static void
entry_detach(struct memfs_entry *entry)
{
	struct memfs_node *node = entry->node;

	node->names--;
	if (node->type != WASI_TYPE_DIR)
		return;
	node->dir.entry = NULL;
	node->dir.parent = NULL;
	entry->dir->dir.subdirs--;
}

struct memfs_entry *
dir_add(struct memfs_node *at, struct span name, struct memfs_node *node,
    bool counted)
{
	struct dir *dir = &at->dir;
	struct memfs_entry *entry;

	if (dir->live >= dir->buckets_n && !buckets_grow(dir))
		return NULL;
	if (!slots_make_room(dir))
		return NULL;
	entry = entry_new(at, name, node);
	if (!entry)
		return NULL;
	entry->counted = counted;
	entry->cookie = ++dir->last_cookie;
	dir->slots[dir->slots_n++] =
	    (struct slot){ .cookie = entry->cookie, .entry = entry };
	bucket_put(dir, entry);
	dir->live++;
	entry_attach(entry);
	return entry;
}

void
dir_remove(struct memfs_entry *entry)
{
	struct dir *dir = &entry->dir->dir;

	entry_detach(entry);
	bucket_take(dir, entry);
	slot_of(dir, entry)->entry = NULL;
	free(entry);
	dir->live--;
	if (dir->slots_n > SLOTS_TO_PACK && dir->live < dir->slots_n / 4)
		slots_pack(dir);
}

struct memfs_entry *
dir_rename(struct memfs_entry *entry, struct span name)
{
	struct dir *dir = &entry->dir->dir;
	struct memfs_entry *fresh = entry_new(entry->dir, name, entry->node);

	if (!fresh)
		return NULL;
	fresh->counted = entry->counted;
	fresh->cookie = entry->cookie;
	bucket_take(dir, entry);
	slot_of(dir, entry)->entry = fresh;
	bucket_put(dir, fresh);
	if (fresh->node->type == WASI_TYPE_DIR)
		fresh->node->dir.entry = fresh;
	free(entry);
	return fresh;
}

void
dir_replace(struct memfs_entry *entry, struct memfs_node *node)
{
	entry_detach(entry);
	entry->node = node;
	entry_attach(entry);
}

struct memfs_entry *
dir_after(const struct dir *dir, uint64_t cookie)
{
	for (uint32_t i = slot_after(dir, cookie); i < dir->slots_n; i++) {
		if (dir->slots[i].entry)
			return dir->slots[i].entry;
	}
	return NULL;
}

void
dir_done(struct dir *dir)
{
	for (uint32_t i = 0; i < dir->slots_n; i++)
		free(dir->slots[i].entry);
	free(dir->slots);
	free(dir->buckets);
}

struct memfs_entry *
tree_next(const struct memfs_node *top, const struct memfs_entry *after)
{
	const struct memfs_node *dir = top;
	struct memfs_entry *entry;
	uint64_t cookie = 0;

	if (after && after->node->type == WASI_TYPE_DIR) {
		dir = after->node;
	} else if (after) {
		dir = after->dir;
		cookie = after->cookie;
	}
	for (;;) {
		entry = dir_after(&dir->dir, cookie);
		if (entry || dir == top)
			return entry;
		cookie = dir->dir.entry->cookie;
		dir = dir->dir.parent;
	}
}

static bool
dirent_of_dots(const struct memfs_node *node, uint64_t cookie,
    struct memfs_dirent *ret_entry)
{
	bool dot = cookie < COOKIE_DOT;

	*ret_entry = (struct memfs_dirent){
		.cookie = dot ? COOKIE_DOT : COOKIE_DOTDOT,
		.ino = dot ? node->ino : node->dir.parent->ino,
		.type = WASI_TYPE_DIR,
		.name = span_of(dot ? "." : ".."),
	};
	return true;
}

bool
memfs_next_entry(const struct memfs_node *node, uint64_t cookie,
    struct memfs_dirent *ret_entry)
{
	const struct memfs_entry *entry;

	if (node->type != WASI_TYPE_DIR || !node->dir.parent)
		return false;
	if (cookie < COOKIE_DOTDOT)
		return dirent_of_dots(node, cookie, ret_entry);
	entry = dir_after(&node->dir, cookie);
	if (!entry)
		return false;
	*ret_entry = (struct memfs_dirent){
		.cookie = entry->cookie,
		.ino = entry->node->ino,
		.type = entry->node->type,
		.name = { entry->name, entry->name_n },
	};
	return true;
}
