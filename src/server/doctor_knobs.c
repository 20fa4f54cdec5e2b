/* doctor_knobs.c: one row a setting.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/doctor_knobs.h"

#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- values that are no numbers ---- */

static bool
core_is_file(const char *value)
{
	return value[0] != '|';
}

/* The first line is a heading. */
static bool
no_swap(const char *value)
{
	const char *first = strchr(value, '\n');

	return !first || first[1] == '\0';
}

static void
shorten_swap(char value[KNOB_VALUE_MAX])
{
	(void)snprintf(
	    value, KNOB_VALUE_MAX, "%s", no_swap(value) ? "none" : "in use");
}

/* "always [madvise] never" */
static bool
huge_pages_are_asked_for(const char *value)
{
	return !strstr(value, "[always]");
}

static void
shorten_huge_pages(char value[KNOB_VALUE_MAX])
{
	const char *start = strchr(value, '[');
	char *end = strchr(value, ']');

	if (start && end && end > start) {
		*end = '\0';
		memmove(value, start + 1, strlen(start + 1) + 1);
	}
}

static bool
has_landlock(const char *value)
{
	static const char name[] = "landlock";

	while (*value) {
		size_t n = strcspn(value, ",");

		if (n == sizeof(name) - 1 && memcmp(value, name, n) == 0)
			return true;
		value += n + (value[n] == ',');
	}
	return false;
}

/* ---- the table ---- */

const struct knob knobs[] = {
	{ "user.max_user_namespaces", "/proc/sys/user/max_user_namespaces", 1,
	    LONG_MAX, "an ordinary user's room may have namespaces",
	    "no user namespaces: an ordinary user's room goes without "
	    "namespaces",
	    "this kernel has no user namespaces: an ordinary user's room goes "
	    "without namespaces",
	    VERDICT_WARN, NULL, NULL },
	{ "kernel.unprivileged_userns_clone",
	    "/proc/sys/kernel/unprivileged_userns_clone", 1, 1,
	    "an ordinary user may make a user namespace",
	    "only root may make a user namespace: an ordinary user's room "
	    "goes without namespaces",
	    "not there: this kernel does not limit user namespaces so",
	    VERDICT_OK, NULL, NULL },
	{ "kernel.apparmor_restrict_unprivileged_userns",
	    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0, 0,
	    "AppArmor does not limit user namespaces",
	    "AppArmor takes the use out of an ordinary user's namespaces: "
	    "give breakroom a profile with userns, or set 0",
	    "not there: AppArmor does not limit user namespaces", VERDICT_OK,
	    NULL, NULL },
	{ "kernel.unprivileged_bpf_disabled",
	    "/proc/sys/kernel/unprivileged_bpf_disabled", 1, 2,
	    "only root may load BPF programs",
	    "any user may load BPF programs: set 1 or 2",
	    "not there: this kernel has no bpf()", VERDICT_OK, NULL, NULL },
	{ "kernel.io_uring_disabled", "/proc/sys/kernel/io_uring_disabled", 1,
	    2, "io_uring is closed to ordinary users",
	    "io_uring is open to every user; no room uses it: set 2",
	    "not there: this kernel has no io_uring, or none that can be "
	    "closed",
	    VERDICT_OK, NULL, NULL },
	{ "kernel.yama.ptrace_scope", "/proc/sys/kernel/yama/ptrace_scope", 1,
	    3, "a process may only trace its own children, or none",
	    "processes of one user may trace each other: set 1 or more",
	    "not there: without Yama, processes of one user may trace each "
	    "other",
	    VERDICT_WARN, NULL, NULL },
	{ "vm.unprivileged_userfaultfd",
	    "/proc/sys/vm/unprivileged_userfaultfd", 0, 0,
	    "faults of the kernel are kept from userfaultfd",
	    "any user may stall the kernel by userfaultfd: set 0",
	    "not there: this kernel has no userfaultfd", VERDICT_OK, NULL,
	    NULL },
	{ "kernel.core_pattern", "/proc/sys/kernel/core_pattern", 0, 0,
	    "core files are written by the process itself; rooms write none",
	    "cores of crashed processes are handed to a program that runs as "
	    "root; rooms hand over none",
	    "not there", VERDICT_OK, core_is_file, NULL },
	{ "kernel.perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid",
	    2, 4, "ordinary users may not measure the kernel",
	    "ordinary users may measure the kernel: set 2 or more",
	    "not there: this kernel has no performance events", VERDICT_OK,
	    NULL, NULL },
	{ "kernel.kptr_restrict", "/proc/sys/kernel/kptr_restrict", 1, 2,
	    "addresses of the kernel are hidden",
	    "addresses of the kernel are shown in /proc to those who may "
	    "read them: set 1 or 2",
	    "not there", VERDICT_OK, NULL, NULL },
	{ "kernel.dmesg_restrict", "/proc/sys/kernel/dmesg_restrict", 1, 1,
	    "the kernel's log is for root",
	    "any user may read the kernel's log: set 1", "not there",
	    VERDICT_OK, NULL, NULL },
	{ "kernel.randomize_va_space", "/proc/sys/kernel/randomize_va_space", 2,
	    2, "addresses are random",
	    "addresses of processes can be guessed: set 2", "not there",
	    VERDICT_WARN, NULL, NULL },
	{ "swap", "/proc/swaps", 0, 0,
	    "what programs hold is never written to a disk",
	    "what programs hold may be written to the disk that is swapped "
	    "to: encrypt it, or go without",
	    "not there: this kernel does not swap", VERDICT_OK, no_swap,
	    shorten_swap },
	{ "transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled",
	    0, 0, "a page of the snapshot that is written costs 4 KiB",
	    "memory may be taken in pieces of 2 MiB: calls may cost more of "
	    "it: set madvise",
	    "not there: pages are small", VERDICT_OK, huge_pages_are_asked_for,
	    shorten_huge_pages },
	{ "smt", "/sys/devices/system/cpu/smt/active", 0, 0,
	    "no two programs share a core",
	    "two programs may share a core, and watch each other by its "
	    "caches: nosmt where callers do not trust each other",
	    "not known: this kernel does not say", VERDICT_OK, NULL, NULL },
	{ "lsm", "/sys/kernel/security/lsm", 0, 0,
	    "Landlock is among the security modules",
	    "Landlock is not among the security modules: lsm=landlock,... on "
	    "the kernel's command line",
	    "not known: /sys/kernel/security cannot be read", VERDICT_OK,
	    has_landlock, NULL },
};
const size_t knob_count = sizeof(knobs) / sizeof(knobs[0]);

