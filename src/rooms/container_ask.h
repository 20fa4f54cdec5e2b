/* container_ask.h: executing commands of a container engine.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_CONTAINER_ASK_H
#define ROOMS_CONTAINER_ASK_H

#include "base/buf.h"
#include "base/err.h"
#include "rooms/container_plan.h"

#include <sys/types.h>

/* The program of that name, or path, as a shell finds it. 0 or -ENOENT. */
int command_find(const char *name, char ret_path[PATH_MAX]);

/* Starts a command with these standard streams (borrowed). Its number, or
 * -errno. It is no child of a signal's: it has a session of its own. */
pid_t command_start(const struct args *args, int in, int out, int error);

/* Runs a command to its end, within ENGINE_ASK_MS, and gives what it said on
 * its standard output, ended by NUL (to be freed by the caller, always). 0;
 * -EIO: it failed, and err ends with the last line of its complaint; -errno. */
int command_ask(const struct args *args, int null_fd, struct buf *ret_text,
    struct err *err);

/* The line of a command's complaint that says most, read from fd without
 * waiting, in ret_line. */
void command_complaint(int fd, char ret_line[200]);

#endif
