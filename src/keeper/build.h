/* build.h: the stages of an installation that need the engine. Each is called
 * in a process of its own, which ends after it, so a stage may start threads
 * and need not give its memory back. All write files of mode 0600.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_BUILD_H
#define KEEPER_BUILD_H

#include "base/err.h"
#include "conf/conf.h"
#include "conf/package_list.h"

/* Compiles the guest ahead of time: as it is, or changed as int64.h says. 0 or
 * -errno. */
int build_module(const char *wasm_path, enum int64 int64, const char *out_path,
    struct err *err);

/* Packs matplotlib's data out of the standard library. 0 or -errno. */
int build_mpldata(
    const char *stdlib_zip_path, const char *out_path, struct err *err);

/* dir holds the module, the library and the data: starts the guest, prepares
 * it, and writes ARTIFACT_SNAPSHOT and ARTIFACT_ABOUT. 0 or -errno. */
int build_snapshot(const char *dir, struct err *err);

/* Wheels to be packed, and their files: DIR/NAME-VERSION.whl. */
struct build_wheels {
	const struct package_list *list;
	const char *dir;
};

/* dir holds the module and the library: unpacks and compiles wheels, those of
 * the shelf into ARTIFACT_SHELF, those that were added into ARTIFACT_ADDED;
 * the latter also writes ARTIFACT_LIST, about both. The digest of each wheel
 * is checked. 0 or -errno. */
int build_shelf(
    const char *dir, const struct build_wheels *shelf, struct err *err);
int build_added(const char *dir, const struct build_wheels *shelf,
    const struct build_wheels *added, struct err *err);

/* dir holds the snapshot too: runs the training programs and writes
 * ARTIFACT_HOT. 0 or -errno. */
int build_hot(const char *dir, struct err *err);

#endif
