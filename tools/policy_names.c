/* policy_names.c: the names that a seccomp policy may use.
 * SPDX-License-Identifier: Apache-2.0 */
#include "policy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

/* What the headers of Debian 12 lack; part of the kernel's interface. */
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif
#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif
#define PIDFD_SELF (-10000) /* a process of itself, since Linux 6.14 */

/* The bit that marks an int as negative. */
#define SIGN_BIT 0x80000000u

struct constant {
	const char *name;
	uint64_t value;
};

#define C(name)                                  \
	{                                        \
#name, (uint64_t)(int64_t)(name) \
	}

/* clang-format off */
static const struct constant constants[] = {
	C(AF_ALG), C(AF_BLUETOOTH), C(AF_CAN), C(AF_INET), C(AF_INET6),
	C(AF_KEY), C(AF_NETLINK), C(AF_PACKET), C(AF_RDS), C(AF_TIPC),
	C(AF_UNIX), C(AF_VSOCK), C(AF_XDP), C(AT_EMPTY_PATH),
	C(CLOCK_MONOTONIC), C(CLOCK_PROCESS_CPUTIME_ID), C(CLOCK_REALTIME),
	C(CLOCK_THREAD_CPUTIME_ID),
	C(CLONE_CHILD_CLEARTID), C(CLONE_CHILD_SETTID), C(CLONE_DETACHED),
	C(CLONE_NEWCGROUP),
	C(CLONE_NEWIPC), C(CLONE_NEWNET), C(CLONE_NEWNS), C(CLONE_NEWPID),
	C(CLONE_NEWTIME), C(CLONE_NEWUSER), C(CLONE_NEWUTS),
	C(CLONE_PARENT), C(CLONE_FILES), C(CLONE_FS), C(CLONE_SETTLS),
	C(CLONE_SIGHAND), C(CLONE_SYSVSEM), C(CLONE_THREAD), C(CLONE_VM),
	C(CLONE_PARENT_SETTID),
	C(EACCES), C(ENOSYS), C(EPERM),
	C(FIOCLEX), C(FIONBIO), C(FIONCLEX), C(FIONREAD), C(TCGETS),
	C(TIOCGPGRP), C(TIOCGWINSZ),
	C(FUTEX_WAIT_BITSET_PRIVATE), C(FUTEX_WAIT_PRIVATE),
	C(FUTEX_WAKE_BITSET_PRIVATE), C(FUTEX_WAKE_PRIVATE),
	C(F_ADD_SEALS), C(F_DUPFD), C(F_DUPFD_CLOEXEC), C(F_GETFD),
	C(F_GETFL), C(F_GET_SEALS), C(F_SETFD), C(F_SETFL),
	C(MADV_DONTNEED), C(MADV_FREE), C(MADV_HUGEPAGE),
	C(MADV_POPULATE_WRITE),
	C(MAP_ANONYMOUS), C(MAP_DENYWRITE), C(MAP_FIXED), C(MAP_NORESERVE),
	C(MAP_PRIVATE), C(MAP_SHARED), C(MAP_STACK), C(MREMAP_MAYMOVE),
	C(MFD_ALLOW_SEALING), C(MFD_CLOEXEC), C(MFD_NOEXEC_SEAL),
	C(MSG_CMSG_CLOEXEC), C(MSG_DONTWAIT), C(MSG_NOSIGNAL),
	C(O_CLOEXEC), C(O_DIRECTORY), C(O_NOCTTY), C(O_NOFOLLOW),
	C(O_CREAT), C(O_EXCL), C(O_NONBLOCK), C(O_PATH), C(O_RDONLY),
	C(O_WRONLY), { "O_LARGEFILE", 0100000 },
	C(PIDFD_SELF),
	C(PRIO_PROCESS), C(PROT_EXEC), C(PROT_READ), C(PROT_WRITE),
	C(PR_CAPBSET_DROP), C(PR_CAPBSET_READ), C(PR_CAP_AMBIENT),
	C(PR_GET_DUMPABLE), C(PR_GET_NAME), C(PR_GET_KEEPCAPS), C(PR_GET_MDWE),
	C(PR_GET_NO_NEW_PRIVS), C(PR_GET_PDEATHSIG), C(PR_GET_SECCOMP),
	C(PR_GET_SECUREBITS), C(PR_SET_CHILD_SUBREAPER), C(PR_SET_DUMPABLE),
	C(PR_SET_KEEPCAPS), C(PR_SET_MDWE), C(PR_SET_NAME),
	C(PR_SET_NO_NEW_PRIVS), C(PR_SET_PDEATHSIG), C(PR_SET_SECUREBITS),
	C(PR_SET_TIMERSLACK),
	C(SECCOMP_FILTER_FLAG_TSYNC), C(SECCOMP_GET_ACTION_AVAIL),
	C(SECCOMP_SET_MODE_FILTER),
	C(SIGABRT), C(SIGCHLD), C(SIGKILL), C(SIGN_BIT),
	C(SOL_SOCKET), C(SO_KEEPALIVE), C(SO_LINGER), C(SO_PASSCRED),
	C(SO_RCVBUF), C(SO_RCVTIMEO), C(SO_REUSEADDR), C(SO_SNDBUF),
	C(SO_SNDTIMEO),
};

