/* rlimits.c: resource limits of a child. The address space is not limited:
 * the engine reserves 4 GiB of it and bounds the guest's memory itself.
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
	{ "RLIMIT_NOFILE", CHILD_FDS_MAX, RLIMIT_NOFILE },
	{ "RLIMIT_NPROC", 0, RLIMIT_NPROC },
	{ "RLIMIT_MEMLOCK", 0, RLIMIT_MEMLOCK },
	{ "RLIMIT_MSGQUEUE", 0, RLIMIT_MSGQUEUE },
	{ "RLIMIT_SIGPENDING", 0, RLIMIT_SIGPENDING }, /* but the kernel's */
	{ "RLIMIT_NICE", 0, RLIMIT_NICE },
	{ "RLIMIT_RTPRIO", 0, RLIMIT_RTPRIO },
};

int
wall_rlimits(struct err *err)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const char *name = limits[i].name;
		struct rlimit now;

		if (getrlimit(limits[i].what, &now) < 0)
			return fail_errno(
			    err, "wall rlimits: getrlimit %s", name);
		/* A hard limit of 0 core bytes, which only root could raise,
		 * stays. */
		if (now.rlim_max > limits[i].value)
			now.rlim_max = limits[i].value;
		now.rlim_cur = now.rlim_max;
		if (setrlimit(limits[i].what, &now) < 0)
			return fail_errno(err, "wall rlimits: %s", name);
	}
	return 0;
}
