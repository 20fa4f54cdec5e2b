/* seccomp_table.h: the policies as the kernel takes them; the table is made
 * from policy/ while breakroom is built.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WALLS_SECCOMP_TABLE_H
#define WALLS_SECCOMP_TABLE_H

#include "walls/walls.h"

#include <linux/filter.h>

struct seccomp_program {
	const char *name;
	const struct sock_filter *code;
	unsigned short n;
};

extern const struct seccomp_program seccomp_programs[SECCOMP_POLICIES];

#endif
