/* cmd_install.c: becomes the installer. The compiler lives in the keeper's
 * program, so that this one contains none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/programs.h"
#include "conf/room_conf.h"
#include "server/cmd.h"

#include <stdlib.h>
#include <unistd.h>

/* For wasm: what its compiler has to know. */
static unsigned
add_wasm(const struct conf *conf, const char **argv)
{
	argv[0] = conf->int64 == INT64_ON ? "--int64=on" : "--int64=off";
	return 1;
}

/* For others: the room, and what it is made with, where that was given. */
static unsigned
add_room(const struct conf *conf, const char **argv)
{
	argv[0] = "--room";
	argv[1] = room_id_name(conf->room);
	return 2 + conf_room_words(conf, argv + 2);
}

int
cmd_install(const struct conf *conf)
{
	char path[PATH_MAX];
	struct err err;
	const char *argv[CONF_LIST_MAX + 16] = { "breakroom-keeper",
		"install" };
	unsigned n = 2;

	n += conf->room == ROOM_WASM ? add_wasm(conf, argv + n)
				     : add_room(conf, argv + n);

	if (program_find("breakroom-keeper", path, &err) < 0) {
		complain(err.text, "");
		return EXIT_FAILURE;
	}
	if (conf->from) {
		argv[n++] = "--from";
		argv[n++] = conf->from;
	}
	for (unsigned i = 0; i < conf->packages.n; i++)
		argv[n++] = conf->packages.items[i];
	(void)execv(path, (char *const *)argv);
	(void)fail_errno(&err, "execute %.200s", path);
	complain(err.text, "");
	return EXIT_FAILURE;
}
