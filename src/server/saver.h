/* saver.h: a process that writes files into one directory for the server,
 * which has met what a call sent, and opens none. It takes names and bytes from
 * the server as from a stranger: nothing lands beside the directory, through a
 * link, or in place of anything but a regular file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_SAVER_H
#define SERVER_SAVER_H

#include "base/buf.h"
#include "base/err.h"

struct saver;

/* Makes dir, if it is not there, and forks the process. Before the server's
 * walls stand. 0; -errno, with the directory's name. */
int saver_start(const char *dir, struct saver **ret_saver, struct err *err);

/* Writes the file name, a path below the directory, whose own directories are
 * made; a regular file that has the name is replaced as a whole. Waits for it.
 * 0; -errno: it is not there, or as it was; err says why. */
int saver_save(
    struct saver *saver, const char *name, struct span bytes, struct err *err);

/* Ends the process and waits for it. NULL is fine. */
void saver_stop(struct saver *saver);

#endif
