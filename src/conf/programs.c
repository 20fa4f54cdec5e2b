/* programs.c: finds the sibling programs of the running one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/programs.h"

#include "conf/paths.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int
program_dir(char ret_dir[PATH_MAX], struct err *err)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (n < 0)
		return fail_errno(err, "read /proc/self/exe");
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return fail(err, ENOENT, "%s has no directory", path);
	slash[slash == path] = '\0';
	memcpy(ret_dir, path, strlen(path) + 1);
	return 0;
}

/* dir/name as ret_path, if it can be executed. */
static int
try_program(const char *dir, const char *name, char ret_path[PATH_MAX])
{
	int n = snprintf(ret_path, PATH_MAX, "%s/%s", dir, name);

	if (n < 0 || n >= PATH_MAX)
		return -ENAMETOOLONG;
	return access(ret_path, X_OK) < 0 ? -errno : 0;
}

int
program_find(const char *name, char ret_path[PATH_MAX], struct err *err)
{
	char dir[PATH_MAX];
	char path[PATH_MAX];
	int r = program_dir(dir, err);

	if (r < 0)
		return r;
	if (try_program(dir, name, path) < 0 &&
	    try_program(BREAKROOM_LIBEXECDIR, name, path) < 0)
		return fail(err, ENOENT, "%s is neither in %s nor in %s", name,
		    dir, BREAKROOM_LIBEXECDIR);
	memcpy(ret_path, path, strlen(path) + 1);
	return 0;
}
