/* call_list.c: system calls, allowed and forbidden. Raw ones: what the C
 * library makes of its own functions is not what is looked at.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call_list.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

/* Descriptors: a child's number is the first. */
enum {
	DATAGRAMS = 3, /* a socket with a datagram waiting */
	PIPE_OUT,
	PIPE_IN,
	MEMORY,   /* a memfd of one page */
	RECEIVER, /* a datagram socket with an address */
	PEER,
	PROGRAM, /* /bin/true */
	LISTENER,
	DESCRIPTORS /* from here on: free */
};

static struct sockaddr_un address; /* RECEIVER's */
static socklen_t address_n;
static char *page; /* readable and writable */
static pid_t self, parent;

static void
put(int number, int fd)
{
	if (fd < 0 || dup2(fd, number) < 0)
		abort();
}

static void
prepare_sockets(int at)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
		abort();
	put(at + DATAGRAMS, pair[0]);
	put(at + PEER, pair[1]);
	put(at + RECEIVER, socket(AF_UNIX, SOCK_DGRAM, 0));
	address.sun_family = AF_UNIX;
	address_n = sizeof(address);
	/* The kernel finds a name. */
	if (bind(at + RECEIVER, (void *)&address, sizeof(sa_family_t)) < 0 ||
	    getsockname(at + RECEIVER, (void *)&address, &address_n) < 0)
		abort();
	put(at + LISTENER, socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
	if (bind(at + LISTENER, (void *)&(struct sockaddr_un){ AF_UNIX, "" },
		sizeof(sa_family_t)) < 0 ||
	    listen(at + LISTENER, 1) < 0)
		abort();
}

void
call_prepare(void)
{
	const int at = 100; /* out of the way of the numbers themselves */
	int ends[2];

	prepare_sockets(at);
	if (pipe(ends) < 0)
		abort();
	put(at + PIPE_OUT, ends[0]);
	put(at + PIPE_IN, ends[1]);
	put(at + MEMORY, memfd_create("page", MFD_ALLOW_SEALING));
	put(at + PROGRAM, open("/bin/true", O_RDONLY | O_CLOEXEC));
	for (int i = DATAGRAMS; i < DESCRIPTORS; i++)
		put(i, at + i);
	page = mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || ftruncate(MEMORY, PAGE) < 0 ||
	    write(PIPE_IN, "pipe", 4) != 4 || write(PEER, "datagram", 8) != 8 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || setpgid(0, 0) < 0)
		abort();
	/* Many die; cores of theirs are of no use. */
	if (setrlimit(RLIMIT_CORE, &(struct rlimit){ 1, 1 }) < 0)
		abort();
	self = getpid();
	parent = getppid();
}

/* NAME: a function that makes the call of these arguments. */
#define RAW(name, ...)                       \
	static long name(void)               \
	{                                    \
		return syscall(__VA_ARGS__); \
	}

/* ---- descriptors ---- */

RAW(read_3, SYS_read, DATAGRAMS, page, 8)
RAW(read_4, SYS_read, PIPE_OUT, page, 4)
RAW(read_0_beyond, SYS_read, DATAGRAMS | 1L << 32, page, 8)
RAW(write_5, SYS_write, PIPE_IN, "x", 1)
RAW(writev_5, SYS_writev, PIPE_IN, (&(struct iovec){ page, 1 }), 1)
RAW(send_3, SYS_sendto, DATAGRAMS, "x", 1, MSG_NOSIGNAL, NULL, 0)
RAW(send_8, SYS_sendto, PEER, "x", 1, MSG_NOSIGNAL, NULL, 0)
RAW(send_flags, SYS_sendto, DATAGRAMS, "x", 1, MSG_DONTWAIT, NULL, 0)
RAW(send_address, SYS_sendto, DATAGRAMS, "x", 1, MSG_NOSIGNAL, &address,
    address_n)
RAW(sendmsg_3, SYS_sendmsg, DATAGRAMS,
    (&(struct msghdr){
	.msg_iov = &(struct iovec){ page, 1 }, .msg_iovlen = 1 }),
    0)
