/* hot_code.c: where the compiled guest's code lies in this process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/hot_file.h"

#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The file's name as the kernel writes it, whatever led to it. */
static int
kernel_path(const char *path, char ret_path[PATH_MAX], struct err *err)
{
	own_fd int fd = open(path, O_PATH | O_CLOEXEC);
	char link[32];
	ssize_t n;

	if (fd < 0)
		return fail_errno(err, "open %s", path);
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, ret_path, PATH_MAX - 1);
	if (n < 0)
		return fail_errno(err, "read %s", link);
	ret_path[n] = '\0';
	return 0;
}

int
hot_find_code(
    const char *module_path, struct hot_code *ret_code, struct err *err)
{
	char path[PATH_MAX], line[MAPS_LINE_MAX];
	struct hot_code found;
	FILE *maps;
	bool seen = false;
	int r = kernel_path(module_path, path, err);

	if (r < 0)
		return r;
	maps = fopen("/proc/self/maps", "re");
	if (!maps)
		return fail_errno(err, "open /proc/self/maps");
	while (!seen && fgets(line, sizeof(line), maps))
		seen = strstr(line, path) && code_line(line, &found);
	(void)fclose(maps);
	if (!seen)
		return fail(
		    err, ENOENT, "%s is not mapped as code", module_path);
	*ret_code = found;
	return 0;
}
