/* cmd_install.c: becomes the installer. The compiler lives in the keeper's
 * program, so that this one contains none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/programs.h"
#include "server/cmd.h"

#include <stdlib.h>
#include <unistd.h>

int
cmd_install(const struct conf *conf)
{
	char path[PATH_MAX];
	struct err err;
	const char *argv[CONF_LIST_MAX + 6] = { "breakroom-keeper", "install",
		conf->int64 == INT64_ON ? "--int64=on" : "--int64=off" };
	unsigned n = 3;

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
