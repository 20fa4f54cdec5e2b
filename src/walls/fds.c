/* fds.c: closing what a process must not hold.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include "base/fd.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The standard three lead nowhere, so that no library of ours can write into
 * a client's stream or our log from inside a child. */
static int
null_standard(struct err *err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int r = 0;

	if (null < 0)
		return fail_errno(err, "wall fds: open /dev/null");
	if (dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		r = fail_errno(err, "wall fds: dup2");
	(void)close(null);
	return r;
}

int
wall_fds(const int *keep, unsigned n, struct err *err)
{
	int r = null_standard(err);

	if (r < 0)
		return r;
	r = fd_close_others(keep, n);
	return r < 0 ? fail(err, -r, "wall fds: close_range: %s", strerror(-r))
		     : 0;
}
