/* worker_named.c: a name in a list.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms.h"

#include <string.h>

bool
worker_named(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; (at = strstr(at, name)) != NULL; at += n)
		if ((at == list || at[-1] == ',') &&
		    (at[n] == ',' || at[n] == '\0'))
			return true;
	return false;
}
