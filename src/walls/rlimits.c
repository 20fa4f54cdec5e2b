/* rlimits.c: resource limits of a child. The address space is not limited:
 * the engine reserves 4 GiB of it. What is writable and private of it is
 * (RLIMIT_DATA): a memory limit that needs no control group, but does not see
 * memory that is shared.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include "conf/limits.h"

#include <stddef.h>
#include <sys/resource.h>

static const struct {
	const char *name;
	rlim_t value;
	__rlimit_resource_t what;
} limits[] = {
	/* A limit of 1 is what the kernel itself takes for "no pipe handler
	 * either": a handler runs outside of every wall, as root. */
	{ "RLIMIT_CORE", 1, RLIMIT_CORE },
	{ "RLIMIT_FSIZE", 0, RLIMIT_FSIZE },
	{ "RLIMIT_MEMLOCK", 0, RLIMIT_MEMLOCK },
	{ "RLIMIT_MSGQUEUE", 0, RLIMIT_MSGQUEUE },
	{ "RLIMIT_SIGPENDING", 0, RLIMIT_SIGPENDING }, /* but the kernel's */
	{ "RLIMIT_NICE", 0, RLIMIT_NICE },
	{ "RLIMIT_RTPRIO", 0, RLIMIT_RTPRIO },
};

static int
limit(__rlimit_resource_t what, const char *name, rlim_t value, struct err *err)
{
	struct rlimit now;

	if (getrlimit(what, &now) < 0)
		return fail_errno(err, "wall rlimits: getrlimit %s", name);
	/* A hard limit of 0 core bytes, which only root could raise, stays. */
	if (now.rlim_max > value)
		now.rlim_max = value;
	now.rlim_cur = now.rlim_max;
	return setrlimit(what, &now) < 0
		   ? fail_errno(err, "wall rlimits: %s", name)
		   : 0;
}

int
wall_rlimits_native(uint64_t data_bytes, uint32_t processes, struct err *err)
{
	int r = data_bytes == 0
		    ? 0
		    : limit(RLIMIT_DATA, "RLIMIT_DATA", data_bytes, err);

	if (r == 0)
		r = limit(RLIMIT_NOFILE, "RLIMIT_NOFILE", JAIL_FDS_MAX, err);
	if (r == 0)
		r = limit(RLIMIT_NPROC, "RLIMIT_NPROC", processes, err);
	for (size_t i = 0; r == 0 && i < sizeof(limits) / sizeof(limits[0]);
	     i++)
		/* It has files, and signals wait for it. */
		if (limits[i].what != RLIMIT_FSIZE &&
		    limits[i].what != RLIMIT_SIGPENDING)
			r = limit(limits[i].what, limits[i].name,
			    limits[i].value, err);
	return r;
}

int
wall_rlimits(
    uint64_t data_bytes, uint32_t fds, uint32_t processes, struct err *err)
{
	int r = limit(RLIMIT_DATA, "RLIMIT_DATA", data_bytes, err);

	if (r == 0)
		r = limit(RLIMIT_NOFILE, "RLIMIT_NOFILE", fds, err);
	if (r == 0)
		r = limit(RLIMIT_NPROC, "RLIMIT_NPROC", processes, err);
	for (size_t i = 0; r == 0 && i < sizeof(limits) / sizeof(limits[0]);
	     i++)
		r = limit(limits[i].what, limits[i].name, limits[i].value, err);
	return r;
}
