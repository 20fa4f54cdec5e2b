/* restrict.c: runs a command as a less fortunate host would. For tests: a
 * situation is made here, and the program under test is not told.
 *
 * restrict OPTION... -- COMMAND [ARGUMENT...]
 *
 * --docker        the default profile and capabilities of a container
 * --no-userns     no user namespace
 * --no-mount      nothing mounted, and no other namespace
 * --max-userns-0  user.max_user_namespaces is 0
 * --rootless      root of a user namespace of an ordinary user's, with the
 *                 capabilities of a container: its 0 is UID (after --user)
 * --masked        parts of /proc and /sys covered, as in a container
 * --no-landlock   a kernel without it
 * --no-mdwe       a kernel without it
 * --no-seccomp    a kernel without it
 * --no-cgroup     control groups can only be read
 * --no-proc       nothing in /proc
 * --user UID      an ordinary user
 *
 * The options that are no filters need root.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Since Linux 6.3; unknown to the headers of Debian 12. */
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

#define LINE_SIZE  4096
#define FAILED     99 /* exit status: no situation was made */
#define COUNT(all) (sizeof(all) / sizeof((all)[0]))

struct options {
	bool docker, no_userns, no_mount, max_userns_0, rootless, masked;
	bool no_landlock, no_mdwe, no_seccomp, no_cgroup, no_proc;
	long user; /* -1: who it is */
};

static _Noreturn void
die(const char *what)
{
	(void)fprintf(stderr, "restrict: %s: %s\n", what, strerror(errno));
	_exit(FAILED);
}

static void
must(bool worked, const char *what)
{
	if (!worked)
		die(what);
}

/* ---- mounts, in a namespace of the command's own ---- */

static unsigned long
flags_of(const char *path)
{
	static const unsigned long pairs[][2] = { { ST_NOSUID, MS_NOSUID },
		{ ST_NODEV, MS_NODEV }, { ST_NOEXEC, MS_NOEXEC },
		{ ST_NOATIME, MS_NOATIME }, { ST_RELATIME, MS_RELATIME } };
	struct statvfs vfs;
	unsigned long flags = 0;

	must(statvfs(path, &vfs) == 0, path);
	for (size_t i = 0; i < COUNT(pairs); i++)
		if (vfs.f_flag & pairs[i][0])
			flags |= pairs[i][1];
	return flags;
}

static void
make_cgroups_read_only(void)
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[LINE_SIZE], path[LINE_SIZE], type[64];

	must(mounts != NULL, "/proc/self/mounts");
	while (fgets(line, sizeof(line), mounts)) {
		if (sscanf(line, "%*s %4095s %63s", path, type) != 2 ||
		    strncmp(type, "cgroup", 6) != 0)
			continue;
		must(mount(NULL, path, NULL,
			 MS_REMOUNT | MS_BIND | MS_RDONLY | flags_of(path),
			 NULL) == 0,
		    path);
	}
	(void)fclose(mounts);
}

/* Mounts that a namespace below this one cannot take away. */
static void
mask(void)
{
	static const char *const files[] = { "/proc/kcore", "/proc/keys",
		"/proc/timer_list" };
	static const char *const folders[] = { "/proc/acpi", "/proc/scsi",
		"/sys/firmware" };
	static const char *const read_only[] = { "/proc/bus", "/proc/fs",
		"/proc/irq", "/proc/sys", "/proc/sysrq-trigger" };

	for (size_t i = 0; i < COUNT(files); i++)
		if (access(files[i], F_OK) == 0)
			must(mount("/dev/null", files[i], NULL, MS_BIND,
				 NULL) == 0,
			    files[i]);
	for (size_t i = 0; i < COUNT(folders); i++)
		if (access(folders[i], F_OK) == 0)
			must(mount("none", folders[i], "tmpfs", MS_RDONLY,
				 NULL) == 0,
			    folders[i]);
	for (size_t i = 0; i < COUNT(read_only); i++) {
		const char *path = read_only[i];

		if (access(path, F_OK) < 0)
			continue;
		must(
		    mount(path, path, NULL, MS_BIND | MS_REC, NULL) == 0, path);
		must(mount(NULL, path, NULL,
			 MS_REMOUNT | MS_BIND | MS_RDONLY | flags_of(path),
			 NULL) == 0,
		    path);
	}
}

static void
change_mounts(const struct options *options)
{
	/* Whoever is not root has no group to write to. */
	bool no_cgroup = options->no_cgroup && geteuid() == 0;

	if (!no_cgroup && !options->no_proc && !options->masked)
		return;
	must(unshare(CLONE_NEWNS) == 0, "unshare mounts");
	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
	    "make mounts private");
	if (no_cgroup)
		make_cgroups_read_only();
	if (options->masked)
		mask();
	if (options->no_proc)
		must(mount("none", "/proc", "tmpfs", 0, NULL) == 0,
		    "cover /proc");
}

