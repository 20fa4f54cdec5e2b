/* world.c: the file tree of a room.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/world.h"

#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PACK_MAGIC     "BRKPACK1"
#define PACK_PATH_MAX  512u
#define PACK_FILES_MAX 4096u /* matplotlib has about 200 */

/* 2026-01-01: a fixed time, so that two installations are alike. */
#define LIBRARY_TIME_NS (1767225600ull * 1000000000ull)

static const char *const world_argv[] = { "/usr/local/bin/python.wasm", NULL };

static const char *const world_env[] = {
	"HOME=/workspace",
	"LANG=C.UTF-8",
	"MPLBACKEND=agg",
	"MPLCONFIGDIR=/tmp/.mpl",
	"PWD=/workspace",
	"PYTHONTZPATH=",
	"TMPDIR=/tmp",
	"TZ=UTC",
	"USER=user",
	NULL,
};

static int
map_file(const char *path, struct span *ret_bytes, struct err *err)
{
	own_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	void *bytes;

	if (fd < 0)
		return fail_errno(err, "open %s", path);
	if (fstat(fd, &about) < 0 || about.st_size == 0)
		return fail(err, EINVAL, "%s is empty", path);
	bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return fail_errno(err, "map %s", path);
	*ret_bytes = (struct span){ bytes, (size_t)about.st_size };
	return 0;
}

struct pack_entry { /* as guest/pack.py writes it, before the path */
	uint32_t path_n;
	uint64_t offset;
	uint64_t size;
} __attribute__((packed));

static int
pack_add(struct memfs *fs, struct span pack, const struct pack_entry *entry,
    const uint8_t *name, struct err *err)
{
	char path[PACK_PATH_MAX + sizeof(GUEST_MPLDATA) + 2];
	int r;

	if (entry->offset > pack.n || entry->size > pack.n - entry->offset)
		return fail(err, EPROTO, "a packed file lies outside the pack");
	(void)snprintf(path, sizeof(path), "%s/%.*s", GUEST_MPLDATA,
	    (int)entry->path_n, (const char *)name);
	r = memfs_add_file(fs, path,
	    (struct span){ pack.p + entry->offset, (size_t)entry->size }, true,
	    LIBRARY_TIME_NS);
	return r < 0 ? fail(err, -r, "add %s: %s", path, strerror(-r)) : 0;
}

static int
pack_load(struct memfs *fs, struct span pack, struct err *err)
{
	size_t at = sizeof(PACK_MAGIC) - 1;
	uint32_t count;
	int r = 0;

	if (pack.n < at + sizeof(count) || memcmp(pack.p, PACK_MAGIC, at) != 0)
		return fail(err, EPROTO, "not a pack of files");
	memcpy(&count, pack.p + at, sizeof(count));
	at += sizeof(count);
	if (count > PACK_FILES_MAX)
		return fail(err, EPROTO, "a pack of %u files", count);
	while (count-- > 0 && r == 0) {
		struct pack_entry entry;

		if (pack.n - at < sizeof(entry))
			return fail(err, EPROTO, "the pack is cut short");
		memcpy(&entry, pack.p + at, sizeof(entry));
		at += sizeof(entry);
		if (entry.path_n > PACK_PATH_MAX || entry.path_n > pack.n - at)
			return fail(err, EPROTO, "the pack is cut short");
		r = pack_add(fs, pack, &entry, pack.p + at, err);
		at += entry.path_n;
	}
	return r;
}

static int
mpldata_add(struct memfs *fs, const char *path, struct err *err)
{
	struct span pack;
	int r = map_file(path, &pack, err);

	if (r < 0)
		return r;
	r = memfs_add_root(fs, GUEST_MPLDATA);
	if (r < 0)
		return fail(err, -r, "add a root: %s", strerror(-r));
	r = pack_load(fs, pack, err);
	if (r == 0)
		r = memfs_freeze(fs, GUEST_MPLDATA, true);
	return r;
}

static int
library_add(struct memfs *fs, const char *path, struct err *err)
{
	struct span library;
	int r = map_file(path, &library, err);

	if (r < 0)
		return r;
	r = memfs_add_file(fs, GUEST_STDLIB, library, true, LIBRARY_TIME_NS);
	return r < 0 ? fail(err, -r, "add the library: %s", strerror(-r)) : 0;
}

/* Directories and devices; what the guest may write to is last. */
static int
base_add(struct memfs *fs, bool building)
{
	int r = memfs_add_dir(fs, "/usr/local/bin", true);

	if (r == 0)
		r = memfs_add_device(fs, "/dev/null", MEMFS_NULL);
	if (r == 0)
		r = memfs_add_device(fs, "/dev/zero", MEMFS_ZERO);
	if (r == 0)
		r = memfs_add_device(fs, "/dev/random", MEMFS_RANDOM);
	if (r == 0)
		r = memfs_add_device(fs, "/dev/urandom", MEMFS_RANDOM);
	if (r == 0)
		r = memfs_add_dir(fs, "/tmp", false);
	if (r == 0)
		r = memfs_add_dir(fs, GUEST_WORKSPACE, false);
	if (r == 0 && building)
		r = memfs_add_dir(fs, GUEST_BUILD, false);
	return r;
}

static int
tree_fill(
    struct memfs *fs, const struct world_options *options, struct err *err)
{
	int r = base_add(fs, options->building);

	if (r < 0)
		return fail(err, -r, "make the file tree: %s", strerror(-r));
	r = library_add(fs, options->stdlib_path, err);
	if (r == 0 && options->mpldata_path)
		r = mpldata_add(fs, options->mpldata_path, err);
	if (r == 0)
		r = memfs_freeze(fs, "/usr", true);
	if (r == 0)
		r = memfs_freeze(fs, "/dev", true);
	if (r == 0)
		r = memfs_freeze(fs, "/", false);
	return r;
}

int
world_new(const struct world_options *options, struct wasi **ret_wasi,
    struct err *err)
{
	struct memfs *fs = memfs_new(&options->limits);
	struct wasi_config config = {
		.fs = fs, .argv = world_argv, .env = world_env
	};
	int r;

	if (!fs)
		return fail(err, ENOMEM, "make the file tree");
	r = tree_fill(fs, options, err);
	if (r == 0)
		r = wasi_new(&config, ret_wasi, err);
	if (r < 0)
		memfs_free(fs);
	return r;
}
