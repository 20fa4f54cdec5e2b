/* artifacts_dirs.h: the places where artifacts may lie. Each place holds one
 * directory per key. One that exists is named without symbolic links, ".."
 * or needless slashes, however it was spelt.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_ARTIFACTS_DIRS_H
#define CONF_ARTIFACTS_DIRS_H

#include "base/err.h"

#include <limits.h>
#include <stddef.h>

#define PLACES_MAX 2

struct places {
	size_t n;
	char dir[PLACES_MAX][PATH_MAX];
};

/* Where to look, in this order: $BREAKROOM_DATA alone if it is set (an empty
 * value counts as unset), so that a wrong one is noticed; else
 * PREFIX/lib/breakroom and the user's cache. -EINVAL for a relative
 * $BREAKROOM_DATA. A user without a home has no cache. */
int artifacts_places(struct places *ret_places, struct err *err);

/* Where to install: $BREAKROOM_DATA if it is set, else the user's cache:
 * $XDG_CACHE_HOME/breakroom, or .cache/breakroom in $HOME, or in the home that
 * the password file names. -ENOENT when there is none of them. */
int artifacts_install_place(char ret_dir[PATH_MAX], struct err *err);

#endif
