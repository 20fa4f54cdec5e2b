/* words.h: what both keepers of the tests take from their command lines.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MUTATE_WORDS_H
#define MUTATE_WORDS_H

#include "conf/wall.h"

#include <stdbool.h>

/* Adds walls by their names, with commas between them, which are overwritten.
 * False: one is no wall. */
bool words_walls(char *names, wall_set *ret_set);

#endif
