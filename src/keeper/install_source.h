/* install_source.h: the guest's two files, as they were published.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_INSTALL_SOURCE_H
#define KEEPER_INSTALL_SOURCE_H

#include "base/err.h"

#include <limits.h>

struct source {
	char wasm[PATH_MAX];
	char stdlib[PATH_MAX];
};

/* Finds both files in from, or where it is NULL: in guest-files beside the
 * program, in share/breakroom beside its directory, in the build's prefix.
 * -ENOENT says where it looked. */
int source_find(const char *from, struct source *ret_source, struct err *err);

/* Compares the file's SHA-256 with the pinned one. */
int source_check(const char *path, const char *sha256, struct err *err);

#endif
