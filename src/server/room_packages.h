/* room_packages.h: what programs may import, as the installation wrote it down.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_ROOM_PACKAGES_H
#define SERVER_ROOM_PACKAGES_H

#include "base/buf.h"
#include "base/err.h"
#include "conf/artifacts.h"

#include <jansson.h>

/* ARTIFACT_LIST: {"python": version, "library": {name: version, ...},
 * "shelf": ..., "added": ...}. NULL after an error. */
json_t *room_packages_read(const struct artifacts *artifacts, struct err *err);

/* Adds ARTIFACT_ABOUT to *into, with the packages of list beside those of its
 * own. 0 or -errno. */
int room_about_read(const struct artifacts *artifacts, const json_t *list,
    struct buf *into, struct err *err);

#endif
