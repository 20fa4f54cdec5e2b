/* policy.h: the text of a seccomp policy, read. The grammar is at the top of
 * walls/policy/child.policy.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLS_POLICY_H
#define TOOLS_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define POLICY_ARGS      6u
#define POLICY_RULES_MAX 512u
#define POLICY_NAME_MAX  40u

enum policy_action {
	POLICY_ALLOW,
	POLICY_KILL,
	POLICY_ERRNO
};

/* An argument passes if its bits in mask are those of value; no mask: it is
 * not looked at. */
struct policy_test {
	uint64_t mask, value;
};

struct policy_rule {
	char call[POLICY_NAME_MAX];
	int number; /* negative: this machine has no such call */
	enum policy_action action;
	int code;  /* of POLICY_ERRNO */
	bool bare; /* no condition: whatever the arguments are */
	struct policy_test tests[POLICY_ARGS]; /* all must pass */
};

struct policy {
	enum policy_action action; /* of what no rule is about */
	int code;
	struct policy_rule rules[POLICY_RULES_MAX];
	unsigned rules_n;
};

/* Reads directory/NAME.policy and what it includes. False: it was said on
 * standard error what is wrong. */
bool policy_read(
    const char *directory, const char *name, struct policy *ret_policy);

/* The number of the system call. POLICY_UNKNOWN: nobody has such a one. */
#define POLICY_UNKNOWN (-1)
int policy_number(const char *call);

/* ---- names: policy_names.c ---- */

/* The value of a constant of the C library or the kernel, or of a number. */
bool policy_constant(const char *name, uint64_t *ret_value);

/* Which argument of the call has this name, and whether the kernel takes only
 * 32 bits of it. */
bool policy_argument(
    const char *call, const char *name, unsigned *ret_at, bool *ret_narrow);

#endif