/* Arguments in their order: of 4 bytes or 8; "-" has no name here. */
static const struct {
	const char *call, *args;
} signatures[] = {
	{ "clock_getres", "clock:4" },
	{ "clock_gettime", "clock:4" },
	{ "clock_nanosleep", "clock:4" },
	{ "clone", "flags:8" },
	{ "dup2", "- new:4" },
	{ "execveat", "- - - - flags:4" },
	{ "fcntl", "fd:4 command:4" },
	{ "futex", "- op:4" },
	{ "getsockopt", "fd:4 level:4 name:4" },
	{ "ioctl", "fd:4 command:4" },
	{ "kill", "pid:4 signal:4" },
	{ "madvise", "- - advice:4" },
	{ "memfd_create", "- flags:4" },
	{ "mmap", "- - prot:8 flags:8 fd:4" },
	{ "mprotect", "- - prot:8" },
	{ "mremap", "- - - flags:8" },
	{ "newfstatat", "- - - flags:4" },
	{ "open", "- flags:4" },
	{ "openat", "- - flags:4" },
	{ "pidfd_send_signal", "- signal:4 info:8 flags:4" },
	{ "poll", "- count:8" },
	{ "ppoll", "- count:8" },
	{ "prctl", "option:4 value:8" },
	{ "prlimit64", "pid:4" },
	{ "process_madvise", "pidfd:4 - - advice:4 flags:4" },
	{ "read", "fd:4" },
	{ "recvfrom", "fd:4 - - flags:4 address:8" },
	{ "recvmsg", "fd:4 - flags:4" },
	{ "renameat2", "- - - - flags:4" },
	{ "seccomp", "op:4 flags:4" },
	{ "sendto", "fd:4 - - flags:4 address:8" },
	{ "setpriority", "which:4 who:4 nice:4" },
	{ "setsockopt", "fd:4 level:4 name:4" },
	{ "socket", "family:4" },
	{ "socketpair", "family:4" },
	{ "statx", "- - flags:4" },
	{ "tgkill", "- - signal:4" },
	{ "unlinkat", "- - flags:4" },
	{ "unshare", "flags:8" },
	{ "write", "fd:4 - n:8" },
	{ "writev", "fd:4" },
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

bool
policy_constant(const char *name, uint64_t *ret_value)
{
	char *end;

	for (size_t i = 0; i < COUNT(constants); i++)
		if (strcmp(constants[i].name, name) == 0) {
			*ret_value = constants[i].value;
			return true;
		}
	*ret_value = (uint64_t)strtoll(name, &end, 0);
	return end != name && *end == '\0';
}

static const char *
signature_of(const char *call)
{
	for (size_t i = 0; i < COUNT(signatures); i++)
		if (strcmp(signatures[i].call, call) == 0)
			return signatures[i].args;
	return "";
}

bool
policy_argument(
    const char *call, const char *name, unsigned *ret_at, bool *ret_narrow)
{
	char args[80], *state = NULL;
	size_t n = strlen(name);

	(void)snprintf(args, sizeof(args), "%s", signature_of(call));
	*ret_at = 0;
	for (char *arg = strtok_r(args, " ", &state); arg;
	     arg = strtok_r(NULL, " ", &state), ++*ret_at)
		if (strncmp(arg, name, n) == 0 && arg[n] == ':') {
			*ret_narrow = arg[n + 1] == '4';
			return true;
		}
	return false;
}
