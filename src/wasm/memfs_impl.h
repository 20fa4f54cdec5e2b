/* memfs_impl.h: what the files of memfs share and nobody else includes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_MEMFS_IMPL_H
#define WASM_MEMFS_IMPL_H

#include "conf/limits.h"
#include "wasm/memfs.h"

/* ---- a file's bytes: memfs_data.c ---- */

#define CHUNK_BYTES 65536u

/* The part of a file from index * CHUNK_BYTES on. Only cap bytes of it are
 * held; the rest of the chunk reads as zeros, and so does a chunk that is
 * absent, where the file borrows no bytes.
 * Bytes past the end of the file are zero, too. */
struct chunk {
	uint64_t index;
	uint32_t cap;
	uint8_t *bytes;
};

/* A file may borrow its first bytes. Where it has a chunk, that holds what was
 * borrowed there, too, as it was when the chunk was made. */
struct data {
	uint64_t size;
	const uint8_t *borrowed; /* or NULL */
	uint64_t borrowed_n;     /* of them, at most size */
	struct chunk *chunks;    /* by index */
	uint32_t chunks_n, chunks_cap;
};

enum wasi_errno data_write(struct memfs *fs, struct data *data, uint64_t offset,
    const uint8_t *bytes, size_t n, size_t *ret_n);
size_t data_read(
    const struct data *data, uint64_t offset, uint8_t *bytes, size_t n);
void data_resize(struct memfs *fs, struct data *data, uint64_t size);

/* ---- a directory's entries: memfs_dir.c ---- */

/* One name of a node. */
struct memfs_entry {
	struct memfs_entry *next; /* in its bucket */
	struct memfs_node *dir;   /* where it stands */
	struct memfs_node *node;
	uint64_t cookie; /* grows with every entry that a directory gets */
	uint32_t hash;
	uint32_t since; /* fs->marks when it got its name, or its node */
	bool counted;   /* made by the guest: counts against its quota */
	uint8_t name_n;
	uint8_t name[];
};

/* The entries in the order of their cookies; a removed one leaves a slot
 * without entry until the slots are packed. */
struct slot {
	uint64_t cookie;
	struct memfs_entry *entry;
};

struct dir {
	struct memfs_node *parent; /* itself for a root; NULL once removed */
	struct memfs_entry *entry; /* its name in parent; NULL for a root */
	struct memfs_entry **buckets;
	struct slot *slots;
	uint32_t buckets_n; /* a power of two, or 0 */
	uint32_t slots_n, slots_cap;
	uint32_t live;    /* entries */
	uint32_t subdirs; /* those that are directories */
	uint64_t last_cookie;
};

#define COOKIE_DOT    1u
#define COOKIE_DOTDOT 2u /* entries have larger ones */

/* ---- nodes: memfs.c ---- */

struct memfs_node {
	struct memfs_node *prev, *next; /* all nodes of the tree */
	uint64_t ino;
	uint64_t atim_ns, mtim_ns, ctim_ns;
	uint32_t names; /* entries that lead here */
	uint32_t holds; /* open descriptors */
	enum wasi_filetype type;
	enum memfs_device device;
	bool readonly;
	uint32_t changed;  /* fs->marks when its content last changed */
	uint32_t saved_no; /* only meaningful within memfs_save */
	union {
		struct data data;
		struct dir dir;
		struct span target; /* owned */
	};
};

struct memfs {
	struct memfs_limits limits;
	struct memfs_hooks hooks;
	uint64_t bytes, bytes_peak;
	uint32_t entries;
	uint32_t marks; /* made so far */
	uint64_t last_ino;
	struct memfs_node *nodes;
	unsigned roots_n;
	struct memfs_node *roots[MEMFS_ROOTS_MAX];
	char *root_names[MEMFS_ROOTS_MAX];
};

uint64_t memfs_now(const struct memfs *fs);
/* Takes n more bytes from the quota. */
void memfs_charge(struct memfs *fs, uint64_t n);

/* A node without a name. NULL without memory. */
struct memfs_node *node_new(struct memfs *fs, enum wasi_filetype type);
/* Frees the node if nothing leads to it any more. */
void node_drop(struct memfs *fs, struct memfs_node *node);
/* Its content changed, or only what is known about it. */
void node_modified(struct memfs *fs, struct memfs_node *node);
void node_changed(struct memfs *fs, struct memfs_node *node);
/* A copy of target as the target of a new symlink. */
struct memfs_node *node_new_symlink(struct memfs *fs, struct span target);

struct memfs_entry *dir_find(const struct dir *dir, struct span name);
/* A new entry at the end of the listing. NULL without memory. */
struct memfs_entry *dir_add(struct memfs_node *at, struct span name,
    struct memfs_node *node, bool counted);
/* Removes and frees the entry; the node stays. */
void dir_remove(struct memfs_entry *entry);
/* Gives the entry another name at the same place of the listing. NULL without
 * memory, then nothing changed; else the entry, which may have moved. */
struct memfs_entry *dir_rename(struct memfs_entry *entry, struct span name);
/* Lets the entry lead to another node. */
void dir_replace(struct memfs_entry *entry, struct memfs_node *node);
/* The first entry behind the cookie, or NULL. */
struct memfs_entry *dir_after(const struct dir *dir, uint64_t cookie);
void dir_done(struct dir *dir);

/* The entry that follows in a walk over all that is below top, directories
 * before what they hold; after NULL: the first. Needs no stack: a directory
 * knows its own entry. */
struct memfs_entry *tree_next(
    const struct memfs_node *top, const struct memfs_entry *after);

/* ---- the host's words: memfs_host.c ---- */

/* The errno that says the same. */
int memfs_errno(enum wasi_errno e);

/* The node at an absolute path. 0 or -errno. */
int memfs_find(struct memfs *fs, const char *path, bool follow,
    struct memfs_node **ret_node);

/* ---- paths: memfs_walk.c ---- */

enum walk_last {
	LAST_NAME,
	LAST_DOT,
	LAST_DOTDOT
};

/* What to do with a symlink that the whole path names. */
enum walk_end {
	END_KEEP,  /* never follow */
	END_SLASH, /* follow if a slash stands behind it */
	END_FOLLOW,
	/* For a file that may be made: a slash behind its name is ISDIR, even
	 * if there is a symlink. */
	END_CREATE,     /* follow */
	END_CREATE_NEW, /* never follow */
};

struct place {
	struct memfs_node *dir; /* of the last component */
	enum walk_last last;
	struct span name;          /* if LAST_NAME */
	bool slash;                /* a slash stands behind it */
	struct memfs_entry *entry; /* NULL: nothing there, or not LAST_NAME */
	struct memfs_node *node;   /* NULL: nothing there */
};

enum wasi_errno memfs_walk(struct memfs *fs, struct memfs_node *dir,
    struct span path, enum walk_end end, struct place *ret_place);

/* The index of the root with the longest name that begins the absolute path,
 * and what of the path is left behind it (without slashes in front). */
unsigned memfs_root_of(
    const struct memfs *fs, struct span path, struct span *ret_rest);

/* The next component of *path, which is shortened; empty at its end. */
struct span path_component(struct span *path);

#endif
