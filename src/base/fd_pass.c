/* fd_pass.c: descriptors beside bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/fd_pass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * FD_PASS_MAX)];
};

int
fd_send_with(
    int socket, const void *bytes, size_t n, const int *fds, unsigned fds_n)
{
	union control control = { 0 };
	struct iovec part = { (void *)bytes, n };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header;

	if (fds_n > 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * fds_n);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int) * fds_n);
		memcpy(CMSG_DATA(header), fds, sizeof(int) * fds_n);
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void
take_fds(struct msghdr *message, int *ret_fds, unsigned fds_n)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);

	if (header && header->cmsg_level == SOL_SOCKET &&
	    header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len <= CMSG_LEN(sizeof(int) * fds_n))
		memcpy(
		    ret_fds, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
}

int
fd_receive_with(int socket, void *bytes, size_t n, int *ret_fds, unsigned fds_n)
{
	union control control;
	struct iovec part = { bytes, n };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = CMSG_SPACE(sizeof(int) * fds_n) };
	ssize_t got;

	for (unsigned i = 0; i < fds_n; i++)
		ret_fds[i] = -1;
	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	take_fds(&message, ret_fds, fds_n);
	if (got == 0)
		return -EPIPE;
	return (size_t)got == n ? 0 : -EPROTO;
}
