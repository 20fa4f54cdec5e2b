/* ops_processes.c: what a shell-code tries with processes, and with its own
 * identity.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

/* ---- other processes: their number is the first argument ---- */

static int
op_kill(struct op_run *run)
{
	return OP_RESULT(
	    syscall(SYS_kill, op_number(run, 1), op_number(run, 2)));
}

static int
op_tgkill(struct op_run *run)
{
	long pid = op_number(run, 1);

	return OP_RESULT(syscall(SYS_tgkill, pid, pid, op_number(run, 2)));
}

static int
op_sigqueue(struct op_run *run)
{
	siginfo_t info = { .si_code = SI_QUEUE };

	return OP_RESULT(syscall(
	    SYS_rt_sigqueueinfo, op_number(run, 1), op_number(run, 2), &info));
}

static int
op_ptrace(struct op_run *run)
{
	return OP_RESULT(
	    syscall(SYS_ptrace, PTRACE_ATTACH, op_number(run, 1), 0, 0));
}

static int
op_ptrace_seize(struct op_run *run)
{
	return OP_RESULT(
	    syscall(SYS_ptrace, PTRACE_SEIZE, op_number(run, 1), 0, 0));
}

/* Reads or writes a word at an address that the fork of one program has in
 * common with us: a variable of ours. */
static int
op_vm(struct op_run *run, long number)
{
	static char word[8];
	struct iovec here = { word, sizeof(word) };
	struct iovec there = { word, sizeof(word) };

	return OP_RESULT(
	    syscall(number, op_number(run, 1), &here, 1, &there, 1, 0));
}

static int
op_vm_read(struct op_run *run)
{
	return op_vm(run, SYS_process_vm_readv);
}

static int
op_vm_write(struct op_run *run)
{
	return op_vm(run, SYS_process_vm_writev);
}

static int
op_mem(struct op_run *run)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%s/mem", run->words[1]);
	return OP_RESULT(syscall(SYS_openat, AT_FDCWD, path, O_RDWR, 0));
}

static int
op_environ(struct op_run *run)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%s/environ", run->words[1]);
	return OP_RESULT(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0));
}

static int
op_pidfd(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_pidfd_open, op_number(run, 1), 0));
}

static int
op_pidfd_getfd(struct op_run *run)
{
	long fd = syscall(SYS_pidfd_open, op_number(run, 1), 0);

	return fd < 0 ? -errno
		      : OP_RESULT(
			    syscall(SYS_pidfd_getfd, fd, op_number(run, 2), 0));
}

static int
op_pidfd_kill(struct op_run *run)
{
	long fd = syscall(SYS_pidfd_open, op_number(run, 1), 0);

	return fd < 0 ? -errno
		      : OP_RESULT(syscall(SYS_pidfd_send_signal, fd,
			    op_number(run, 2), NULL, 0));
}

static int
op_setns(struct op_run *run)
{
	long fd = syscall(SYS_pidfd_open, op_number(run, 1), 0);

	return fd < 0 ? -errno
		      : OP_RESULT(syscall(SYS_setns, fd, op_number(run, 2)));
}

static int
op_prlimit(struct op_run *run)
{
	struct rlimit limit = { 0, 0 };

	return OP_RESULT(syscall(
	    SYS_prlimit64, op_number(run, 1), RLIMIT_CORE, &limit, NULL));
}

static int
op_kcmp(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_kcmp, op_number(run, 1), op_number(run, 1),
	    0 /* KCMP_FILE */, 0, 1));
}

static int
op_affinity(struct op_run *run)
{
	unsigned long one = 1;

	return OP_RESULT(syscall(
	    SYS_sched_setaffinity, op_number(run, 1), sizeof(one), &one));
}

static int
op_mrelease(struct op_run *run)
{
	long fd = syscall(SYS_pidfd_open, op_number(run, 1), 0);

	return fd < 0 ? -errno
		      : OP_RESULT(syscall(SYS_process_mrelease, fd, 0));
}

/* ---- more of them ---- */

static void
linger(void)
{
	struct timespec minute = { 60, 0 };

	(void)syscall(SYS_nanosleep, &minute, NULL);
	syscall(SYS_exit_group, 0);
}

/* fork COUNT (of 1 by default): each lingers. */
static int
op_fork(struct op_run *run)
{
	long n = run->words_n > 1 ? op_number(run, 1) : 1;

	for (long i = 0; i < n; i++) {
		long pid = syscall(SYS_fork);

		if (pid < 0) {
			int code = errno;

			op_say(run, "after %ld", i);
			return -code;
		}
		if (pid == 0)
			linger();
	}
	return 0;
}

/* A process that nobody who kills by parents or groups would find: fork-away
 * NAME. The name, for those who look from outside, is there before it is. */
static int
op_fork_away(struct op_run *run)
{
	long pid = syscall(SYS_fork);

	if (pid == 0) {
		(void)syscall(SYS_setsid);
		(void)syscall(SYS_prctl, PR_SET_NAME, run->words[1], 0, 0, 0);
		if (syscall(SYS_fork) == 0)
			linger();
		syscall(SYS_exit_group, 0);
	}
	if (pid < 0)
		return -errno;
	return OP_RESULT(syscall(SYS_wait4, pid, NULL, 0, NULL));
}

