/* install_rooms.c: finds the program that makes a room, and becomes it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/install_rooms.h"

#include "conf/artifacts_dirs.h"
#include "conf/paths.h"
#include "conf/programs.h"
#include "conf/room_conf.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PYTHON     "python3"
#define ARGS_FIXED 6u  /* the interpreter, the program, and where to */
#define ARGS_GIVEN 16u /* options with their values, and the end */

static const char *const makers[ROOMS] = {
	[ROOM_JAIL] = "tree.py",
	[ROOM_CONTAINER] = "container_image.py",
	[ROOM_DENO] = "deno_install.py",
};

/* Beside the program where it is installed or built; else in the build's
 * prefix. */
static int
find_maker(const char *name, char ret_path[PATH_MAX], struct err *err)
{
	static const char *const below[] = { "breakroom/rooms", "tools/rooms" };
	char dir[PATH_MAX];
	int r = program_dir(dir, err);
	int n;

	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		n = snprintf(
		    ret_path, PATH_MAX, "%s/%s/%s", dir, below[i], name);
		if (n > 0 && n < PATH_MAX && access(ret_path, R_OK) == 0)
			return 0;
	}
	n = snprintf(
	    ret_path, PATH_MAX, BREAKROOM_LIBEXECDIR "/%s/%s", below[0], name);
	if (n > 0 && n < PATH_MAX && access(ret_path, R_OK) == 0)
		return 0;
	return fail(err, ENOENT,
	    "%s is neither in %.100s/%s nor in " BREAKROOM_LIBEXECDIR "/%s",
	    name, dir, below[0], below[0]);
}

/* BASE/rooms/NAME, whose parents the program makes. */
static int
find_target(enum room_id room, char ret_path[PATH_MAX], struct err *err)
{
	char dir[PATH_MAX];
	int r = artifacts_install_place(dir, err);
	int n;

	if (r < 0)
		return r;
	n = snprintf(
	    ret_path, PATH_MAX, "%s/rooms/%s", dir, room_id_name(room));
	return n < 0 || n >= PATH_MAX
		   ? fail(err, ENAMETOOLONG, "%.150s is too long", dir)
		   : 0;
}

/* What the user gave, under the same names; how many words. */
static unsigned
add_given(const struct conf *conf, const char **argv)
{
	unsigned n = conf_room_words(conf, argv);

	if (conf->from) {
		argv[n++] = "--from";
		argv[n++] = conf->from;
	}
	/* A package's name is no option: those were told apart before. */
	for (unsigned i = 0; i < conf->packages.n; i++)
		argv[n++] = conf->packages.items[i];
	return n;
}

int
install_room(const struct conf *conf, struct err *err)
{
	char maker[PATH_MAX], target[PATH_MAX];
	const char *argv[CONF_LIST_MAX + ARGS_FIXED + ARGS_GIVEN] = { PYTHON,
		"-I", "-B", maker, "--into", target };
	int r;

	if (!makers[conf->room])
		return fail(err, EINVAL, "nothing is installed for the room %s",
		    room_id_name(conf->room));
	r = find_maker(makers[conf->room], maker, err);
	if (r == 0)
		r = find_target(conf->room, target, err);
	if (r < 0)
		return r;
	argv[ARGS_FIXED + add_given(conf, argv + ARGS_FIXED)] = NULL;
	(void)execvp(PYTHON, (char *const *)argv);
	if (errno == ENOENT)
		return fail(err, ENOENT,
		    "rooms are made by Python, and there is no " PYTHON
		    " here: install it, with pip (Debian: python3-pip)");
	return fail_errno(err, "execute " PYTHON);
}
