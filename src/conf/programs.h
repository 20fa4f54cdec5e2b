/* programs.h: finds the sibling programs of the running one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_PROGRAMS_H
#define CONF_PROGRAMS_H

#include "base/err.h"

#include <limits.h>

/* The directory of the running program. 0 or -errno. */
int program_dir(char ret_dir[PATH_MAX], struct err *err);

/* The executable called name beside the running program, else in the
 * directory that the build set. 0; -ENOENT says where it was looked for. */
int program_find(const char *name, char ret_path[PATH_MAX], struct err *err);

#endif
