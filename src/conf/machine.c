/* machine.c: reading the kernel's text files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/machine.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 512 /* what is looked for is shorter */

/* The value in "key : value", or NULL if the line has another key. */
static const char *
value_in(const char *line, const char *key)
{
	const char *colon = strchr(line, ':');
	size_t n = strlen(key);

	if (!colon || strncmp(line, key, n) != 0 ||
	    line + n + strspn(line + n, " \t") != colon)
		return NULL;
	return colon + 1 + strspn(colon + 1, " \t");
}

int
machine_field(const char *path, const char *key, char *ret_value, size_t n)
{
	FILE *file = fopen(path, "re");
	const char *value = NULL;
	char line[LINE_SIZE];

	if (!file)
		return -ENOENT;
	while (!value && fgets(line, sizeof(line), file))
		value = value_in(line, key);
	(void)fclose(file);
	if (!value)
		return -ENOENT;
	(void)snprintf(ret_value, n, "%.*s", (int)strcspn(value, "\n"), value);
	return 0;
}

int
machine_number(const char *path, const char *key, uint64_t *ret_number)
{
	char text[32];
	char *end;
	unsigned long long number;
	int r = machine_field(path, key, text, sizeof(text));

	if (r < 0)
		return r;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (end == text || errno)
		return -EINVAL;
	*ret_number = number;
	return 0;
}
