/* process.h: the beginning and the end of a process that we forked.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* In the child: of its parent's it keeps the log, as its standard error, and
 * the n kept descriptors; the other two standard streams lead nowhere. 0 or
 * -errno. */
int process_keep_only(const int *kept, unsigned n);

/* Reaps the child pid, which was told to end: waits so many milliseconds for
 * it, then kills it by pidfd (negative: it cannot be killed). One of another
 * user is left alone then, and ends when it goes on. */
void process_end(pid_t pid, int pidfd, unsigned wait_ms);

/* By what waitpid said of it (negative: nothing): that signal ended it. SIGKILL comes from somebody
 * outside, or for want of memory. */
bool process_ended_by(int status, int signal);

#endif
