/* ops_sockets.c: what a shell-code tries with sockets.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_alg.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static int
op_socket(struct op_run *run)
{
	return OP_RESULT(
	    syscall(SYS_socket, op_number(run, 1), op_number(run, 2), 0));
}

static int
op_socketpair(struct op_run *run)
{
	int fds[2];

	(void)run;
	return OP_RESULT(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, fds));
}

static int
send_to(long fd, const void *address, size_t n)
{
	if (fd < 0 || syscall(SYS_connect, fd, address, n) < 0)
		return -errno;
	return OP_RESULT(syscall(SYS_sendto, fd, "hello", 5, 0, NULL, 0));
}

static int
op_internet(struct op_run *run, int type)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)op_number(run, 1)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return send_to(
	    syscall(SYS_socket, AF_INET, type, 0), &address, sizeof(address));
}

static int
op_tcp(struct op_run *run)
{
	return op_internet(run, SOCK_STREAM);
}

static int
op_udp(struct op_run *run)
{
	return op_internet(run, SOCK_DGRAM);
}

static int
op_unix_path(struct op_run *run)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strncpy(address.sun_path, run->words[1], sizeof(address.sun_path) - 1);
	return send_to(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0), &address,
	    sizeof(address));
}

static int
op_unix_abstract(struct op_run *run)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t n = strlen(run->words[1]);

	if (n + 1 > sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path + 1, run->words[1], n);
	return send_to(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0), &address,
	    offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static int
op_vsock(struct op_run *run)
{
	struct sockaddr_vm address = { .svm_family = AF_VSOCK,
		.svm_cid = VMADDR_CID_HOST,
		.svm_port = 1 };

	(void)run;
	return send_to(syscall(SYS_socket, AF_VSOCK, SOCK_STREAM, 0), &address,
	    sizeof(address));
}

static int
op_algorithms(struct op_run *run)
{
	struct sockaddr_alg address = { .salg_family = AF_ALG,
		.salg_type = "hash",
		.salg_name = "sha256" };
	long fd = syscall(SYS_socket, AF_ALG, SOCK_SEQPACKET, 0);

	(void)run;
	return fd < 0 ? -errno
		      : OP_RESULT(
			    syscall(SYS_bind, fd, &address, sizeof(address)));
}

static int
op_listen(struct op_run *run)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	long fd = syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);

	(void)run;
	if (fd < 0 || syscall(SYS_bind, fd, &address, sizeof(address)) < 0)
		return -errno;
	return OP_RESULT(syscall(SYS_listen, fd, 1));
}

const struct op ops_sockets[] = {
	{ "socket", 3, op_socket },
	{ "socketpair", 1, op_socketpair },
	{ "tcp", 2, op_tcp },
	{ "udp", 2, op_udp },
	{ "unix-path", 2, op_unix_path },
	{ "unix-abstract", 2, op_unix_abstract },
	{ "vsock", 1, op_vsock },
	{ "algorithms", 1, op_algorithms },
	{ "listen", 1, op_listen },
	{ NULL, 0, NULL },
};
