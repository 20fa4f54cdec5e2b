/* hot_code.c: where the compiled guest's code lies in this process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/hot_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAPS_LINE_MAX 4352 /* addresses, and a path */

int
hot_find_code(
    const char *module_path, struct hot_code *ret_code, struct err *err)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[MAPS_LINE_MAX];
	struct hot_code found = { 0 };

	if (!maps)
		return fail_errno(err, "open /proc/self/maps");
	while (!found.base && fgets(line, sizeof(line), maps)) {
		unsigned long from, to, offset;
		char rights[5];

		if (sscanf(line, "%lx-%lx %4s %lx", &from, &to, rights,
			&offset) != 4 ||
		    rights[2] != 'x' || !strstr(line, module_path))
			continue;
		found.base = (const uint8_t *)(uintptr_t)(from - offset);
		found.start = offset;
		found.size = offset + (to - from);
	}
	(void)fclose(maps);
	if (!found.base)
		return fail(
		    err, ENOENT, "%s is not mapped as code", module_path);
	*ret_code = found;
	return 0;
}