/* ---- user namespaces ---- */

static void
write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	must(fd >= 0, path);
	must(write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	(void)close(fd);
}

static void
write_maps(pid_t pid, const char *map)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	write_file(path, map);
	(void)snprintf(path, sizeof(path), "/proc/%d/gid_map", (int)pid);
	write_file(path, map);
}

/* Moves into a user namespace and becomes its root; the map is written by a
 * process that stays outside. */
static void
enter_userns(const char *map)
{
	pid_t self = getpid(), helper;
	int go[2], status;
	char byte = 0;

	must(pipe2(go, O_CLOEXEC) == 0, "pipe");
	helper = fork();
	must(helper >= 0, "fork");
	if (helper == 0) {
		must(read(go[0], &byte, 1) == 1, "wait");
		write_maps(self, map);
		_exit(0);
	}
	must(unshare(CLONE_NEWUSER) == 0, "unshare users");
	must(write(go[1], &byte, 1) == 1, "go on");
	must(waitpid(helper, &status, 0) == helper && status == 0, "map ids");
	(void)close(go[0]);
	(void)close(go[1]);
	must(setgroups(0, NULL) == 0, "drop groups");
	must(setresgid(0, 0, 0) == 0 && setresuid(0, 0, 0) == 0, "be root");
}

static void
change_user_namespace(const struct options *options)
{
	char map[64];

	if (options->max_userns_0) {
		enter_userns("0 0 1000000");
		write_file("/proc/sys/user/max_user_namespaces", "0");
	}
	if (options->rootless) {
		(void)snprintf(map, sizeof(map), "0 %ld 1\n1 1000000 65535",
		    options->user);
		enter_userns(map);
	}
}

/* ---- the filter ---- */

static const char *const mount_calls[] = { "setns", "mount", "umount2",
	"pivot_root", "open_tree", "move_mount", "fsopen", "fsconfig",
	"fsmount", "fspick", "mount_setattr" };

/* What the default profile of containers refuses beside these to one without
 * CAP_SYS_ADMIN, as far as a room might ask for it. */
static const char *const docker_refuses[] = { "keyctl", "add_key",
	"request_key", "bpf", "perf_event_open", "userfaultfd",
	"io_uring_setup", "io_uring_enter", "io_uring_register", "quotactl",
	"fanotify_init", "open_by_handle_at", "lookup_dcookie", "kcmp",
	"pidfd_getfd", "process_madvise", "sethostname", "setdomainname",
	"syslog", "acct", "swapon", "swapoff", "reboot", "kexec_load",
	"init_module", "finit_module", "delete_module", "settimeofday",
	"clock_settime", "vhangup", "iopl", "ioperm" };

static const char *const landlock_calls[] = { "landlock_create_ruleset",
	"landlock_add_rule", "landlock_restrict_self" };

#define NAMESPACES                                                  \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | \
	    CLONE_NEWNET | CLONE_NEWCGROUP)

/* A call answers with an error, if its argument says so (mask 0: always). */
static void
refuse(scmp_filter_ctx filter, const char *name, unsigned argument,
    uint64_t mask, uint64_t value, int error)
{
	int number = seccomp_syscall_resolve_name(name);
	int r;

	must(number != __NR_SCMP_ERROR, name);
	r = mask ? seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint16_t)error),
		       number, 1,
		       SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, mask, value))
		 : seccomp_rule_add(
		       filter, SCMP_ACT_ERRNO((uint16_t)error), number, 0);
	errno = -r;
	must(r == 0, name);
}

static void
refuse_all(
    scmp_filter_ctx filter, const char *const *names, size_t n, int error)
{
	for (size_t i = 0; i < n; i++)
		refuse(filter, names[i], 0, 0, 0, error);
}

/* Each kind by itself: a rule asks whether all bits of a mask are so. */
static void
refuse_namespaces(scmp_filter_ctx filter, uint64_t kinds)
{
	for (unsigned bit = 0; bit < 32; bit++) {
		uint64_t kind = kinds & (1ull << bit);

		if (!kind)
			continue;
		refuse(filter, "clone", 0, kind, kind, EPERM);
		refuse(filter, "unshare", 0, kind, kind, EPERM);
	}
	/* Its flags lie in memory. */
	if (kinds)
		refuse(filter, "clone3", 0, 0, 0, ENOSYS);
}

