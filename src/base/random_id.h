/* random_id.h: names that nobody can guess.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_RANDOM_ID_H
#define BASE_RANDOM_ID_H

#include <stdbool.h>

#define RANDOM_ID_SIZE 33u /* 32 hexadecimal digits, and NUL */

/* A new one, of 128 random bits. False: the kernel has none now. */
bool random_id(char ret_id[RANDOM_ID_SIZE]);

#endif
