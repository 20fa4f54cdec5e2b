/* memfs_save.c: the writable part of a tree as bytes, and back: a record per
 * name, directories before what they hold. Directories and files are numbered
 * in the order of their records; the roots have the first numbers.
 * What is loaded was written by memfs_save; ranges are checked all the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/memfs_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAVE_MAGIC   "memfs 1\n"
#define SAVE_MAGIC_N 8u

enum record_kind {
	RECORD_END,
	RECORD_DIR,
	RECORD_FILE,
	RECORD_SYMLINK,
	RECORD_NAME, /* one more name of a file or symlink */
};

/* A record's fixed part. What follows it: the name, then for a file
 * (u64 size, u32 chunks, and per chunk u64 offset, u32 n, bytes), for a
 * symlink (u32 n, target). */
struct record {
	uint32_t kind;
	uint32_t parent; /* a directory's number */
	uint32_t of;     /* RECORD_NAME: the number of the file */
	uint32_t readonly;
	uint64_t atim_ns, mtim_ns, ctim_ns;
	uint32_t name_n;
	uint32_t zero;
};

/* ---- saving ---- */

struct saver {
	struct buf *into;
	uint32_t dirs, files; /* numbers given so far */
	int r;                /* the first failure */
};

static void
save_bytes(struct saver *saver, const void *bytes, size_t n)
{
	if (saver->r == 0)
		saver->r = buf_add(saver->into, bytes, n);
}

static void
save_record(
    struct saver *saver, const struct memfs_entry *entry, enum record_kind kind)
{
	const struct memfs_node *node = entry->node;
	struct record record = {
		.kind = kind,
		.parent = entry->dir->saved_no,
		.of = node->saved_no,
		.readonly = node->readonly,
		.atim_ns = node->atim_ns,
		.mtim_ns = node->mtim_ns,
		.ctim_ns = node->ctim_ns,
		.name_n = entry->name_n,
	};

	save_bytes(saver, &record, sizeof(record));
	save_bytes(saver, entry->name, entry->name_n);
}

/* What of a chunk belongs to the file: it may hold zeros past its end. */
static uint32_t
chunk_used(const struct data *data, const struct chunk *chunk)
{
	uint64_t left = data->size - chunk->index * CHUNK_BYTES;

	return left < chunk->cap ? (uint32_t)left : chunk->cap;
}

static void
save_data(struct saver *saver, const struct data *data)
{
	save_bytes(saver, &data->size, sizeof(data->size));
	save_bytes(saver, &data->chunks_n, sizeof(data->chunks_n));
	for (uint32_t i = 0; i < data->chunks_n; i++) {
		const struct chunk *chunk = &data->chunks[i];
		uint64_t offset = chunk->index * CHUNK_BYTES;
		uint32_t n = chunk_used(data, chunk);

		save_bytes(saver, &offset, sizeof(offset));
		save_bytes(saver, &n, sizeof(n));
		save_bytes(saver, chunk->bytes, n);
	}
}

static void
save_symlink(struct saver *saver, const struct memfs_node *node)
{
	uint32_t n = (uint32_t)node->target.n;

	save_bytes(saver, &n, sizeof(n));
	save_bytes(saver, node->target.p, n);
}

static void
save_leaf(struct saver *saver, const struct memfs_entry *entry)
{
	struct memfs_node *node = entry->node;
	bool is_file = node->type == WASI_TYPE_FILE;

	if (entry->dir->readonly || node->type == WASI_TYPE_CHAR ||
	    (is_file && node->data.borrowed))
		return;
	if (node->saved_no > 0) {
		save_record(saver, entry, RECORD_NAME);
		return;
	}
	node->saved_no = ++saver->files;
	save_record(saver, entry, is_file ? RECORD_FILE : RECORD_SYMLINK);
	if (is_file)
		save_data(saver, &node->data);
	else
		save_symlink(saver, node);
}

