/* machine.h: what the kernel's text files say about this machine.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_MACHINE_H
#define CONF_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* The value of the first "key: value" line of the file, without the spaces
 * before it. 0; -ENOENT if there is none. */
int machine_field(const char *path, const char *key, char *ret_value, size_t n);

/* The number that the field begins with. 0; -ENOENT, -EINVAL. */
int machine_number(const char *path, const char *key, uint64_t *ret_number);

#endif