RAW(close_5, SYS_close, PIPE_IN)
RAW(dup2_5, SYS_dup2, PIPE_IN, DESCRIPTORS)
RAW(getfl, SYS_fcntl, PIPE_IN, F_GETFL)
RAW(setown, SYS_fcntl, DATAGRAMS, F_SETOWN, 0)
RAW(add_seals, SYS_fcntl, MEMORY, F_ADD_SEALS, F_SEAL_GROW)
RAW(fionread, SYS_ioctl, PIPE_OUT, FIONREAD, page)
RAW(tiocsti, SYS_ioctl, PIPE_OUT, TIOCSTI, page)
RAW(fstat_6, SYS_fstat, MEMORY, page)
RAW(memfd, SYS_memfd_create, "m", MFD_CLOEXEC)
RAW(memfd_huge, SYS_memfd_create, "m", MFD_HUGETLB)
RAW(pipe_new, SYS_pipe2, page, 0)
RAW(splice_4, SYS_splice, PIPE_OUT, NULL, PIPE_IN, NULL, 1, 0)
RAW(epoll_new, SYS_epoll_create1, 0)
RAW(event_new, SYS_eventfd2, 0, 0)
RAW(poll_0, SYS_poll, page, 0, 0)

/* ---- sockets ---- */

static struct sock_filter allow_all = BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW);

RAW(socket_unix, SYS_socket, AF_UNIX, SOCK_STREAM, 0)
RAW(socket_inet, SYS_socket, AF_INET, SOCK_STREAM, 0)
RAW(socket_netlink, SYS_socket, AF_NETLINK, SOCK_RAW, 0)
RAW(pair_unix, SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, page)
RAW(pair_inet, SYS_socketpair, AF_INET, SOCK_STREAM, 0, page)
RAW(connect_8, SYS_connect, PEER, &address, address_n)
RAW(bind_8, SYS_bind, PEER, &(struct sockaddr_un){ AF_UNIX, "" },
    sizeof(sa_family_t))
RAW(listen_10, SYS_listen, LISTENER, 1)
RAW(set_filter, SYS_setsockopt, PEER, SOL_SOCKET, SO_ATTACH_FILTER,
    (&(struct sock_fprog){ 1, &allow_all }), sizeof(struct sock_fprog))
RAW(set_size, SYS_setsockopt, PEER, SOL_SOCKET, SO_RCVBUF, &(int){ 4096 }, 4)
RAW(accept_10, SYS_accept4, LISTENER, NULL, NULL, 0)

/* ---- memory ---- */

#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW        (PROT_READ | PROT_WRITE)
#define RX        (PROT_READ | PROT_EXEC)

static long
map(int prot, int flags, int fd)
{
	return syscall(SYS_mmap, NULL, PAGE, prot, flags, fd, 0);
}

#define MAP(name, ...)                   \
	static long name(void)           \
	{                                \
		return map(__VA_ARGS__); \
	}

MAP(map_plain, RW, ANONYMOUS, -1)
MAP(map_exec, RX, ANONYMOUS, -1)
MAP(map_all, RW | PROT_EXEC, ANONYMOUS, -1)
MAP(map_shared, RW, MAP_SHARED, MEMORY)
MAP(map_file, RW, MAP_PRIVATE, MEMORY)
MAP(map_file_exec, RX, MAP_PRIVATE, PROGRAM)
MAP(map_shared_exec, RX, MAP_SHARED, MEMORY)
RAW(protect, SYS_mprotect, page, PAGE, PROT_READ)
RAW(protect_exec, SYS_mprotect, page, PAGE, RX)
RAW(protect_all, SYS_mprotect, page, PAGE, RW | PROT_EXEC)
RAW(remap, SYS_mremap, page, PAGE, PAGE, MREMAP_MAYMOVE)
RAW(remap_fixed, SYS_mremap, page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
    page + PAGE)
RAW(unmap, SYS_munmap, page, PAGE)
RAW(heap_end, SYS_brk, 0)
RAW(dont_need, SYS_madvise, page, PAGE, MADV_DONTNEED)
RAW(will_need, SYS_madvise, page, PAGE, MADV_WILLNEED)
RAW(populate, SYS_madvise, page, PAGE, 23)
RAW(populate_self, SYS_process_madvise, -10000, (&(struct iovec){ page, PAGE }),
    1, 23, 0)
RAW(populate_4, SYS_process_madvise, PIPE_OUT, (&(struct iovec){ page, PAGE }),
    1, 23, 0)
