/* unwalled.c: a keeper whose room has no wall, to be compared with the real one.
 * It stands beside a copy of the server, which then takes it for its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/signals.h"
#include "conf/wall.h"
#include "keeper/keeper.h"
#include "rooms/kind.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

int
main(int argc, char **argv)
{
	signals_default();
	(void)signal(SIGPIPE, SIG_IGN);
	if (argc != 3 || strcmp(argv[1], "channel") != 0)
		return 2;
	return keeper_main(atoi(argv[2]), &room_wasm, WALLS_ALL);
}
