/* err.h: an error as a fixed-size value, so that a forked child can fill it
 * without memory and send it whole through a pipe.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

struct err {
	int code; /* a positive errno value; 0 while nothing failed */
	char text[252];
};
_Static_assert(sizeof(struct err) <= 512, "an err must fit one atomic write");

/* Both fill *err (NULL is fine) with a sentence in lower case without a full
 * stop, and return the negative code for "return fail(...)". fail_errno uses
 * errno and appends ": " and its text. */
int fail(struct err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int fail_errno(struct err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A broken invariant of our own: prints where, and aborts. */
#define BUG(text) bug_at(__FILE__, __LINE__, text)
_Noreturn void bug_at(const char *file, int line, const char *text);

#endif