RAW(secret, SYS_memfd_secret, 0)
RAW(fault_fd, SYS_userfaultfd, 0)

/* ---- time, locks, numbers ---- */

#define NO_TIME (&(struct timespec){ 0 })

RAW(clock_real, SYS_clock_gettime, CLOCK_REALTIME, page)
RAW(clock_own, SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, page)
/* As clock_getcpuclockid() has it. */
RAW(clock_parent, SYS_clock_gettime, (int)(~(unsigned)parent << 3 | 2), page)
RAW(resolution, SYS_clock_getres, CLOCK_MONOTONIC, page)
RAW(clock_set, SYS_clock_settime, CLOCK_REALTIME, NULL)
RAW(sleep_clock, SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, NO_TIME, NULL)
RAW(sleep_plain, SYS_nanosleep, NO_TIME, NULL)
RAW(wake, SYS_futex, page, FUTEX_WAKE_PRIVATE, 1)
RAW(wake_shared, SYS_futex, page, FUTEX_WAKE, 1)
RAW(requeue, SYS_futex, page, FUTEX_REQUEUE_PRIVATE, 1, 1, page + 8)
RAW(yield, SYS_sched_yield)
RAW(nice_19, SYS_setpriority, PRIO_PROCESS, 0, 19)
RAW(nice_less, SYS_setpriority, PRIO_PROCESS, 0, 0)
RAW(class_idle, SYS_sched_setscheduler, 0, SCHED_IDLE, page)
RAW(random_bytes, SYS_getrandom, page, 8, 0)

/* ---- signals and processes ---- */

RAW(mask, SYS_rt_sigprocmask, SIG_BLOCK, NULL, page, 8)
RAW(stack_other, SYS_sigaltstack, NULL, page)
RAW(action, SYS_rt_sigaction, SIGUSR1, NULL, page, 8)
RAW(kill_self, SYS_kill, self, SIGKILL)
RAW(kill_group, SYS_kill, -self, SIGKILL)
RAW(kill_not, SYS_kill, self, 0)
RAW(tgkill_not, SYS_tgkill, self, self, 0)
RAW(own_number, SYS_getpid)
RAW(parent_number, SYS_getppid)
RAW(thread_number, SYS_gettid)
RAW(pidfd, SYS_pidfd_open, self, 0)
RAW(pidfd_take, SYS_pidfd_getfd, PIPE_OUT, 1, 0)
RAW(clone3_empty, SYS_clone3, NULL, 0)
RAW(unshare_user, SYS_unshare, CLONE_NEWUSER)
RAW(set_namespace, SYS_setns, PIPE_OUT, 0)
RAW(trace_me, SYS_ptrace, PTRACE_TRACEME, 0, NULL, NULL)
RAW(memory_of_self, SYS_process_vm_readv, self, (&(struct iovec){ page, 8 }), 1,
    (&(struct iovec){ page + 8, 8 }), 1, 0)
RAW(limit_own, SYS_prlimit64, 0, RLIMIT_CORE, NULL, page)
RAW(limit_parent, SYS_prlimit64, parent, RLIMIT_CORE, NULL, page)

static long
abort_now(void)
{
	abort();
}

static long
clone_with(unsigned long flags)
{
	long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		syscall(SYS_exit_group, 0);
	return pid < 0 ? -1 : syscall(SYS_wait4, pid, NULL, 0, NULL);
}

static long
fork_plain(void)
{
	return clone_with(0);
}

/* What a session's copy is: its parent's child, which reaps it. */
static long
clone_sibling(void)
{
	long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		syscall(SYS_exit_group, 0);
	return pid < 0 ? -1 : 0;
}

static long
clone_user(void)
{
	return clone_with(CLONE_NEWUSER);
}

static long
clone_pid(void)
{
	return clone_with(CLONE_NEWPID);
}

static long
clone_mount_too(void)
{
	return clone_with(CLONE_NEWPID | CLONE_NEWNS);
}

/* ---- programs ---- */

static char *const argv[] = { (char[]){ "true" }, NULL };

static long
exec_path(void)
{
	return syscall(SYS_execve, "/bin/true", argv, argv + 1);
}

static long
exec_fd(void)
{
	return syscall(
	    SYS_execveat, PROGRAM, "", argv, argv + 1, AT_EMPTY_PATH);
}

