/* process.h: the end of a process that we forked.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <sys/types.h>

/* Reaps the child pid, which was told to end: waits so many milliseconds for
 * it, then kills it by pidfd (negative: it cannot be killed). One of another
 * user is left alone then, and ends when it goes on. */
void process_end(pid_t pid, int pidfd, unsigned wait_ms);

#endif
