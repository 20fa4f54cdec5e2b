/* read_file.h: a file of the command line's, read as a whole.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_READ_FILE_H
#define SERVER_READ_FILE_H

#include "base/buf.h"
#include "base/err.h"

/* Reads the file ("-": standard input) to its end. 0; -EFBIG once it is longer
 * than the buf may be; -errno: err names it. */
int read_file(const char *path, struct buf *into, struct err *err);

#endif
