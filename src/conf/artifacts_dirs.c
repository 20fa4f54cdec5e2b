/* artifacts_dirs.c: the places where artifacts may lie.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/artifacts_dirs.h"

#include "conf/paths.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The one true spelling of a place: the kernel names mapped files by it. A
 * place that does not exist keeps the spelling that it has. */
static void
make_canonical(char dir[PATH_MAX])
{
	char path[PATH_MAX];

	if (realpath(dir, path))
		memcpy(dir, path, strlen(path) + 1);
}

/* $BREAKROOM_DATA into ret_dir: 1 if it is set, 0 if not. */
static int
place_from_data(char ret_dir[PATH_MAX], struct err *err)
{
	const char *data = getenv("BREAKROOM_DATA");

	if (!data || data[0] == '\0')
		return 0;
	if (data[0] != '/')
		return fail(err, EINVAL,
		    "BREAKROOM_DATA must be an absolute path, not '%.100s'",
		    data);
	if (strlen(data) >= PATH_MAX)
		return fail(err, ENAMETOOLONG, "BREAKROOM_DATA is too long");
	memcpy(ret_dir, data, strlen(data) + 1);
	make_canonical(ret_dir);
	return 1;
}

/* The home as the password file has it, or NULL. Returns static storage of
 * libc, as getpwuid does. */
static const char *
home_of_user(void)
{
	const struct passwd *user = getpwuid(geteuid());

	return user && user->pw_dir && user->pw_dir[0] == '/' ? user->pw_dir
							      : NULL;
}

static int
place_in_cache(char ret_dir[PATH_MAX], struct err *err)
{
	const char *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int n;

	/* The XDG specification: relative values are invalid, ignore them. */
	if (xdg && xdg[0] == '/') {
		n = snprintf(ret_dir, PATH_MAX, "%s/breakroom", xdg);
	} else {
		if (!home || home[0] != '/')
			home = home_of_user();
		if (!home)
			return fail(err, ENOENT,
			    "this user has no home directory: set "
			    "BREAKROOM_DATA to a directory for the guest");
		n = snprintf(ret_dir, PATH_MAX, "%s/.cache/breakroom", home);
	}
	if (n < 0 || n >= PATH_MAX)
		return fail(err, ENAMETOOLONG,
		    "the path of the user's cache is too long");
	make_canonical(ret_dir);
	return 0;
}

int
artifacts_install_place(char ret_dir[PATH_MAX], struct err *err)
{
	int r = place_from_data(ret_dir, err);

	if (r != 0)
		return r < 0 ? r : 0;
	return place_in_cache(ret_dir, err);
}

int
artifacts_places(struct places *ret_places, struct err *err)
{
	struct places *places = ret_places;
	int r = place_from_data(places->dir[0], err);

	if (r != 0) {
		places->n = 1;
		return r < 0 ? r : 0;
	}
	memcpy(places->dir[0], BREAKROOM_LIBDIR, sizeof(BREAKROOM_LIBDIR));
	make_canonical(places->dir[0]);
	places->n = place_in_cache(places->dir[1], NULL) < 0 ? 1 : 2;
	return 0;
}