static int
op_vfork(struct op_run *run)
{
	/* As vfork, but for its stack, which a function cannot share. */
	long pid = syscall(SYS_clone, SIGCHLD | CLONE_VFORK, 0, 0, 0, 0);

	(void)run;
	if (pid == 0)
		syscall(SYS_exit_group, 0);
	return OP_RESULT(pid);
}

static int
op_clone(struct op_run *run)
{
	long pid = syscall(SYS_clone, SIGCHLD | op_number(run, 1), 0, 0, 0, 0);

	if (pid == 0)
		syscall(SYS_exit_group, 0);
	return OP_RESULT(pid);
}

static int
op_clone3(struct op_run *run)
{
	struct clone_args args = { .flags = (uint64_t)op_number(run, 1),
		.exit_signal = SIGCHLD };
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		syscall(SYS_exit_group, 0);
	return OP_RESULT(pid);
}

static int
thread_main(void *arg)
{
	(void)arg;
	linger();
	return 0;
}

static int
op_thread(struct op_run *run)
{
	static char stack[65536] __attribute__((aligned(16)));

	(void)run;
	return OP_RESULT(clone(thread_main, stack + sizeof(stack),
	    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		CLONE_SYSVSEM,
	    NULL));
}

static int
op_unshare(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_unshare, op_number(run, 1)));
}

/* ---- itself ---- */

static int
op_caps(struct op_run *run)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[2] = { { ~0u, ~0u, ~0u },
		{ ~0u, ~0u, ~0u } };

	(void)run;
	return OP_RESULT(syscall(SYS_capset, &header, data));
}

/* ok: it has some; what it has is said. */
static int
op_caps_held(struct op_run *run)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	op_say(run, "%08x%08x", data[1].effective, data[0].effective);
	return data[0].effective || data[1].effective ? 0 : -EPERM;
}

static int
op_raise_limits(struct op_run *run)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	(void)run;
	return OP_RESULT(syscall(SYS_setrlimit, RLIMIT_NPROC, &limit));
}

static int
op_nice(struct op_run *run)
{
	(void)run;
	return OP_RESULT(syscall(SYS_setpriority, PRIO_PROCESS, 0, -5));
}

static int
op_real_time(struct op_run *run)
{
	struct sched_param param = { .sched_priority = 1 };

	(void)run;
	return OP_RESULT(
	    syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &param));
}

static int
op_host_name(struct op_run *run)
{
	struct utsname name;

	if (syscall(SYS_uname, &name) < 0)
		return -errno;
	op_say(run, "%s", name.nodename);
	return 0;
}

/* Runs until it is killed, without a system call. */
static int
op_spin(struct op_run *run)
{
	volatile uint64_t turns = 1;

	(void)run;
	while (turns != 0)
		turns++;
	return 0;
}

/* Uses the processor for so many milliseconds, as a well-behaved program. */
static int
op_work(struct op_run *run)
{
	struct timespec now;
	long end;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec * 1000 + now.tv_nsec / 1000000 + op_number(run, 1);
	while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < end)
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return 0;
}

/* Waits so many seconds. */
static int
op_sleep(struct op_run *run)
{
	struct timespec time = { op_number(run, 1), 0 };

	return OP_RESULT(
	    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL));
}

/* A system call by another door: of 32 bits, or of the x32 kind. */
static int
op_int80(struct op_run *run)
{
	long r;

	(void)run;
	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(20 /* getpid */)
			 : "memory", "r8", "r9", "r10", "r11");
	return r < 0 ? (int)r : 0;
}

static int
op_x32(struct op_run *run)
{
	(void)run;
	return OP_RESULT(syscall(0x40000000 + SYS_getpid));
}

const struct op ops_processes[] = {
	{ "kill", 3, op_kill },
	{ "tgkill", 3, op_tgkill },
	{ "sigqueue", 3, op_sigqueue },
	{ "ptrace", 2, op_ptrace },
	{ "ptrace-seize", 2, op_ptrace_seize },
	{ "vm-read", 2, op_vm_read },
	{ "vm-write", 2, op_vm_write },
	{ "mem", 2, op_mem },
	{ "environ", 2, op_environ },
	{ "pidfd", 2, op_pidfd },
	{ "pidfd-getfd", 3, op_pidfd_getfd },
	{ "pidfd-kill", 3, op_pidfd_kill },
	{ "setns", 3, op_setns },
	{ "prlimit", 2, op_prlimit },
	{ "kcmp", 2, op_kcmp },
	{ "affinity", 2, op_affinity },
	{ "mrelease", 2, op_mrelease },
	{ "fork", 1, op_fork },
	{ "fork-away", 2, op_fork_away },
	{ "vfork", 1, op_vfork },
	{ "clone", 2, op_clone },
	{ "clone3", 2, op_clone3 },
	{ "thread", 1, op_thread },
	{ "unshare", 2, op_unshare },
	{ "capset", 1, op_caps },
	{ "caps-held", 1, op_caps_held },
	{ "raise-limits", 1, op_raise_limits },
	{ "nice", 1, op_nice },
	{ "real-time", 1, op_real_time },
	{ "host-name", 1, op_host_name },
	{ "spin", 1, op_spin },
	{ "work", 2, op_work },
	{ "sleep", 2, op_sleep },
	{ "int80", 1, op_int80 },
	{ "x32", 1, op_x32 },
	{ NULL, 0, NULL },
};
