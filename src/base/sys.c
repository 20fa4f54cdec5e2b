/* sys.c: system calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sys.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

int
sys_pidfd_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

int
sys_pidfd_kill(int pidfd, int signal)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

int
sys_execveat(int program, char *const argv[], char *const env[])
{
	return (int)syscall(
	    SYS_execveat, program, "", argv, env, AT_EMPTY_PATH);
}

int
sys_close_range(unsigned first, unsigned last)
{
	return (int)syscall(SYS_close_range, first, last, 0);
}

ssize_t
sys_process_madvise(int pidfd, const struct iovec *ranges, size_t n, int advice)
{
	return syscall(SYS_process_madvise, pidfd, ranges, n, advice, 0);
}
