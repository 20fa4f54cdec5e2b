/* call_list.h: system calls as a process makes them, and what each policy of
 * seccomp says to them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_LIST_H
#define CALL_LIST_H

#include <stdbool.h>

/* Marks, in the order of enum seccomp_policy (launcher, keeper, zygote, child,
 * session, server, watcher, saver, proxy_zygote, proxy, native, native_alone,
 * deno):
 * + as without a filter, x death by SIGSYS, E EPERM, N ENOSYS. */
struct call {
	const char *name, *marks;
	long (*make)(void);
	bool may_fail; /* without a filter: by want of rights, or of the call */
};

extern const struct call calls[];
extern const unsigned calls_n;

/* Gets this process ready for any of them, before it has a filter. */
void call_prepare(void);

#endif
