/* install_source.h: the guest's two files and the wheels of the shelf, as they
 * were published.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_INSTALL_SOURCE_H
#define KEEPER_INSTALL_SOURCE_H

#include "base/err.h"
#include "conf/package_list.h"

#include <limits.h>

struct source {
	char wasm[PATH_MAX];
	char stdlib[PATH_MAX];
	char shelf[PATH_MAX]; /* the directory of its wheels */
};

/* Finds both files, and the shelf beside them, in from, or where it is NULL: in
 * guest-files beside the program, in share/breakroom beside its directory, in
 * the build's prefix. -ENOENT says where it looked. */
int source_find(const char *from, struct source *ret_source, struct err *err);

/* Compares the file's SHA-256 with the pinned one. */
int source_check(const char *path, const char *sha256, struct err *err);

/* The wheel of a package in dir, DIR/NAME-VERSION.whl, whose digest must be
 * the package's: its path. 0 or -errno. */
int source_wheel(const char *dir, const struct package *package,
    char ret_path[PATH_MAX], struct err *err);

#endif