static void
save_root(struct saver *saver, struct memfs_node *root)
{
	struct memfs_entry *entry = NULL;

	while ((entry = tree_next(root, entry)) != NULL) {
		if (entry->node->type != WASI_TYPE_DIR) {
			save_leaf(saver, entry);
			continue;
		}
		entry->node->saved_no = saver->dirs++;
		save_record(saver, entry, RECORD_DIR);
	}
}

int
memfs_save(struct memfs *fs, struct buf *into)
{
	struct saver saver = { .into = into };
	struct record end = { .kind = RECORD_END };

	for (struct memfs_node *node = fs->nodes; node; node = node->next)
		node->saved_no = 0;
	save_bytes(&saver, SAVE_MAGIC, SAVE_MAGIC_N);
	for (unsigned i = 0; i < fs->roots_n; i++)
		fs->roots[i]->saved_no = saver.dirs++;
	for (unsigned i = 0; i < fs->roots_n; i++)
		save_root(&saver, fs->roots[i]);
	save_bytes(&saver, &end, sizeof(end));
	return saver.r;
}

/* ---- loading ---- */

struct loader {
	struct memfs *fs;
	struct span rest;
	struct memfs_node **dirs, **files; /* by number */
	uint32_t dirs_n, dirs_cap, files_n, files_cap;
};

static const uint8_t *
load_span(struct loader *loader, size_t n)
{
	const uint8_t *p = loader->rest.p;

	if (n > loader->rest.n)
		return NULL;
	loader->rest.p += n;
	loader->rest.n -= n;
	return p;
}

static bool
load_value(struct loader *loader, void *ret_value, size_t n)
{
	const uint8_t *p = load_span(loader, n);

	if (p)
		memcpy(ret_value, p, n);
	return p != NULL;
}

static int
list_add(struct memfs_node ***list, uint32_t *n, uint32_t *cap,
    struct memfs_node *node)
{
	if (*n == *cap) {
		uint32_t more = *cap ? *cap * 2 : 64;
		struct memfs_node **grown =
		    realloc(*list, more * sizeof(struct memfs_node *));

		if (!grown)
			return -ENOMEM;
		*list = grown;
		*cap = more;
	}
	(*list)[(*n)++] = node;
	return 0;
}

static int
load_add_dir(struct loader *loader, struct memfs_node *node)
{
	return list_add(
	    &loader->dirs, &loader->dirs_n, &loader->dirs_cap, node);
}

static int
load_add_file(struct loader *loader, struct memfs_node *node)
{
	return list_add(
	    &loader->files, &loader->files_n, &loader->files_cap, node);
}

static void
load_times(struct memfs_node *node, const struct record *record)
{
	node->readonly = record->readonly != 0;
	node->atim_ns = record->atim_ns;
	node->mtim_ns = record->mtim_ns;
	node->ctim_ns = record->ctim_ns;
}

/* Gives a fresh node its name; drops it where that fails. What is loaded
 * does not count as the guest's. */
static int
load_name(struct loader *loader, const struct record *record, struct span name,
    struct memfs_node *node)
{
	struct memfs_node *dir = loader->dirs[record->parent];
	int r = 0;

	if (!node)
		return -ENOMEM;
	if (dir_find(&dir->dir, name))
		r = -EEXIST;
	else if (!dir_add(dir, name, node, false))
		r = -ENOMEM;
	if (r < 0)
		node_drop(loader->fs, node);
	return r;
}

static int
load_dir(struct loader *loader, const struct record *record, struct span name)
{
	struct memfs_node *parent = loader->dirs[record->parent];
	struct memfs_entry *entry = dir_find(&parent->dir, name);
	struct memfs_node *node = entry ? entry->node : NULL;
	int r;

	if (!node) {
		node = node_new(loader->fs, WASI_TYPE_DIR);
		r = load_name(loader, record, name, node);
		if (r < 0)
			return r;
	} else if (node->type != WASI_TYPE_DIR) {
		return -ENOTDIR;
	}
	load_times(node, record);
	return load_add_dir(loader, node);
}

