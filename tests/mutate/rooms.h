/* rooms.h: walls of a native room's workers, and of the process that makes
 * them, which the tests' keeper of such rooms leaves away.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MUTATE_ROOMS_H
#define MUTATE_ROOMS_H

#include <stdbool.h>

/* Names with commas between them; what they mean is in rooms_walls.c and
 * cell_walls.c. */
extern const char *worker_off;

/* A directory of the host that a jail sees without "root". */
extern const char *worker_seen;

/* That one is among them. */
bool worker_has(const char *name);

/* The same, and this process is one of those that it is about: in the keeper's
 * program the factory, or a fork of it that has not executed anything yet; in a
 * jail's room its first. */
bool worker_off_here(const char *name);

/* In a list. */
bool worker_named(const char *list, const char *name);

/* Of rooms_deno.c: before the keeper begins; and, of a program that is about to
 * be executed, its arguments or others in their place. */
void rooms_deno_begin(void);
char *const *rooms_deno_argv(const char *path, char *const *argv);

#endif
