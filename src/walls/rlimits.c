/* rlimits.c: resource limits of a child. The address space is not limited:
 * the engine reserves 4 GiB of it and bounds the guest's memory itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include <sys/resource.h>

static int
limit(__rlimit_resource_t what, const char *name, rlim_t value, struct err *err)
{
	struct rlimit both = { value, value };

	if (setrlimit(what, &both) < 0)
		return fail_errno(err, "wall rlimits: %s", name);
	return 0;
}

int
wall_rlimits(uint32_t cpu_seconds, struct err *err)
{
	int r = limit(RLIMIT_CORE, "RLIMIT_CORE", 0, err);

	if (r == 0)
		r = limit(RLIMIT_FSIZE, "RLIMIT_FSIZE", 0, err);
	if (r == 0)
		r = limit(RLIMIT_NPROC, "RLIMIT_NPROC", 0, err);
	if (r == 0 && cpu_seconds > 0)
		r = limit(RLIMIT_CPU, "RLIMIT_CPU", cpu_seconds, err);
	return r;
}
