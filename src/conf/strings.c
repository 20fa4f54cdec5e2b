/* strings.c: the strings of a configuration that nobody else holds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/strings.h"

#include <stdlib.h>
#include <string.h>

struct conf_strings {
	struct conf_strings *next;
	char text[];
};

const char *
strings_add(struct conf_strings **strings, const char *text, size_t n)
{
	struct conf_strings *added = malloc(sizeof(*added) + n + 1);

	if (!added)
		return NULL;
	memcpy(added->text, text, n);
	added->text[n] = '\0';
	added->next = *strings;
	*strings = added;
	return added->text;
}

void
strings_free(struct conf_strings *strings)
{
	while (strings) {
		struct conf_strings *next = strings->next;

		free(strings);
		strings = next;
	}
}