static void
fill_filter(scmp_filter_ctx filter, const struct options *options)
{
	uint64_t kinds = 0;

	if (options->docker || options->no_userns)
		kinds |= CLONE_NEWUSER;
	if (options->docker || options->no_mount) {
		kinds |= NAMESPACES;
		refuse_all(filter, mount_calls, COUNT(mount_calls), EPERM);
	}
	refuse_namespaces(filter, kinds);
	if (options->docker)
		refuse_all(
		    filter, docker_refuses, COUNT(docker_refuses), EPERM);
	if (options->no_landlock)
		refuse_all(
		    filter, landlock_calls, COUNT(landlock_calls), ENOSYS);
	if (options->no_mdwe)
		refuse(filter, "prctl", 0, UINT32_MAX, PR_SET_MDWE, EINVAL);
	if (options->no_seccomp) {
		refuse(filter, "seccomp", 0, 0, 0, EINVAL);
		refuse(filter, "prctl", 0, UINT32_MAX, PR_SET_SECCOMP, EINVAL);
	}
}

static void
load_filter(const struct options *options)
{
	scmp_filter_ctx filter;

	if (!options->docker && !options->no_userns && !options->no_mount &&
	    !options->no_landlock && !options->no_mdwe && !options->no_seccomp)
		return;
	filter = seccomp_init(SCMP_ACT_ALLOW);
	must(filter != NULL, "make a filter");
	/* Root needs no no_new_privs for it, and so the command has none. */
	must(seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, geteuid() != 0) == 0,
	    "no_new_privs");
	fill_filter(filter, options);
	errno = -seccomp_load(filter);
	must(errno == 0, "load the filter");
	seccomp_release(filter);
}

/* ---- who runs it ---- */

/* The capabilities that root has in a container by default. */
static const unsigned docker_caps[] = { CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FSETID,
	CAP_FOWNER, CAP_MKNOD, CAP_NET_RAW, CAP_SETGID, CAP_SETUID, CAP_SETFCAP,
	CAP_SETPCAP, CAP_NET_BIND_SERVICE, CAP_SYS_CHROOT, CAP_KILL,
	CAP_AUDIT_WRITE };

static void
drop_capabilities(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[2] = { { 0 } };
	uint64_t kept = 0;

	for (size_t i = 0; i < COUNT(docker_caps); i++)
		kept |= 1ull << docker_caps[i];
	for (unsigned cap = 0; cap < 64; cap++)
		if (!(kept & (1ull << cap)) &&
		    prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			must(prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0,
			    "drop a capability");
	data[0].permitted = data[0].effective = (uint32_t)kept;
	must(syscall(SYS_capset, &header, data) == 0, "drop capabilities");
}

static void
become(long user)
{
	uid_t uid = (uid_t)user;

	must(setgroups(0, NULL) == 0, "drop groups");
	must(setresgid(uid, uid, uid) == 0, "change group");
	must(setresuid(uid, uid, uid) == 0, "change user");
}

/* ---- the command line ---- */

static bool
take_flag(const char *word, struct options *options)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "--docker", &options->docker },
		{ "--no-userns", &options->no_userns },
		{ "--max-userns-0", &options->max_userns_0 },
		{ "--rootless", &options->rootless },
		{ "--masked", &options->masked },
		{ "--no-landlock", &options->no_landlock },
		{ "--no-mdwe", &options->no_mdwe },
		{ "--no-seccomp", &options->no_seccomp },
		{ "--no-cgroup", &options->no_cgroup },
		{ "--no-mount", &options->no_mount },
		{ "--no-proc", &options->no_proc },
	};

	for (size_t i = 0; i < COUNT(flags); i++)
		if (strcmp(word, flags[i].name) == 0)
			return *flags[i].flag = true;
	return false;
}

/* The command's words. */
static char **
take_options(char **argv, struct options *options)
{
	for (; *argv; argv++) {
		if (strcmp(*argv, "--") == 0)
			return argv + 1;
		if (strcmp(*argv, "--user") == 0 && argv[1])
			options->user = strtol(*++argv, NULL, 10);
		else if (!take_flag(*argv, options))
			break;
	}
	errno = EINVAL;
	die(*argv ? *argv : "no command");
}

int
main(int argc, char **argv)
{
	struct options options = { .user = -1 };
	char **command = take_options(argv + (argc > 0), &options);

	change_user_namespace(&options);
	change_mounts(&options);
	load_filter(&options);
	if ((options.docker || options.rootless) && geteuid() == 0)
		drop_capabilities();
	if (options.user >= 0 && !options.rootless)
		become(options.user);
	(void)execvp(command[0], command);
	die(command[0] ? command[0] : "no command");
}
