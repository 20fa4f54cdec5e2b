/* fd.c: file descriptors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

void
fd_close(int fd)
{
	int saved = errno;

	/* Linux has released the number even when close fails: never retry. */
	if (fd >= 0)
		(void)close(fd);
	errno = saved;
}

/* The lowest kept one from first on; ~0: there is none. */
static unsigned
next_kept(const int *kept, unsigned n, unsigned first)
{
	unsigned lowest = ~0u;

	for (unsigned i = 0; i < n; i++)
		if ((unsigned)kept[i] >= first && (unsigned)kept[i] < lowest)
			lowest = (unsigned)kept[i];
	return lowest;
}

int
fd_close_others(const int *kept, unsigned n)
{
	unsigned first = STDERR_FILENO + 1, number;

	while ((number = next_kept(kept, n, first)) != ~0u) {
		if (number > first && sys_close_range(first, number - 1) < 0)
			return -errno;
		first = number + 1;
	}
	return sys_close_range(first, ~0u) < 0 ? -errno : 0;
}

int
fd_pair(int ret_fds[2])
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	ret_fds[0] = fds[0];
	ret_fds[1] = fds[1];
	return 0;
}

int
fd_set_nonblocking(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

int
fd_read_all(int fd, void *bytes, size_t n)
{
	uint8_t *p = bytes;

	while (n > 0) {
		ssize_t got = read(fd, p, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EPIPE;
		p += got;
		n -= (size_t)got;
	}
	return 0;
}

static int
put_all(int fd, const void *bytes, size_t n,
    ssize_t (*put)(int fd, const void *bytes, size_t n))
{
	const uint8_t *p = bytes;

	while (n > 0) {
		ssize_t done = put(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

/* Calls of their own, where the faults of tests/fault come in. */
static ssize_t
write_some(int fd, const void *bytes, size_t n)
{
	return write(fd, bytes, n);
}

int
fd_write_all(int fd, const void *bytes, size_t n)
{
	return put_all(fd, bytes, n, write_some);
}

static ssize_t
send_some(int fd, const void *bytes, size_t n)
{
	return send(fd, bytes, n, MSG_NOSIGNAL);
}

int
fd_send_all(int fd, const void *bytes, size_t n)
{
	return put_all(fd, bytes, n, send_some);
}

int
fd_raise_limit(unsigned needed, const char *or_else, struct err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return fail_errno(err, "read RLIMIT_NOFILE");
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return fail_errno(err, "raise RLIMIT_NOFILE");
	if (limit.rlim_cur < needed)
		return fail(err, EMFILE,
		    "the hard limit of open files is %llu and %u are needed: "
		    "raise it (ulimit -Hn)%s",
		    (unsigned long long)limit.rlim_cur, needed, or_else);
	return 0;
}

int
fd_wait(int fd, int ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	int r;

	do
		r = poll(&ready, 1, ms);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	return r == 0 ? -ETIMEDOUT : 0;
}
