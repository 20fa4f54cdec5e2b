/* main.c: the keeper of the tests: the real one, but its children run the
 * operations of a broken guest, and walls can be left away. It stands beside a
 * copy of the server, which then takes it for its own.
 *
 *   breakroom-keeper channel 3                  all walls
 *   breakroom-keeper channel 3 off=WALL,WALL lies=WALL also=NAME
 * SPDX-License-Identifier: Apache-2.0 */
#include "op.h"
#include "words.h"

#include "base/signals.h"
#include "keeper/install.h"
#include "keeper/keeper.h"
#include "rooms/kind.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mutation mutation;

static bool
word_take(char *word)
{
	if (strncmp(word, "off=", 4) == 0)
		return words_walls(word + 4, &mutation.off);
	if (strncmp(word, "lies=", 5) == 0)
		return words_walls(word + 5, &mutation.lies);
	if (strcmp(word, "also=early-done") == 0)
		mutation.early_done = true;
	else if (strcmp(word, "also=two-tasks") == 0)
		mutation.two_tasks = true;
	else if (strcmp(word, "also=twin-lives") == 0)
		mutation.twin_lives = true;
	else
		return strcmp(word, "also=") == 0;
	return true;
}

int
main(int argc, char **argv)
{
	static struct room_kind kind;

	signals_default();
	(void)signal(SIGPIPE, SIG_IGN);
	if (argc >= 2 && strcmp(argv[1], "install") == 0)
		return install_main(argc - 1, argv + 1);
	if (argc < 3 || strcmp(argv[1], "channel") != 0)
		return 2;
	for (int i = 3; i < argc; i++) {
		if (word_take(argv[i]))
			continue;
		(void)fprintf(stderr, "what is %s?\n", argv[i]);
		return 2;
	}
	kind = hostile_for(&room_wasm);
	return keeper_main(atoi(argv[2]), &kind, mutation.off);
}
