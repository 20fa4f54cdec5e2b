/* file_name.h: names of files below /workspace, as clients and guests choose
 * them: which are plain, and how one is shown on a line.
 *
 * Hostile input: the names. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_FILE_NAME_H
#define CALL_FILE_NAME_H

#include "base/buf.h"
#include "conf/limits.h"

#include <stdbool.h>

/* True for a path below a directory that leads nowhere else: relative, without
 * empty components, "." and "..", and without NUL. */
bool file_name_is_plain(struct span name);

/* Room for any name of RESULT_NAME_MAX bytes: all of it as \xNN, and an end. */
#define FILE_NAME_SHOWN_MAX (4u * RESULT_NAME_MAX + 4u)

/* Writes the name as it may be shown, and a NUL: a backslash doubled, and every
 * byte that could not be shown as \xNN, so that two names never look the same.
 * What does not fit into size bytes (at least 4) is cut, with "..." behind it. */
void file_name_show(struct span name, char *shown, size_t size);

#endif
