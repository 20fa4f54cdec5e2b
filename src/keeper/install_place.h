/* install_place.h: the directory that holds the artifacts of each key: lock,
 * staging directory, publishing, and removal of what is old.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_INSTALL_PLACE_H
#define KEEPER_INSTALL_PLACE_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>

struct place {
	char dir[PATH_MAX];
	char key[65];
	char spared[65]; /* another that is not swept away; empty: none */
	char staging[PATH_MAX]; /* empty while there is none */
	int lock;               /* -1 while it is not held */
};

/* Makes the directory where it is missing, for this user only, and fills
 * *ret_place, whose dir is then free of symbolic links. 0 or -errno; then
 * nothing is owned. */
int place_open(
    const char *dir, const char *key, struct place *ret_place, struct err *err);

/* Takes the place's lock: one installation at a time. 0; -EWOULDBLOCK when
 * another has it and wait is false; -errno. */
int place_lock(struct place *place, bool wait, struct err *err);

/* Makes the staging directory. Needs the lock. */
int place_stage(struct place *place, struct err *err);

/* The path of a file in the staging directory. */
int place_path(const struct place *place, const char *name,
    char ret_path[PATH_MAX], struct err *err);

/* Writes the manifest, makes sure that all is on the disk, and puts the
 * staging directory in its place, instead of what was there. */
int place_publish(struct place *place, struct err *err);

/* Removes staging directories of installations that died. Needs the lock.
 * Says nothing when it cannot. */
void place_sweep_staging(const struct place *place);

/* Removes the artifacts of all other keys that nobody holds, likewise; but
 * those of the key that is spared. */
void place_sweep_keys(const struct place *place);

/* Removes the staging directory, if there is one, and gives the lock back. */
void place_close(struct place *place);

#endif
