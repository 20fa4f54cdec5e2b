/* sys.h: system calls that the C library of Debian 12 lacks or hides, one
 * thin function each. All return what the kernel gives and set errno.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SYS_H
#define BASE_SYS_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#define SYS_PIDFD_SELF (-10000) /* this process, since Linux 6.14 */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14 */
#endif

int sys_pidfd_open(pid_t pid);
int sys_pidfd_kill(int pidfd, int signal);
int sys_execveat(int program, char *const argv[], char *const env[]);
int sys_close_range(unsigned first, unsigned last);
ssize_t sys_process_madvise(
    int pidfd, const struct iovec *ranges, size_t n, int advice);

#endif
