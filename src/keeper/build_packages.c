/* build_packages.c: the stage of an installation that packs wheels. They are
 * taken apart in the guest: nothing here reads an archive.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/own.h"
#include "conf/artifacts.h"
#include "keeper/build_impl.h"
#include "keeper/install_source.h"
#include "wasm/pack.h"
#include "wasm/world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define GUEST_WHEELS GUEST_BUILD "/wheels"

/* Puts the wheels where the guest looks for them, under GUEST_WHEELS/kind. */
static int
wheels_in(struct builder *builder, const struct build_wheels *wheels,
    const char *kind, struct err *err)
{
	struct memfs *fs = wasi_fs(builder->wasi);
	char path[PATH_MAX], inside[PATH_MAX];
	struct span bytes = { 0 };
	int r;

	(void)snprintf(inside, sizeof(inside), GUEST_WHEELS "/%s", kind);
	r = memfs_add_dir(fs, inside, true);
	if (r < 0)
		return fail(err, -r, "make %s: %s", inside, strerror(-r));
	for (size_t i = 0; i < wheels->list->n; i++) {
		const struct package *package = &wheels->list->all[i];

		r = source_wheel(wheels->dir, package, path, err);
		if (r == 0)
			r = pack_map(path, &bytes, err);
		if (r < 0)
			return r;
		(void)snprintf(inside, sizeof(inside),
		    GUEST_WHEELS "/%s/%s-%s.whl", kind, package->name,
		    package->version);
		r = memfs_add_file(fs, inside, bytes, true, LIBRARY_TIME_NS);
		if (r < 0)
			return fail(
			    err, -r, "add %s: %s", inside, strerror(-r));
	}
	return 0;
}

/* What is in added is packed, if there is such a list, else the shelf. */
static int
pack_wheels(struct builder *builder, const char *dir,
    const struct build_wheels *shelf, const struct build_wheels *added,
    struct err *err)
{
	char path[ARTIFACT_PATH_MAX];
	int r;

	(void)snprintf(path, sizeof(path), "%s/" ARTIFACT_STDLIB, dir);
	r = builder_open(dir, path, false, builder, err);
	if (r == 0)
		r = wheels_in(builder, shelf, "shelf", err);
	if (r == 0 && added)
		r = wheels_in(builder, added, "added", err);
	if (r == 0)
		r = builder_turn(builder, &guest_wheels, err);
	(void)snprintf(path, sizeof(path), "%s/%s", dir,
	    added ? ARTIFACT_ADDED : ARTIFACT_SHELF);
	return r < 0 ? r
		     : builder_file_out(builder, GUEST_BUILD "/packages.pack",
			   path, PACKAGES_PACK_MAX, err);
}

int
build_shelf(const char *dir, const struct build_wheels *shelf, struct err *err)
{
	struct builder builder = { 0 };

	return pack_wheels(&builder, dir, shelf, NULL, err);
}

int
build_added(const char *dir, const struct build_wheels *shelf,
    const struct build_wheels *added, struct err *err)
{
	struct builder builder = { 0 };
	char path[ARTIFACT_PATH_MAX];
	int r = pack_wheels(&builder, dir, shelf, added, err);

	(void)snprintf(path, sizeof(path), "%s/" ARTIFACT_LIST, dir);
	return r < 0 ? r
		     : builder_file_out(&builder, GUEST_BUILD "/packages.json",
			   path, ABOUT_MAX, err);
}
