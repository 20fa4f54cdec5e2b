/* process.c: what a child keeps, waiting for its end, and reading that.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/process.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

int
process_keep_only(const int *kept, unsigned n)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(log_descriptor(), STDERR_FILENO) < 0 ||
	    dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		return -errno;
	return fd_close_others(kept, n);
}

/* Unless it was stopped, or is stuck. */
static bool
ends_by_itself(pid_t pid, unsigned wait_ms)
{
	for (unsigned waited_ms = 0; waited_ms < wait_ms; waited_ms++) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return true;
		(void)poll(NULL, 0, 1);
	}
	return false;
}

void
process_end(pid_t pid, int pidfd, unsigned wait_ms)
{
	if (!ends_by_itself(pid, wait_ms) && pidfd >= 0 &&
	    sys_pidfd_kill(pidfd, SIGKILL) == 0)
		(void)waitpid(pid, NULL, 0);
}

bool
process_ended_by(int status, int signal)
{
	return status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == signal;
}
