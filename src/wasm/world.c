/* world.c: the file tree of a room.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/world.h"

#include "wasm/pack.h"

#include <errno.h>
#include <string.h>

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
mpldata_add(struct memfs *fs, const char *path, struct err *err)
{
	struct span pack;
	int r = pack_map(path, &pack, err);

	if (r < 0)
		return r;
	r = memfs_add_root(fs, GUEST_MPLDATA);
	if (r < 0)
		return fail(err, -r, "add a root: %s", strerror(-r));
	r = pack_load(fs, pack, GUEST_MPLDATA, err);
	if (r == 0)
		r = memfs_freeze(fs, GUEST_MPLDATA, true);
	return r;
}

static int
packages_add(struct memfs *fs, const char *path, struct err *err)
{
	struct span pack;
	int r = pack_map(path, &pack, err);

	/* The directory is there even if the pack is empty. */
	if (r == 0 && memfs_add_dir(fs, GUEST_PACKAGES, true) < 0)
		return fail(err, ENOMEM, "make " GUEST_PACKAGES);
	return r < 0 ? r : pack_load(fs, pack, GUEST_PACKAGES, err);
}

static int
library_add(struct memfs *fs, const char *path, struct err *err)
{
	struct span library;
	int r = pack_map(path, &library, err);

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
	if (r == 0 && options->shelf_path)
		r = packages_add(fs, options->shelf_path, err);
	if (r == 0 && options->added_path)
		r = packages_add(fs, options->added_path, err);
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
