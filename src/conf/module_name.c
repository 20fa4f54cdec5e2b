/* module_name.c: names of Python modules, as import lists have them.
 * Hostile input: a caller's. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/module_name.h"

#include "conf/limits.h"

#include <string.h>

static bool
is_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

bool
module_name(struct span text)
{
	bool begins = true; /* of an identifier */

	if (text.n == 0 || text.n > MODULE_NAME_MAX)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		uint8_t c = text.p[i];

		if (begins ? !is_letter(c)
			   : !is_letter(c) && !is_digit(c) && c != '.')
			return false;
		begins = c == '.';
	}
	return !begins;
}

bool
module_covers(const char *name, const char *other)
{
	size_t n = strlen(name);

	return strncmp(name, other, n) == 0 &&
	       (other[n] == '\0' || other[n] == '.');
}
