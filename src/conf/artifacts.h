/* artifacts.h: where the compiled guest and its snapshot lie, and whether
 * they may be trusted. They live in a directory named by a key over all that
 * they depend on; a start checks owner, mode, sizes, times and header.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_ARTIFACTS_H
#define CONF_ARTIFACTS_H

#include "base/err.h"
#include "conf/conf.h"

#include <limits.h>

#define ARTIFACT_MODULE   "module.cwasm"  /* the compiled guest */
#define ARTIFACT_STDLIB   "stdlib.zip"    /* Python's library, mapped */
#define ARTIFACT_MPLDATA  "mpl-data.pack" /* matplotlib's data, mapped */
#define ARTIFACT_SNAPSHOT "room.snapshot" /* memory after start-up */
#define ARTIFACT_HOT      "room.hot"      /* pages that calls touch */
#define ARTIFACT_ABOUT    "about.json"    /* versions, for descriptions */
#define ARTIFACT_SHELF    "shelf.pack"    /* more packages, mapped */
#define ARTIFACT_ADDED    "added.pack"    /* those that were added */
#define ARTIFACT_LIST     "packages.json" /* what can be imported */
#define ARTIFACT_MANIFEST "manifest"      /* sizes, times and digests */

/* A place for dir, a slash and any of these names. */
#define ARTIFACT_PATH_MAX (PATH_MAX + 64)

struct artifacts {
	char dir[PATH_MAX];
	char key[65]; /* hexadecimal SHA-256, NUL-terminated */
};

/* Finds the artifacts for this build and machine and checks them as said
 * above, in the places that artifacts_dirs.h lists: $BREAKROOM_DATA alone if
 * it is set; else PREFIX/lib/breakroom, then the user's cache. 0; -ENOENT when
 * there are none, -ESTALE when what is there is damaged or for something else:
 * err says which and names "breakroom install". */
int artifacts_find(
    enum int64 int64, struct artifacts *ret_artifacts, struct err *err);

/* The same for a kind of room: where the kind does not need these, the directory
 * of what its own installation made ("rooms/NAME" in one of those places), or ""
 * when there is none, and 0. */
int artifacts_find_for(enum room_id room, enum int64 int64,
    struct artifacts *ret_artifacts, struct err *err);

/* Holds them for as long as *ret_fd, which the caller owns, is open: an
 * installation removes what nobody holds. 0; -ESTALE when they were removed or
 * replaced since they were found; -EWOULDBLOCK when another process has locked
 * them against this. */
int artifacts_hold(
    const struct artifacts *artifacts, int *ret_fd, struct err *err);

/* Reads every file and compares its digest with the manifest's. */
int artifacts_verify(const struct artifacts *artifacts, struct err *err);

#endif
