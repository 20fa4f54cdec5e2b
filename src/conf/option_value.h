/* option_value.h: numbers and lists as people write them on a command line.
 * Strict: no sign, no space, no exponent, no rest behind the number.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_OPTION_VALUE_H
#define CONF_OPTION_VALUE_H

#include "conf/wall.h"

#include <stdint.h>

/* All: 0; -EINVAL if text is not such a number, -ERANGE past 64 bits. */

int value_count(const char *text, uint64_t *ret_number); /* "16" */

/* "2", "2.5", "0.125": up to three decimals. */
int value_seconds(const char *text, uint64_t *ret_ms);

/* Bytes, or with a unit of 1024s: "4096", "64K", "512M", "1G"; a following
 * "B" or "iB" and small letters are fine. */
int value_size(const char *text, uint64_t *ret_bytes);

/* Names of walls with commas between them: "cgroup.memory,ids". */
int value_walls(const char *text, wall_set *ret_walls);

#endif
