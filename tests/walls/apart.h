/* apart.h: walls in processes of their own, looked at from inside and from
 * outside.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WALLS_APART_H
#define TESTS_WALLS_APART_H

#include "base/err.h"
#include "walls/walls.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ORDINARY 65534 /* the user that tests of an ordinary one become */

/* What a process does. Its result, from 0 to 250, is its exit status: mostly
 * 0, or the errno with which an operation failed. */
typedef int deed_fn(void);

/* Ends this process as one that could not be set up, and says why. */
_Noreturn void apart_broken(const char *what, const struct err *err);

/* For set-up inside: ends the process if r is negative. */
void apart_must(int r, const struct err *err);

/* Runs deed in a new process; its result, or -SIGNAL. Fails the test if it
 * could not be set up or does not end in ten seconds. */
int apart(deed_fn *deed);

/* A process that has done deed and waits. apart_release ends it. */
pid_t apart_hold(deed_fn *deed);
void apart_release(pid_t pid);

/* Fails unless -r is the code of err and its text begins with
 * "wall NAME: " and contains part. */
void apart_assert_err(
    int r, int code, const struct err *err, const char *name, const char *part);

/* The value of a line of /proc/PID/FILE that begins with name, such as
 * "NoNewPrivs:", without the spaces before it. */
void apart_line(
    pid_t pid, const char *file, const char *name, char *ret_value, size_t n);

/* The whole of /proc/PID/FILE, or of the first n - 1 bytes. */
void apart_file(pid_t pid, const char *file, char *ret_text, size_t n);

/* True if process pid is in the same namespace (of name, as "net") as this
 * one. */
bool apart_same_namespace(pid_t pid, const char *name);

/* Becomes ORDINARY, with no group and no capability, as a user who has just
 * logged in. Ends the process if it cannot. */
void apart_ordinary(void);

/* Every further system call nr of this process fails with code; that of the
 * arguments, if arg is not 0, only when the first is arg. */
void apart_refuse(long nr, unsigned arg, int code);

/* Removes a directory, and the files in it. */
void apart_remove(const char *dir);

/* What a user namespace is made of in tests: with those of root, or not. */
struct wall_ids apart_ids(bool many);

/* Marks the test as skipped, loudly. */
#define APART_SKIP(reason)                                          \
	do {                                                        \
		print_message("# SKIP %s: %s\n", __func__, reason); \
		skip();                                             \
	} while (0)

/* For tests that only root can set up. */
#define APART_NEEDS_ROOT()                                       \
	do {                                                     \
		if (geteuid() != 0)                              \
			APART_SKIP("only root can set this up"); \
	} while (0)

#endif
