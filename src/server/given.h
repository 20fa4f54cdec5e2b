/* given.h: the files that "run --file" gives to a program.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_GIVEN_H
#define SERVER_GIVEN_H

#include "base/buf.h"
#include "base/err.h"
#include "conf/conf.h"

/* Reads each "PATH" or "PATH:NAME" into the packed files of a call. 0; -EFBIG,
 * -ENOMEM: they are too much; -errno: one cannot be read or has a name that
 * cannot be given; err says which. */
int given_read(
    const struct conf_list *given, struct buf *files, struct err *err);

#endif
