/* rooms_main.c: the keeper of native rooms as it is, but walls of it or of its
 * workers can be left away.
 *
 *   mutate-rooms-keeper channel 3                      all walls
 *   mutate-rooms-keeper channel 3 off=WALL,WALL        of the keeper's
 *   mutate-rooms-keeper channel 3 worker=NAME,NAME     of a worker's: rooms.h
 *   mutate-rooms-keeper channel 3 seen=DIR             where one of them is off
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms.h"
#include "words.h"

#include "base/signals.h"
#include "keeper/keeper.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
word_take(char *word, wall_set *off)
{
	if (strncmp(word, "off=", 4) == 0)
		return words_walls(word + 4, off);
	if (strncmp(word, "worker=", 7) == 0)
		worker_off = word + 7;
	else if (strncmp(word, "seen=", 5) == 0)
		worker_seen = word + 5;
	else
		return false;
	return true;
}

int
main(int argc, char **argv)
{
	wall_set off = 0;

	signals_default();
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	if (argc < 3 || strcmp(argv[1], "channel") != 0)
		return 2;
	for (int i = 3; i < argc; i++) {
		if (word_take(argv[i], &off))
			continue;
		(void)fprintf(stderr, "what is %s?\n", argv[i]);
		return 2;
	}
	rooms_deno_begin();
	return keeper_main(atoi(argv[2]), NULL, off);
}
