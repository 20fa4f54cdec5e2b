/* policy.c: compiles seccomp policies into a table in C.
 *
 * policy OUTPUT DIRECTORY NAME...
 *
 * Runs while breakroom is built, and is no part of it. What it writes depends
 * on the policies, libseccomp and the kind of processor alone: never on the
 * kernel that runs here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "policy.h"

#include <ctype.h>
#include <errno.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The newest kernel interface that the filters need; told to libseccomp, so
 * that it does not ask the kernel. 3: to kill a process. */
#define API_LEVEL 3

static bool
failed(const char *what, int r)
{
	(void)fprintf(stderr, "policy: %s: %s\n", what, strerror(-r));
	return false;
}

static uint32_t
action_of(enum policy_action action, int code)
{
	switch (action) {
	case POLICY_ALLOW:
		return SCMP_ACT_ALLOW;
	case POLICY_KILL:
		return SCMP_ACT_KILL_PROCESS;
	case POLICY_ERRNO:
		return SCMP_ACT_ERRNO((uint16_t)code);
	}
	return SCMP_ACT_KILL_PROCESS;
}

static bool
rule_add(scmp_filter_ctx filter, const struct policy *policy,
    const struct policy_rule *rule)
{
	uint32_t action = action_of(rule->action, rule->code);
	struct scmp_arg_cmp tests[POLICY_ARGS];
	unsigned n = 0;
	int r;

	/* A call of other machines; or it is the default. */
	if (rule->number < 0 ||
	    action == action_of(policy->action, policy->code))
		return true;
	for (unsigned i = 0; i < POLICY_ARGS; i++)
		if (rule->tests[i].mask)
			tests[n++] =
			    (struct scmp_arg_cmp){ i, SCMP_CMP_MASKED_EQ,
				    rule->tests[i].mask, rule->tests[i].value };
	r = seccomp_rule_add_exact_array(
	    filter, action, rule->number, n, tests);
	return r == 0 || failed(rule->call, r);
}

static bool
filter_fill(scmp_filter_ctx filter, const struct policy *policy)
{
	/* Another set of calls (32 bits, x32) has other numbers. */
	int r = seccomp_attr_set(
	    filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	if (r == 0) /* as a binary tree */
		r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (r < 0)
		return failed("attributes", r);
	for (unsigned i = 0; i < policy->rules_n; i++)
		if (!rule_add(filter, policy, &policy->rules[i]))
			return false;
	return true;
}

/* The filter's instructions: allocated, *ret_n of them. */
static struct sock_filter *
filter_code(scmp_filter_ctx filter, size_t *ret_n)
{
	struct sock_filter *code = NULL;
	int fd = memfd_create("filter", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : seccomp_export_bpf(filter, fd);
	off_t size = r < 0 ? 0 : lseek(fd, 0, SEEK_END);

	if (size > 0)
		code = malloc((size_t)size);
	if (!code || pread(fd, code, (size_t)size, 0) != size) {
		(void)failed("export", r);
		free(code);
		code = NULL;
	}
	*ret_n = (size_t)size / sizeof(*code);
	if (fd >= 0)
		(void)close(fd);
	return code;
}

static struct sock_filter *
policy_compile(const struct policy *policy, size_t *ret_n)
{
	scmp_filter_ctx filter =
	    seccomp_init(action_of(policy->action, policy->code));
	struct sock_filter *code = NULL;

	if (!filter)
		(void)failed("seccomp_init", -EINVAL);
	else if (filter_fill(filter, policy))
		code = filter_code(filter, ret_n);
	seccomp_release(filter);
	return code;
}

/* How many calls can pass. */
static unsigned
calls_allowed(const struct policy *policy)
{
	unsigned n = 0;

	for (unsigned i = 0; i < policy->rules_n; i++) {
		const struct policy_rule *rule = &policy->rules[i];
		bool seen = rule->number < 0 || rule->action != POLICY_ALLOW;

		for (unsigned j = 0; j < i && !seen; j++)
			seen = policy->rules[j].number == rule->number;
		n += !seen;
	}
	return n;
}

static bool
policy_write(FILE *out, const char *directory, const char *name)
{
	static struct policy policy; /* too large for a stack */
	struct sock_filter *code;
	size_t n = 0;

	if (!policy_read(directory, name, &policy))
		return false;
	code = policy_compile(&policy, &n);
	if (!code)
		return false;
	(void)fprintf(out,
	    "\n/* %u calls, %zu instructions */\n"
	    "static const struct sock_filter %s[] = {\n",
	    calls_allowed(&policy), n, name);
	for (size_t i = 0; i < n; i++)
		(void)fprintf(out, "\t{ 0x%02x, %u, %u, 0x%08x },\n",
		    code[i].code, code[i].jt, code[i].jf, code[i].k);
	(void)fprintf(out, "};\n");
	free(code);
	return true;
}

static void
entry_write(FILE *out, const char *name)
{
	char constant[POLICY_NAME_MAX] = "";

	for (size_t i = 0; i < sizeof(constant) - 1 && name[i]; i++)
		constant[i] = (char)toupper((unsigned char)name[i]);
	(void)fprintf(out,
	    "\t[SECCOMP_%s] = { \"%s\", %s, sizeof(%s) / sizeof(%s[0]) },\n",
	    constant, name, name, name, name);
}

int
main(int argc, char **argv)
{
	bool ok = true;
	FILE *out;

	if (argc < 4) {
		(void)fprintf(
		    stderr, "usage: policy OUTPUT DIRECTORY NAME...\n");
		return 2;
	}
	if (seccomp_api_set(API_LEVEL) < 0) {
		(void)failed("this libseccomp is too old", -ENOTSUP);
		return 1;
	}
	out = fopen(argv[1], "we");
	if (!out) {
		(void)failed(argv[1], -errno);
		return 1;
	}
	(void)fprintf(out, "/* made from walls/policy/ by tools/policy.c */\n"
			   "#include \"walls/seccomp_table.h\"\n");
	for (int i = 3; i < argc && ok; i++)
		ok = policy_write(out, argv[2], argv[i]);
	(void)fprintf(out, "\nconst struct seccomp_program "
			   "seccomp_programs[SECCOMP_POLICIES] = {\n");
	for (int i = 3; i < argc; i++)
		entry_write(out, argv[i]);
	(void)fprintf(out, "};\n");
	ok = !ferror(out) && ok;
	return fclose(out) == 0 && ok ? 0 : 1;
}
