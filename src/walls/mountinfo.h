/* mountinfo.h: a look at all mounts of this process.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WALLS_MOUNTINFO_H
#define WALLS_MOUNTINFO_H

#include "base/err.h"

/* 0 if what wall_mountns has made is all there is, with the flags that it
 * must have; otherwise -EPERM, and the mount in err. */
int mountinfo_check(struct err *err);

/* The same for the text of a mountinfo file, which is changed. */
int mountinfo_check_text(char *text, struct err *err);

#endif
