/* words.c: walls by their names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <string.h>

bool
words_walls(char *names, wall_set *ret_set)
{
	char *rest;

	for (char *name = strtok_r(names, ",", &rest); name;
	     name = strtok_r(NULL, ",", &rest)) {
		enum wall wall;

		if (!wall_find(name, &wall))
			return false;
		*ret_set |= WALL_BIT(wall);
	}
	return true;
}
