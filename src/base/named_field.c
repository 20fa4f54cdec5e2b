/* named_field.c: lines of the form "name:\tvalue".
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/named_field.h"

#include <string.h>

const char *
named_field(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, name, n) == 0 && text[n] == ':')
			return text + n + 1 + strspn(text + n + 1, "\t ");
	}
	return NULL;
}