static int
load_chunk(struct loader *loader, struct data *data)
{
	const uint8_t *bytes;
	uint64_t offset;
	uint32_t n;
	size_t written;
	enum wasi_errno e;

	if (!load_value(loader, &offset, sizeof(offset)) ||
	    !load_value(loader, &n, sizeof(n)))
		return -EINVAL;
	bytes = load_span(loader, n);
	if (!bytes)
		return -EINVAL;
	if (n == 0)
		return 0;
	e = data_write(loader->fs, data, offset, bytes, n, &written);
	return e == WASI_OK && written == n ? 0 : -ENOSPC;
}

static int
load_data(struct loader *loader, struct data *data)
{
	uint64_t size;
	uint32_t chunks;
	int r = 0;

	if (!load_value(loader, &size, sizeof(size)) ||
	    !load_value(loader, &chunks, sizeof(chunks)) ||
	    size > loader->fs->limits.file_size)
		return -EINVAL;
	for (uint32_t i = 0; r == 0 && i < chunks; i++)
		r = load_chunk(loader, data);
	if (r == 0)
		data_resize(loader->fs, data, size);
	return r;
}

static int
load_file(struct loader *loader, const struct record *record, struct span name)
{
	struct memfs_node *node = node_new(loader->fs, WASI_TYPE_FILE);
	int r = load_name(loader, record, name, node);

	if (r == 0)
		r = load_data(loader, &node->data);
	if (r < 0)
		return r;
	load_times(node, record);
	return load_add_file(loader, node);
}

static int
load_symlink(
    struct loader *loader, const struct record *record, struct span name)
{
	struct memfs_node *node;
	const uint8_t *target;
	uint32_t n;
	int r;

	if (!load_value(loader, &n, sizeof(n)) || n == 0 || n > GUEST_PATH_MAX)
		return -EINVAL;
	target = load_span(loader, n);
	if (!target)
		return -EINVAL;
	node = node_new_symlink(loader->fs, (struct span){ target, n });
	r = load_name(loader, record, name, node);
	if (r < 0)
		return r;
	load_times(node, record);
	return load_add_file(loader, node);
}

static int
load_more_name(
    struct loader *loader, const struct record *record, struct span name)
{
	if (record->of == 0 || record->of > loader->files_n)
		return -EINVAL;
	return load_name(loader, record, name, loader->files[record->of - 1]);
}

static int
load_record(struct loader *loader, const struct record *record)
{
	struct span name = { load_span(loader, record->name_n),
		record->name_n };

	if (!name.p || name.n == 0 || name.n > GUEST_NAME_MAX ||
	    record->parent >= loader->dirs_n || memchr(name.p, '/', name.n))
		return -EINVAL;
	switch (record->kind) {
	case RECORD_DIR:
		return load_dir(loader, record, name);
	case RECORD_FILE:
		return load_file(loader, record, name);
	case RECORD_SYMLINK:
		return load_symlink(loader, record, name);
	case RECORD_NAME:
		return load_more_name(loader, record, name);
	default:
		return -EINVAL;
	}
}

static int
load_records(struct loader *loader)
{
	struct record record;
	int r = 0;

	while (r == 0) {
		if (!load_value(loader, &record, sizeof(record)))
			return -EINVAL;
		if (record.kind == RECORD_END)
			return loader->rest.n == 0 ? 0 : -EINVAL;
		r = load_record(loader, &record);
	}
	return r;
}

int
memfs_load(struct memfs *fs, struct span saved, struct err *err)
{
	struct loader loader = { .fs = fs, .rest = saved };
	const uint8_t *magic = load_span(&loader, SAVE_MAGIC_N);
	int r = 0;

	if (!magic || memcmp(magic, SAVE_MAGIC, SAVE_MAGIC_N) != 0)
		return fail(err, EINVAL, "saved files: unknown format");
	for (unsigned i = 0; r == 0 && i < fs->roots_n; i++)
		r = load_add_dir(&loader, fs->roots[i]);
	if (r == 0)
		r = load_records(&loader);
	free(loader.dirs);
	free(loader.files);
	if (r < 0)
		return fail(err, -r, "saved files: %s at byte %zu",
		    strerror(-r), saved.n - loader.rest.n);
	return 0;
}