/* ---- looking ---- */

/* The file's text without the last line break. 0 or -errno. */
static int
read_value(const char *root, const char *path, char ret_value[KNOB_VALUE_MAX])
{
	char whole[PATH_MAX];
	own_fd int fd = -1;
	ssize_t n;

	(void)snprintf(whole, sizeof(whole), "%s%s", root, path);
	fd = open(whole, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	n = read(fd, ret_value, KNOB_VALUE_MAX - 1);
	if (n < 0)
		return -errno;
	ret_value[n] = '\0';
	if (n > 0 && ret_value[n - 1] == '\n')
		ret_value[n - 1] = '\0';
	return 0;
}

/* A number within the range is good; what is no number is not. */
static bool
in_range(const struct knob *knob, const char *value)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(value, &end, 10);
	return end != value && *end == '\0' && errno == 0 &&
	       number >= knob->ok_min && number <= knob->ok_max;
}

void
knob_look(
    const struct knob *knob, const char *root, struct knob_state *ret_state)
{
	bool good;
	int r;

	*ret_state = (struct knob_state){ .verdict = knob->absent_verdict };
	r = read_value(root, knob->path, ret_state->value);
	if (r < 0) {
		(void)snprintf(ret_state->finding, FINDING_MAX, "%s%s",
		    r == -ENOENT ? knob->absent : "not known: ",
		    r == -ENOENT ? "" : strerror(-r));
		if (r != -ENOENT)
			ret_state->verdict = VERDICT_WARN;
		return;
	}
	good = knob->judge ? knob->judge(ret_state->value)
			   : in_range(knob, ret_state->value);
	if (knob->shorten)
		knob->shorten(ret_state->value);
	ret_state->there = true;
	ret_state->verdict = good ? VERDICT_OK : VERDICT_WARN;
	(void)snprintf(ret_state->finding, FINDING_MAX, "%s: %s",
	    ret_state->value, good ? knob->good : knob->bad);
}
