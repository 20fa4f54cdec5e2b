/* fake_launcher.h: a launcher whose keeper is the test. It stands in place of
 * the real one in the program that includes it, once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKE_LAUNCHER_H
#define TESTS_UNIT_FAKE_LAUNCHER_H

#include "base/fd.h"
#include "room/launcher.h"

#include <unistd.h>

struct launcher {
	int channel; /* the keeper's end; -1: the room has not asked for one */
};

struct launcher *
launcher_for(struct launcher *launcher, bool workers)
{
	(void)workers;
	return launcher;
}

int
launcher_spawn(
    struct launcher *launcher, struct launched *ret_launched, struct err *err)
{
	int ends[2];

	if (fd_pair(ends) < 0)
		return fail_errno(err, "socketpair");
	launcher->channel = ends[1];
	*ret_launched = (struct launched){ ends[0], dup(ends[0]), 1 };
	return 0;
}

void
launcher_kill(struct launcher *launcher, pid_t pid)
{
	(void)launcher;
	(void)pid;
}

#endif
