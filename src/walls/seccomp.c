/* seccomp.c: the system calls that a process may still make.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include "walls/seccomp_table.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

int
wall_seccomp(enum seccomp_policy policy, struct err *err)
{
	const struct seccomp_program *program = &seccomp_programs[policy];
	struct sock_fprog filter = {
		.len = program->n,
		/* The kernel only reads it. */
		.filter = (struct sock_filter *)(uintptr_t)program->code,
	};
	/* All threads of the process, should a library have started one. */
	long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	    SECCOMP_FILTER_FLAG_TSYNC, &filter);

	if (r < 0)
		return fail_errno(
		    err, "wall seccomp: the %s policy", program->name);
	if (r > 0)
		return fail(err, EBUSY,
		    "wall seccomp: thread %ld has filters of its own", r);
	return 0;
}
