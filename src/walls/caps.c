/* caps.c: capabilities given up. By the system calls themselves: libraries of
 * capabilities remember the process that they met first, and are wrong in one
 * that clone(2) made.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAPS    64 /* bits of a set; no kernel has as many */
#define SETPCAP ((uint64_t)1 << CAP_SETPCAP)

struct caps {
	uint64_t permitted, effective, inheritable;
};

/* Asks the kernel, not the library: what must be true here is not what was
 * meant. */
static int
caps_read(struct caps *ret_caps, struct err *err)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return fail_errno(err, "wall caps: capget");
	*ret_caps = (struct caps){
		data[0].permitted | (uint64_t)data[1].permitted << 32,
		data[0].effective | (uint64_t)data[1].effective << 32,
		data[0].inheritable | (uint64_t)data[1].inheritable << 32,
	};
	return 0;
}

static int
caps_write(uint64_t permitted, uint64_t effective, struct err *err)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	const struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)effective,
		    .permitted = (uint32_t)permitted },
		{ .effective = (uint32_t)(effective >> 32),
		    .permitted = (uint32_t)(permitted >> 32) },
	};

	if (syscall(SYS_capset, &header, data) < 0)
		return fail_errno(err, "wall caps: capset");
	return 0;
}

/* Asks for an effective CAP_SETPCAP, which a change of user leaves in the
 * permitted set alone. */
static int
bounding_drop(uint64_t permitted, uint64_t keep, struct err *err)
{
	int r = caps_write(permitted, SETPCAP, err);
	int held;

	/* The kernel refuses the first number that it does not know. */
	for (unsigned cap = 0; r == 0 && cap < CAPS; cap++) {
		held = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);
		if (held < 0)
			break;
		if (held == 1 && !(keep >> cap & 1) &&
		    prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			r = fail_errno(err,
			    "wall caps: drop %u from the bounding set", cap);
	}
	return r;
}

int
wall_caps(uint64_t keep, struct err *err)
{
	struct caps caps = { 0 };
	int r = caps_read(&caps, err);

	keep &= caps.permitted;
	if (r == 0 &&
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		r = fail_errno(err, "wall caps: clear the ambient set");
	if (r == 0 && (caps.permitted & SETPCAP) != 0)
		r = bounding_drop(caps.permitted, keep, err);
	if (r == 0)
		r = caps_write(keep, keep, err);
	if (r == 0)
		r = caps_read(&caps, err);
	if (r == 0 && (caps.permitted != keep || caps.effective != keep ||
			  caps.inheritable != 0))
		r = fail(err, EPERM, "wall caps: %#llx are still held",
		    (unsigned long long)(caps.permitted | caps.inheritable));
	return r;
}

uint64_t
wall_caps_held(void)
{
	struct caps caps = { 0 };
	struct err err;

	return caps_read(&caps, &err) < 0 ? 0 : caps.permitted;
}
