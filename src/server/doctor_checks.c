/* doctor_checks.c: looks at the kernel, the processor and the limits that
 * this process was given.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/doctor_checks.h"

#include "base/own.h"
#include "base/sys.h"
#include "conf/artifacts_dirs.h"
#include "conf/artifacts_key.h"
#include "conf/limits.h"
#include "conf/machine.h"
#include "conf/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#define STACK_WANTED_MIB  65u    /* Python's deepest recursion, and ours */
#define SPACE_NEEDED_MIB  16384u /* addresses reserved for a guest's memory */
#define MEMORY_WANTED_MIB 1024u  /* the snapshot's pages and one full call */
#define DISK_WANTED_MIB   800u   /* an installation */
#define PROCESSES_WANTED  64u    /* sixteen calls, spares, and ourselves */

__attribute__((format(printf, 3, 4))) static enum verdict
found(char ret_finding[FINDING_MAX], enum verdict verdict, const char *format,
    ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(ret_finding, FINDING_MAX, format, args);
	va_end(args);
	return verdict;
}

static enum verdict
look_at_keeper(char ret_finding[FINDING_MAX])
{
	char path[PATH_MAX];
	struct err err;

	if (program_find("breakroom-keeper", path, &err) < 0)
		return found(ret_finding, VERDICT_BAD, "%s", err.text);
	return found(ret_finding, VERDICT_OK, "%.300s", path);
}

static enum verdict
look_at_kernel(char ret_finding[FINDING_MAX])
{
	struct utsname name;
	own_fd int pidfd = sys_pidfd_open(getpid());

	if (uname(&name) < 0)
		return found(
		    ret_finding, VERDICT_BAD, "uname: %s", strerror(errno));
	if (pidfd < 0)
		return found(ret_finding, VERDICT_BAD,
		    "%s %s has no pidfds (%s): Linux 5.3 or newer is needed",
		    name.sysname, name.release, strerror(errno));
	return found(ret_finding, VERDICT_OK, "%s %s, with pidfds",
	    name.sysname, name.release);
}

static enum verdict
look_at_processor(char ret_finding[FINDING_MAX])
{
	char features[CPU_TEXT_MAX];
	char model[80] = "unknown model";

	artifacts_cpu(features);
	(void)machine_field(
	    "/proc/cpuinfo", "model name", model, sizeof(model));
	return found(ret_finding, VERDICT_OK, "%ld x %s; %s",
	    sysconf(_SC_NPROCESSORS_ONLN), model, features);
}

static enum verdict
look_at_memory(char ret_finding[FINDING_MAX])
{
	uint64_t mib = 0;

	if (machine_number("/proc/meminfo", "MemAvailable", &mib) < 0)
		return found(ret_finding, VERDICT_WARN,
		    "not known: /proc/meminfo cannot be read");
	mib /= KIB;
	return found(ret_finding,
	    mib < MEMORY_WANTED_MIB ? VERDICT_WARN : VERDICT_OK,
	    "%" PRIu64 " MiB free; %u MiB serve one call at its limit", mib,
	    MEMORY_WANTED_MIB);
}

static enum verdict
look_at_overcommit(char ret_finding[FINDING_MAX])
{
	own_fd int fd =
	    open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
	char mode = 0;

	if (fd < 0 || read(fd, &mode, 1) != 1)
		return found(ret_finding, VERDICT_WARN,
		    "not known: /proc/sys/vm/overcommit_memory cannot be read");
	if (mode == '2')
		return found(ret_finding, VERDICT_WARN,
		    "strict (vm.overcommit_memory is 2): copies of the "
		    "snapshot count in full, so that few calls fit");
	return found(
	    ret_finding, VERDICT_OK, "vm.overcommit_memory is %c", mode);
}

static enum verdict
look_at_addresses(char ret_finding[FINDING_MAX])
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) < 0)
		return found(ret_finding, VERDICT_WARN, "not known: %s",
		    strerror(errno));
	if (limit.rlim_cur == RLIM_INFINITY)
		return found(ret_finding, VERDICT_OK, "not limited");
	return found(ret_finding,
	    limit.rlim_cur / MIB < SPACE_NEEDED_MIB ? VERDICT_BAD : VERDICT_OK,
	    "limited to %" PRIu64 " MiB (ulimit -v); %u MiB are reserved, "
	    "not used",
	    (uint64_t)limit.rlim_cur / MIB, SPACE_NEEDED_MIB);
}