static long
exec_at(void)
{
	return syscall(SYS_execveat, AT_FDCWD, "/bin/true", argv, argv + 1, 0);
}

/* ---- files ---- */

RAW(open_read, SYS_openat, AT_FDCWD, "/", O_RDONLY | O_CLOEXEC)
RAW(open_write, SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY)
RAW(open_append, SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_APPEND)
RAW(open_make, SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CREAT, 0)
RAW(open_old, SYS_open, "/", O_RDONLY)
RAW(open_old_write, SYS_open, "/dev/null", O_RDWR)
RAW(open_new, SYS_openat2, AT_FDCWD, "/", page, 24)
RAW(open_handle, SYS_open_by_handle_at, AT_FDCWD, page, 0)
RAW(stat_path, SYS_newfstatat, AT_FDCWD, "/", page, 0)
RAW(stat_fd, SYS_newfstatat, MEMORY, "", page, AT_EMPTY_PATH)
RAW(statx_fd, SYS_statx, MEMORY, "", AT_EMPTY_PATH, 0, page)
RAW(statx_path, SYS_statx, AT_FDCWD, "/", 0, 0, page)
RAW(link_read, SYS_readlinkat, AT_FDCWD, "/proc/self/exe", page, PAGE)
RAW(list, SYS_getdents64, PROGRAM, page, PAGE)
RAW(make_dir, SYS_mkdirat, AT_FDCWD, "/", 0)
RAW(remove_dir, SYS_unlinkat, AT_FDCWD, "/", AT_REMOVEDIR)
RAW(mode_of_fd, SYS_fchmod, MEMORY, 0600)
RAW(owner_of_fd, SYS_fchown, MEMORY, -1, -1)
RAW(attribute, SYS_fsetxattr, MEMORY, "user.x", "", 0, 0)
RAW(root_here, SYS_chroot, ".")
RAW(mount_none, SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)

/* ---- rights ---- */

RAW(name_set, SYS_prctl, PR_SET_NAME, "name")
RAW(keep_caps, SYS_prctl, PR_SET_KEEPCAPS, 0, 0, 0, 0)
RAW(no_tracer, SYS_prctl, PR_SET_PTRACER, 0, 0, 0, 0)
RAW(memory_map, SYS_prctl, PR_SET_MM, PR_SET_MM_BRK, 0, 0, 0)
RAW(landlock_version, SYS_landlock_create_ruleset, NULL, 0, 1)
RAW(filter_more, SYS_seccomp, SECCOMP_SET_MODE_FILTER,
    SECCOMP_FILTER_FLAG_TSYNC, (&(struct sock_fprog){ 1, &allow_all }))
RAW(filter_listen, SYS_seccomp, SECCOMP_SET_MODE_FILTER,
    SECCOMP_FILTER_FLAG_NEW_LISTENER, (&(struct sock_fprog){ 1, &allow_all }))
RAW(user_same, SYS_setresuid, -1, -1, -1)
RAW(groups_none, SYS_setgroups, 0, NULL)
RAW(persona, SYS_personality, 0xffffffff)

/* ---- the kernel's other doors ---- */

RAW(bpf_none, SYS_bpf, 0, page, 0)
RAW(perf, SYS_perf_event_open, page, 0, -1, -1, 0)
RAW(keys, SYS_keyctl, 0, -3, 0)
RAW(key_add, SYS_add_key, "user", "k", "v", 1, -3)
RAW(ring_new, SYS_io_uring_setup, 1, page)
RAW(ring_enter, SYS_io_uring_enter, PIPE_OUT, 0, 0, 0, NULL, 0)
RAW(module_load, SYS_finit_module, PIPE_OUT, "", 0)
RAW(ports, SYS_iopl, 0)
RAW(segments, SYS_modify_ldt, 0, page, 8)
RAW(kernel_log, SYS_syslog, 10, NULL, 0)
RAW(no_such_call, 511)

/* A call of the other sets of numbers, where the kernel has them. */
RAW(x32_getpid, 0x40000000 | SYS_getpid)

static long
i386_getpid(void)
{
	long r = 20; /* its number there */

	__asm__ volatile("int $0x80" : "+a"(r) : : "memory");
	return r < 0 ? -1 : 0;
}

#define CALL(marks, make)                 \
	{                                 \
#make, marks, make, false \
	}
