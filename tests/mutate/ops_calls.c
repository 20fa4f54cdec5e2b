/* ops_calls.c: the system calls that need no more than their arguments. Where
 * a success would hurt the machine, an argument is such that it cannot
 * succeed, and the kernel looks at the caller's rights before that.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>

#define NOBODY_ELSE 0

static struct io_uring_params ring;
static struct perf_event_attr event = { .type = PERF_TYPE_SOFTWARE,
	.size = sizeof(event),
	.config = PERF_COUNT_SW_DUMMY,
	.exclude_kernel = 1 };
static union bpf_attr map = { .map_type = BPF_MAP_TYPE_ARRAY,
	.key_size = 4,
	.value_size = 4,
	.max_entries = 1 };
static struct timespec never = { 0, 2000000000 }; /* no such nanosecond */
static int numbers[8];
static uint64_t signals;

#define AT(thing) ((long)(intptr_t)(thing))

const struct op_call op_calls[] = {
	/* mounts and roots */
	{ "mount", SYS_mount, { AT("none"), AT("/"), AT("tmpfs"), 0, 0 } },
	{ "remount", SYS_mount, { 0, AT("/"), 0, 32 /* MS_REMOUNT */, 0 } },
	{ "umount", SYS_umount2, { AT("/"), 2 /* MNT_DETACH */ } },
	{ "open-tree", SYS_open_tree, { -100, AT("/"), 1 } },
	{ "fsopen", SYS_fsopen, { AT("tmpfs"), 0 } },
	{ "fspick", SYS_fspick, { -100, AT("/"), 0 } },
	{ "fsmount", SYS_fsmount, { -1, 0, 0 } },
	{ "move-mount", SYS_move_mount, { -100, AT("/"), -100, AT("/"), 0 } },
	{ "mount-setattr", SYS_mount_setattr, { -100, AT("/"), 0, 0, 0 } },
	{ "pivot-root", SYS_pivot_root, { AT("."), AT(".") } },
	{ "chroot", SYS_chroot, { AT("/") } },
	{ "swapon", SYS_swapon, { AT("/none"), 0 } },
	{ "quotactl", SYS_quotactl, { 0, AT("/none"), 0, 0 } },
	{ "acct", SYS_acct, { AT("/none") } },
	/* parts of the kernel with a history */
	{ "io-uring", SYS_io_uring_setup, { 1, AT(&ring) } },
	{ "bpf", SYS_bpf, { BPF_MAP_CREATE, AT(&map), sizeof(map) } },
	{ "userfaultfd", SYS_userfaultfd, { UFFD_USER_MODE_ONLY } },
	{ "perf-event", SYS_perf_event_open, { AT(&event), 0, -1, -1, 0 } },
	{ "keyctl", SYS_keyctl, { 0, -3 /* session */, 1 } },
	{ "add-key", SYS_add_key,
	    { AT("user"), AT("x"), AT("y"), 1, -3 /* session */ } },
	{ "request-key", SYS_request_key, { AT("user"), AT("x"), 0, -3 } },
	{ "memfd", SYS_memfd_create, { AT("m"), 0 } },
	{ "memfd-secret", SYS_memfd_secret, { 0 } },
	{ "fanotify", SYS_fanotify_init, { 0, 0 } },
	{ "inotify-init", SYS_inotify_init1, { 0 } },
	{ "landlock", SYS_landlock_create_ruleset, { 0, 0, 1 /* version */ } },
	{ "seccomp", SYS_seccomp,
	    { 2 /* action available */, 0, AT(numbers) } },
	{ "modify-ldt", SYS_modify_ldt, { 0, AT(numbers), sizeof(numbers) } },
	{ "arch-prctl", SYS_arch_prctl, { 0x1001 /* set gs */, 0 } },
	{ "personality", SYS_personality, { 0x0040000 /* no random */ } },
	{ "splice", SYS_splice, { 0, 0, 1, 0, 1, 0 } },
	{ "tee", SYS_tee, { 0, 1, 1, 0 } },
	{ "vmsplice", SYS_vmsplice, { 1, 0, 0, 0 } },
	{ "kexec", SYS_kexec_load, { 0, 17 /* too many */, 0, 0 } },
	{ "init-module", SYS_init_module, { AT(numbers), 4, AT("") } },
	{ "finit-module", SYS_finit_module, { -1, AT(""), 0 } },
	{ "delete-module", SYS_delete_module, { AT("no_such_module"), 0 } },
	{ "remap-file-pages", SYS_remap_file_pages, { 0, 0, 0, 0, 0 } },
	{ "move-pages", SYS_move_pages, { 1, 0, 0, 0, 0, 0 } },
	{ "set-mempolicy", SYS_set_mempolicy, { 0, 0, 0 } },
	{ "mlock", SYS_mlock, { AT(numbers), sizeof(numbers) } },
	/* the machine */
	{ "reboot", SYS_reboot, { 0 /* no magic */, 0, 0, 0 } },
	{ "syslog", SYS_syslog, { 10 /* its size */, 0, 0 } },
	{ "set-host-name", SYS_sethostname, { AT("pwned"), 5 } },
	{ "set-domain-name", SYS_setdomainname, { AT("pwned"), 5 } },
	{ "set-clock", SYS_clock_settime, { CLOCK_REALTIME, AT(&never) } },
	{ "ioperm", SYS_ioperm, { 0x80, 1, 1 } },
	{ "iopl", SYS_iopl, { 3 } },
	{ "vhangup", SYS_vhangup, { 0 } },
	/* who one is */
	{ "setuid", SYS_setuid, { 0 } },
	{ "setgid", SYS_setgid, { 0 } },
	{ "setresuid", SYS_setresuid, { 0, 0, 0 } },
	{ "setreuid", SYS_setreuid, { 0, 0 } },
	{ "setfsuid", SYS_setfsuid, { 0 } },
	{ "setgroups", SYS_setgroups, { 1, AT(numbers) } },
	{ "setsid", SYS_setsid, { 0 } },
	{ "dumpable", SYS_prctl, { PR_SET_DUMPABLE, 1, 0, 0, 0 } },
	{ "no-death-signal", SYS_prctl, { PR_SET_PDEATHSIG, 0, 0, 0, 0 } },
	{ "any-tracer", SYS_prctl, { PR_SET_PTRACER, -1, 0, 0, 0 } },
	{ "ambient", SYS_prctl, { PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21 } },
	{ "set-mm", SYS_prctl, { PR_SET_MM, PR_SET_MM_BRK, 0, 0, 0 } },
	{ "subreaper", SYS_prctl, { PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0 } },
	/* queues and other things with names */
	{ "mq-open", SYS_mq_open, { AT("q"), 0102, 0600, 0 } },
	{ "shmget", SYS_shmget, { 0, 4096, 0600 } },
	{ "semget", SYS_semget, { 0, 1, 0600 } },
	{ "msgget", SYS_msgget, { 0, 0600 } },
	{ "shm-of-host", SYS_shmget, { 0x62726b72, 1, 0 } },
	/* descriptors */
	{ "dup", SYS_dup, { OP_CHILD_FD } },
	{ "dup2", SYS_dup2, { OP_CHILD_FD, 9 } },
	{ "fcntl", SYS_fcntl, { OP_CHILD_FD, 0 /* F_DUPFD */, 9 } },
	{ "ioctl", SYS_ioctl,
	    { OP_CHILD_FD, 0x541b /* FIONREAD */, AT(numbers) } },
	{ "pipe", SYS_pipe2, { AT(numbers), 0 } },
	{ "eventfd", SYS_eventfd2, { 0, 0 } },
	{ "timerfd", SYS_timerfd_create, { CLOCK_MONOTONIC, 0 } },
	{ "signalfd", SYS_signalfd4, { -1, AT(&signals), 8, 0 } },
	{ "epoll", SYS_epoll_create1, { 0 } },
	{ "close", SYS_close, { 0 } },
	{ "write", SYS_write, { OP_CHILD_FD, AT("x"), 1 } },
	/* waiting and time */
	{ "timer", SYS_timer_create, { CLOCK_MONOTONIC, 0, AT(numbers) } },
	{ "alarm", SYS_alarm, { 1 } },
	{ "wait", SYS_wait4, { -1, 0, 1 /* WNOHANG */, 0 } },
	{ "no-such-call", 5000, { 0 } },
	{ NULL, 0, { 0 } },
};