static enum verdict
look_at_stack(char ret_finding[FINDING_MAX])
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) < 0)
		return found(ret_finding, VERDICT_WARN, "not known: %s",
		    strerror(errno));
	if (limit.rlim_max == RLIM_INFINITY)
		return found(ret_finding, VERDICT_OK, "hard limit: none");
	return found(ret_finding,
	    limit.rlim_max / MIB < STACK_WANTED_MIB ? VERDICT_WARN : VERDICT_OK,
	    "hard limit: %" PRIu64 " MiB (ulimit -Hs)%s",
	    (uint64_t)limit.rlim_max / MIB,
	    limit.rlim_max / MIB < STACK_WANTED_MIB
		? "; under 65 MiB, deep recursion ends earlier"
		: "");
}

static enum verdict
look_at_processes(char ret_finding[FINDING_MAX])
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NPROC, &limit) < 0)
		return found(ret_finding, VERDICT_WARN, "not known: %s",
		    strerror(errno));
	if (limit.rlim_cur == RLIM_INFINITY)
		return found(ret_finding, VERDICT_OK, "not limited");
	return found(ret_finding,
	    limit.rlim_cur < PROCESSES_WANTED ? VERDICT_WARN : VERDICT_OK,
	    "%" PRIu64 " for this user (ulimit -u); every call is one",
	    (uint64_t)limit.rlim_cur);
}

static enum verdict
look_at_descriptors(char ret_finding[FINDING_MAX])
{
	const unsigned needed = KEEPER_FDS_NEEDED(
	    CONCURRENCY_DEFAULT, MAX_SESSIONS_DEFAULT, READY_DEFAULT);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return found(ret_finding, VERDICT_WARN, "not known: %s",
		    strerror(errno));
	if (limit.rlim_max == RLIM_INFINITY)
		return found(ret_finding, VERDICT_OK, "hard limit: none");
	return found(ret_finding,
	    limit.rlim_max < needed ? VERDICT_WARN : VERDICT_OK,
	    "hard limit: %" PRIu64 " (ulimit -Hn); the default of %u calls at "
	    "the same time needs %u%s",
	    (uint64_t)limit.rlim_max, CONCURRENCY_DEFAULT, needed,
	    limit.rlim_max < needed ? ": a smaller --concurrency fits" : "");
}

/* The nearest directory above (and with) dir that exists. */
static void
existing_part(char dir[PATH_MAX])
{
	while (access(dir, F_OK) < 0) {
		char *slash = strrchr(dir, '/');

		if (!slash || slash == dir) {
			memcpy(dir, "/", 2);
			return;
		}
		*slash = '\0';
	}
}

static enum verdict
look_at_cache(char ret_finding[FINDING_MAX])
{
	char dir[PATH_MAX];
	char part[PATH_MAX];
	struct statvfs vfs = { 0 };
	struct err err;
	uint64_t mib;

	if (artifacts_install_place(dir, &err) < 0)
		return found(ret_finding, VERDICT_WARN, "%s", err.text);
	memcpy(part, dir, sizeof(part));
	existing_part(part);
	if (access(part, W_OK) < 0 || statvfs(part, &vfs) < 0)
		return found(ret_finding, VERDICT_WARN,
		    "%.200s cannot be written: %s; BREAKROOM_DATA names "
		    "another place",
		    dir, strerror(errno));
	mib = (uint64_t)vfs.f_bavail * vfs.f_frsize / MIB;
	return found(ret_finding,
	    mib < DISK_WANTED_MIB ? VERDICT_WARN : VERDICT_OK,
	    "%.200s, %" PRIu64 " MiB free; an installation takes %u MiB", dir,
	    mib, DISK_WANTED_MIB);
}

const struct check doctor_checks[] = {
	{ "keeper", look_at_keeper },
	{ "kernel", look_at_kernel },
	{ "processor", look_at_processor },
	{ "memory", look_at_memory },
	{ "overcommit", look_at_overcommit },
	{ "addresses", look_at_addresses },
	{ "stack", look_at_stack },
	{ "processes", look_at_processes },
	{ "descriptors", look_at_descriptors },
	{ "cache", look_at_cache },
};
const size_t doctor_check_count =
    sizeof(doctor_checks) / sizeof(doctor_checks[0]);
