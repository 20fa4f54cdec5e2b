/* fds.c: closing what a process must not hold.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include "base/fd.h"

#include <string.h>
#include <unistd.h>

int
wall_fds(int null_fd, const int *keep, unsigned n, struct err *err)
{
	int r;

	/* The standard three lead nowhere, so that no library of ours can
	 * write into a client's stream or our log from inside a child. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (dup2(null_fd, fd) < 0)
			return fail_errno(
			    err, "wall fds: dup2 %d to %d", null_fd, fd);
	r = fd_close_others(keep, n);
	return r < 0 ? fail(err, -r, "wall fds: close_range: %s", strerror(-r))
		     : 0;
}
