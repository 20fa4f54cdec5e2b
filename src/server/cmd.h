/* cmd.h: the commands that end by themselves. Each returns an exit status.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_CMD_H
#define SERVER_CMD_H

#include "conf/artifacts.h"
#include "conf/conf.h"
#include "conf/settings.h"

struct launcher;

/* Exit statuses of "run" besides the program's own; see breakroom(1). */
enum run_status {
	RUN_USAGE = 2,
	RUN_TIMEOUT = 124,
	RUN_REFUSED = 125,
	RUN_KILLED = 134,
	RUN_MEMORY = 137,
};

/* Of --check-config: sysexits.h's EX_CONFIG. */
#define STATUS_CONFIG 78

#define STATUS_SIGNAL 128 /* and its number, as shells count */

/* Runs one program and prints what it printed. */
int cmd_run(const struct conf *whole, struct launcher *launcher,
    const struct artifacts *artifacts);

/* Prints what this machine can host; 0 only if a hello in the room worked. */
int cmd_doctor(const struct conf *conf, struct launcher *launcher);

/* Prints what rooms take, side by side. */
int cmd_bench(const struct conf *conf, struct launcher *launcher);

/* Says all that is wrong with the configuration; 0 if nothing is. */
int cmd_check_config(struct settings *settings);

/* Prints the configuration as a file. */
int cmd_dump_config(const struct settings *settings);

/* Makes a bearer token: prints it, and on stderr its line of --tokens. */
int cmd_token(const struct conf *conf);

/* Prints what programs may import. */
int cmd_packages(const struct conf *conf);

/* Becomes the installer; returns only when that fails. */
int cmd_install(const struct conf *conf);

/* "breakroom: TEXT" and TAIL on stderr, as one line. */
void complain(const char *text, const char *tail);

#endif
