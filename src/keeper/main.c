/* main.c: breakroom-keeper, the program that the launcher starts for a room
 * and "breakroom install" for an installation. Nobody else need call it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/signals.h"
#include "keeper/install.h"
#include "keeper/keeper.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2

static int
usage(void)
{
	(void)fprintf(stderr,
	    "breakroom-keeper: started by breakroom; see breakroom(1)\n");
	return EXIT_USAGE;
}

int
main(int argc, char **argv)
{
	signals_default();
	/* A reader that went away is an error of a write, not our end. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "channel") == 0) {
		char *end;
		long fd = strtol(argv[2], &end, 10);

		if (*end || end == argv[2] || fd < 3 || fd > 1023)
			return usage();
		return keeper_main((int)fd, NULL, 0);
	}
	if (argc >= 2 && strcmp(argv[1], "install") == 0)
		return install_main(argc - 1, argv + 1);
	return usage();
}
