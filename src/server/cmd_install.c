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
	const char *argv[] = { "breakroom-keeper", "install", "--from",
		conf->from, NULL };

	if (program_find("breakroom-keeper", path, &err) < 0) {
		complain(err.text, "");
		return EXIT_FAILURE;
	}
	if (!conf->from)
		argv[2] = NULL;
	(void)execv(path, (char *const *)argv);
	(void)fail_errno(&err, "execute %.200s", path);
	complain(err.text, "");
	return EXIT_FAILURE;
}
