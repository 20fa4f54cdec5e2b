/* files_in.h: the files that a call is given. They travel packed, from the
 * message to the child: for each file two lengths, its name and its bytes; and
 * stand below /workspace when the program starts.
 *
 * Hostile input: names from a client. Pure; fuzzed by fuzz_files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_FILES_IN_H
#define CALL_FILES_IN_H

#include "base/buf.h"
#include "base/err.h"
#include "conf/limits.h"

#include <stdbool.h>

/* Adds a file. A name is a path below /workspace, in valid UTF-8, without
 * empty components, "." and ".."; nor may it be there already, or need a file
 * that is there as a directory. 0; -EINVAL, -EEXIST, -E2BIG, -ENOMEM: nothing
 * is added, and err names the file and says why. */
int files_in_add(
    struct buf *files, struct span name, struct span bytes, struct err *err);

/* Takes the next file off *rest; borrowed from it. False at the end, or where
 * *rest holds no whole file (then it is not empty). */
bool files_in_next(
    struct span *rest, struct span *ret_name, struct span *ret_bytes);

#endif