#define MAYBE(marks, make)               \
	{                                \
#make, marks, make, true \
	}

/* clang-format off */
/* launcher, keeper, zygote, child, session, server, watcher, saver,
 * proxy_zygote, proxy, native, native_alone, deno */
const struct call calls[] = {
	CALL("+++++++++++++", read_3), CALL("+++xx++++++++", read_4),
	CALL("+++++++++++++", read_0_beyond),
	CALL("+++xx+E++x+++", write_5), CALL("++Exx+EEEx+++", writev_5),
	CALL("+++++++++++++", send_3), CALL("+++xx++++x+++", send_8),
	CALL("+++xx++++x+++", send_flags), CALL("EEExxEEEEx+++", send_address),
	CALL("+++xx+EE+x+++", sendmsg_3),
	CALL("+++x+++++++++", close_5), CALL("+++xx+EE+x+++", dup2_5),
	CALL("+++xx+EE+x+++", getfl), CALL("EEExxEEEEx+++", setown),
	CALL("++ExxEEEEx+++", add_seals), CALL("EEExx+EEEx+++", fionread),
	MAYBE("EEExxEEEExNNN", tiocsti),
	CALL("++Exx++EEx+++", fstat_6), CALL("++ExxEEEEx+++", memfd),
	MAYBE("EEExxEEEEx+++", memfd_huge), CALL("++Exx+EEEx+++", pipe_new),
	MAYBE("xxxxxxxxxxEEE", splice_4), CALL("EEExx+EEEx+++", epoll_new),
	CALL("EEExx+EEEx+++", event_new), CALL("+++xx++E+x+++", poll_0),

	CALL("EEExxEEEEx+++", socket_unix), CALL("EEExxEEEExEEE", socket_inet),
	MAYBE("EEExxEEEExEEE", socket_netlink), CALL("++ExxEEE+x+++", pair_unix),
	MAYBE("EEExxEEEExNNN", pair_inet), CALL("EEExxEEEEx+++", connect_8),
	CALL("EEExxEEEEx+++", bind_8), CALL("EEExxEEEEx+++", listen_10),
	MAYBE("EEExx+EEEx+++", accept_10),
	CALL("++Exx+EEExNNN", set_filter), CALL("++Exx+EEEx+++", set_size),

	CALL("+++++++++++++", map_plain), CALL("EEExxEEEEx+++", map_exec),
	CALL("EEExxEEEEx+++", map_all), CALL("+++x+EEE+++++", map_shared),
	CALL("++ExxEEEEx+++", map_file), CALL("+EExxEEEEx+++", map_file_exec),
	CALL("EEExxEEEEx+++", map_shared_exec),
	CALL("+++++++++++++", protect), CALL("++ExxEEEEx+++", protect_exec),
	CALL("EEExxEEEEx+++", protect_all),
	CALL("+++++++++++++", remap), CALL("EEExxEEEEx+++", remap_fixed),
	CALL("+++++++++++++", unmap), CALL("+++++++++++++", heap_end),
	CALL("+++++++++++++", dont_need), CALL("++Exx+EEEx+++", will_need),
	MAYBE("+++xx+EE+x+++", populate), MAYBE("+++xxEEE+xEEE", populate_self),
	MAYBE("EEExxEEEExEEE", populate_4),
	MAYBE("xxxxxxxxxxEEE", secret), MAYBE("xxxxxxxxxxEEE", fault_fd),

	CALL("+++++++++++++", clock_real), CALL("++++++EE+++++", clock_own),
	CALL("++Exx+EEEx+++", clock_parent), CALL("++++++EE+++++", resolution),
	MAYBE("xxxxxxxxxxEEE", clock_set),
	CALL("++++++EE+++++", sleep_clock), CALL("++++++EE+++++", sleep_plain),
	CALL("+++++++++++++", wake), CALL("EEExx+EEEx+++", wake_shared),
	CALL("EEExx+EEEx+++", requeue), CALL("++++++EE+++++", yield),
	CALL("+++++EEE+++++", nice_19), CALL("EEExxEEEEx+++", nice_less),
	CALL("EEExxEEEExEEE", class_idle),
	CALL("+++++++++++++", random_bytes),

	CALL("+++++++++++++", mask), CALL("+++++++++++++", stack_other),
	CALL("+++xx++++x+++", action), MAYBE("++ExxEEEEx+++", kill_self),
	MAYBE("EEExxEEEEx+++", kill_group), CALL("EEExxEEEEx+++", kill_not),
	CALL("EEExxEEEEx+++", tgkill_not), MAYBE("+++xx++++x+++", abort_now),
	CALL("+++xx++++x+++", own_number), CALL("+++x++EE+x+++", parent_number),
	CALL("+++xx++++x+++", thread_number), CALL("+++xxEEE+x+++", pidfd),
	MAYBE("xxxxxxxxxxEEE", pidfd_take),
	CALL("+++xxEEE+x+EE", fork_plain), CALL("+++x+EEE+x+EE", clone_sibling), MAYBE("EEExxEEEExEEE", clone_user),
	MAYBE("++ExxEEEExEEE", clone_pid), MAYBE("EEExxEEEExEEE", clone_mount_too),
	MAYBE("NNNxxEEENxNNN", clone3_empty), MAYBE("+EExxxxxExEEE", unshare_user),
	MAYBE("EEExxxxxExEEE", set_namespace),
	CALL("xxxxxxxxxxEEE", trace_me), CALL("xxxxxxxxxxEEE", memory_of_self),
	CALL("+++xx+EE+x+++", limit_own), MAYBE("EEExxEEEExNNN", limit_parent),

	CALL("xxxxxxxxxx+E+", exec_path), CALL("+EExxxxxEx+EE", exec_fd),
	CALL("EEExxxxxEx+EE", exec_at),

	CALL("++ExxE+EEx+++", open_read), CALL("+EExxEEEEx+++", open_write),
	CALL("+EExxEEEEx+++", open_append), MAYBE("+EExxEEEEx+++", open_make),
	CALL("++ExxE+EEx+++", open_old), CALL("EEExxEEEEx+++", open_old_write),
	CALL("EEExxxxxEx+++", open_new), MAYBE("xxxxxxxxxxEEE", open_handle),
	CALL("++ExxE++Ex+++", stat_path), CALL("++Exx+++Ex+++", stat_fd),
	CALL("++Exx+++Ex+++", statx_fd), CALL("++ExxE++Ex+++", statx_path),
	CALL("++ExxEEEEx+++", link_read), MAYBE("++ExxEEEEx+++", list),
	MAYBE("+EExxEE+Ex+++", make_dir), MAYBE("+EExxEEEEx+++", remove_dir),
	CALL("EEExxEEEEx+++", mode_of_fd), CALL("EEExxEEEExEEE", owner_of_fd),
	MAYBE("EEExxEEEExEEE", attribute),
	MAYBE("++ExxxxxExEEE", root_here), MAYBE("+EExxxxxExEEE", mount_none),

	CALL("+++xx+EE+x+++", name_set), CALL("++ExxEEEExNNN", keep_caps),
	MAYBE("EEExxEEEExNNN", no_tracer), MAYBE("EEExxEEEExNNN", memory_map),
	MAYBE("+++xxEEE+xEEE", landlock_version), CALL("+++xxEEE+x+NN", filter_more),
	MAYBE("EEExxEEEExNNN", filter_listen),
	CALL("++ExxEEEExEEE", user_same), MAYBE("++ExxEEEExEEE", groups_none),
	CALL("EEExxEEEExNNN", persona),

	MAYBE("xxxxxxxxxxEEE", bpf_none), MAYBE("xxxxxxxxxxEEE", perf),
	MAYBE("xxxxxxxxxxEEE", keys), MAYBE("xxxxxxxxxxEEE", key_add),
	MAYBE("EEExxNxxExEEE", ring_new), MAYBE("xxxxxxxxxxEEE", ring_enter),
	MAYBE("xxxxxxxxxxEEE", module_load), MAYBE("xxxxxxxxxxEEE", ports),
	MAYBE("xxxxxxxxxxEEE", segments), MAYBE("xxxxxxxxxxEEE", kernel_log),
	MAYBE("EEExxEEEEx+++", no_such_call),
	MAYBE("xxxxxxxxxxxxx", x32_getpid), MAYBE("xxxxxxxxxxxxx", i386_getpid),
};
/* clang-format on */

const unsigned calls_n = sizeof(calls) / sizeof(calls[0]);
