/* stack.c: sizes of the stacks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/stack.h"

#include "conf/limits.h"
#include "wasm/engine_config.h"

#include <errno.h>
#include <sys/resource.h>

#define STACK_WANTED (110ull * MIB) /* of the limit; 64 MiB are used */
#define STACK_SLACK  ((size_t)MIB)  /* for the host's own frames */
#define STACK_LEAST  ((size_t)4u * MIB)
#define STACK_RATIO  64u /* native bytes for a byte of window */

int
stack_setup(struct stack_sizes *ret_sizes, struct err *err)
{
	struct rlimit limit;
	size_t usable = ENGINE_STACK_MAX;

	if (getrlimit(RLIMIT_STACK, &limit) < 0)
		return fail_errno(err, "read RLIMIT_STACK");
	if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < STACK_WANTED) {
		limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ||
					 limit.rlim_max > STACK_WANTED
				     ? STACK_WANTED
				     : limit.rlim_max;
		if (setrlimit(RLIMIT_STACK, &limit) < 0)
			return fail_errno(err, "raise RLIMIT_STACK");
	}
	if (limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur < usable + STACK_SLACK)
		usable = limit.rlim_cur > STACK_SLACK
			     ? (size_t)limit.rlim_cur - STACK_SLACK
			     : 0;
	if (usable < STACK_LEAST)
		return fail(err, ENOMEM,
		    "the hard limit of the stack is too "
		    "low: raise it (ulimit -Hs) to 5 MiB or more");
	*ret_sizes =
	    (struct stack_sizes){ usable, (uint32_t)(usable / STACK_RATIO) };
	return 0;
}
