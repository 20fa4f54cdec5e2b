/* hot_code.c: where the compiled guest's code lies in this process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/hot_file.h"

#include "base/own.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAPS_LINE_MAX 4352 /* addresses, and a path */

/* Reads the line of a mapping, "from-to rights offset ...", numbers in
 * hexadecimal; true if it holds code. */
static bool
code_line(const char *line, struct hot_code *ret_code)
{
	char *end;
	uintptr_t from = strtoul(line, &end, 16), to;
	bool executable;

	if (*end != '-')
		return false;
	to = strtoul(end + 1, &end, 16);
	if (strlen(end) < sizeof(" r-xp "))
		return false;
	executable = end[3] == 'x';
	ret_code->start = strtoul(end + sizeof(" r-xp"), NULL, 16);
	ret_code->base = (const uint8_t *)(from - ret_code->start);
	ret_code->size = ret_code->start + (to - from);
	return executable;
}

int
hot_find_code(
    const char *module_path, struct hot_code *ret_code, struct err *err)
{
	own_mem char *path = realpath(module_path, NULL);
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[MAPS_LINE_MAX];
	struct hot_code found;
	bool seen = false;

	if (!maps)
		return fail_errno(err, "open /proc/self/maps");
	while (!seen && fgets(line, sizeof(line), maps))
		seen = path && strstr(line, path) && code_line(line, &found);
	(void)fclose(maps);
	if (!seen)
		return fail(
		    err, ENOENT, "%s is not mapped as code", module_path);
	*ret_code = found;
	return 0;
}
