/* cmd.h: the commands that end by themselves. Each returns an exit status.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_CMD_H
#define SERVER_CMD_H

#include "conf/artifacts.h"
#include "conf/conf.h"

struct launcher;

/* Exit statuses of "run" besides the program's own; see breakroom(1). */
enum run_status {
	RUN_USAGE = 2,
	RUN_TIMEOUT = 124,
	RUN_REFUSED = 125,
	RUN_KILLED = 134,
	RUN_MEMORY = 137,
};

#define STATUS_SIGNAL 128 /* and its number, as shells count */

/* Runs one program and prints what it printed. */
int cmd_run(const struct conf *conf, struct launcher *launcher,
    const struct artifacts *artifacts);

/* Prints what this machine can host; 0 only if a hello in the room worked. */
int cmd_doctor(const struct conf *conf, struct launcher *launcher);

/* Becomes the installer; returns only when that fails. */
int cmd_install(const struct conf *conf);

/* "breakroom: TEXT" and TAIL on stderr, as one line. */
void complain(const char *text, const char *tail);

#endif
