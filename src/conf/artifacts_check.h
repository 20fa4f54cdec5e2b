/* artifacts_check.h: whether one place holds the artifacts of one key.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_ARTIFACTS_CHECK_H
#define CONF_ARTIFACTS_CHECK_H

#include "base/err.h"
#include "conf/artifacts.h"

#include <stddef.h>
#include <sys/stat.h>

/* Checks owner, mode, sizes, times and header of place/key. 0, and
 * *ret_artifacts is filled; -ENOENT when the place holds nothing for any key;
 * -ESTALE when it does, but not for this key, or not intact: err says what. */
int artifacts_check(const char *place, const char *key,
    struct artifacts *ret_artifacts, struct err *err);

/* Checks the same of a directory that is open already, but of its key only so
 * many digits. 0 or -ESTALE. */
int artifacts_check_dir(
    int dir_fd, const char *key, size_t digits, struct err *err);

/* 0 if nobody but its owner, who is this user or root, can have written it; else
 * -ESTALE. */
int artifacts_check_owner(
    const struct stat *st, const char *name, struct err *err);

#endif
