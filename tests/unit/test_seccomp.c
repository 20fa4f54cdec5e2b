/* test_seccomp.c: the filters, three ways: real calls in processes of their
 * own, with the filter and without; the filters' instructions, run here, beside
 * the policies as they are written; and each policy beside the wider one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include "call_list.h"
#include "policy.h"
#include "walls/seccomp_table.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- real calls ---- */

#define NO_POLICY SECCOMP_POLICIES

/* How the process ends in which the call is made: 0, an errno, or minus the
 * signal that killed it. */
static int
ends_with(const struct call *call, enum seccomp_policy policy)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct err err;

		call_prepare();
		if (policy != NO_POLICY && wall_seccomp(policy, &err) < 0)
			_exit(255);
		_exit(call->make() < 0 ? errno : 0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* What a mark of the list means, where the call ends with off by itself. */
static int
expected(char mark, int off)
{
	switch (mark) {
	case 'x':
		return -SIGSYS;
	case 'E':
		return EPERM;
	case 'N':
		return ENOSYS;
	default:
		return off;
	}
}

static void
calls_are_made(void **state)
{
	unsigned wrong = 0;

	(void)state;
	for (unsigned i = 0; i < calls_n; i++) {
		const struct call *call = &calls[i];
		int off = ends_with(call, NO_POLICY);

		/* Otherwise it would show nothing that it fails. */
		if (off != 0 && !call->may_fail) {
			print_error("%s: %d without filter\n", call->name, off);
			wrong++;
		}
		for (unsigned j = 0; j < SECCOMP_POLICIES; j++) {
			int on = ends_with(call, (enum seccomp_policy)j);

			if (on == expected(call->marks[j], off))
				continue;
			print_error("%s: %d with %s, not %d\n", call->name, on,
			    seccomp_programs[j].name,
			    expected(call->marks[j], off));
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

/* A filter is for the privileged, or those who gave up ever to be. */
static void
needs_no_new_privs(void **state)
{
	int status = 0;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		struct err err = { 0 };

		if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
			_exit(1);
		if (wall_seccomp(SECCOMP_CHILD, &err) != -EACCES ||
		    !strstr(err.text, "wall seccomp: the child policy: "))
			_exit(2);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* ---- the filters as programs ---- */

#define NUMBERS_MAX 520 /* no number of a call is as large yet */

/* The kernel's verdict on a call, for the instructions that filters use. */
static uint32_t
verdict(const struct seccomp_program *program, const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (unsigned at = 0; at < program->n; at++) {
		const struct sock_filter *code = &program->code[at];
		bool jump;

		switch (code->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			assert_true(code->k <= sizeof(*data) - sizeof(a));
			memcpy(&a, (const char *)data + code->k, sizeof(a));
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= code->k;
			continue;
		case BPF_JMP | BPF_JA:
			at += code->k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
			jump = a == code->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			jump = a > code->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			jump = a >= code->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			jump = a & code->k;
			break;
		case BPF_RET | BPF_K:
			return code->k;
		default:
			fail_msg("instruction %#x", code->code);
			return 0;
		}
		at += jump ? code->jt : code->jf;
	}
	fail_msg("%s does not return", program->name);
	return 0;
}

static uint32_t
value_of(enum policy_action action, int code)
{
	switch (action) {
	case POLICY_ALLOW:
		return SECCOMP_RET_ALLOW;
	case POLICY_KILL:
		return SECCOMP_RET_KILL_PROCESS;
	case POLICY_ERRNO:
		return SECCOMP_RET_ERRNO | (uint32_t)code;
	}
	return 0;
}

/* The verdict of the policy as it is written. */
static uint32_t
written(const struct policy *policy, const struct seccomp_data *data)
{
	for (unsigned i = 0; i < policy->rules_n; i++) {
		const struct policy_rule *rule = &policy->rules[i];
		bool fits = rule->number == data->nr;

		for (unsigned j = 0; j < POLICY_ARGS && fits; j++)
			fits = ((data->args[j] ^ rule->tests[j].value) &
				   rule->tests[j].mask) == 0;
		if (fits)
			return value_of(rule->action, rule->code);
	}
	return value_of(policy->action, policy->code);
}

static uint64_t
random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Arguments that rules are about: those of one, and with a few bits turned,
 * also in the upper halves. */
static void
arguments_near(const struct policy_rule *rule, uint64_t *random,
    struct seccomp_data *ret_data)
{
	for (unsigned i = 0; i < POLICY_ARGS; i++) {
		const struct policy_test *test = &rule->tests[i];
		uint64_t dice = random_next(random);
		uint64_t other = random_next(random);

		for (unsigned j = 0; j < dice % 4; j++) /* fewer bits */
			other &= random_next(random);
		ret_data->args[i] = test->value | (other & ~test->mask);
		if (dice % 7 == 1)
			ret_data->args[i] ^= UINT64_C(1) << (dice >> 8) % 64;
		if (dice % 7 == 2)
			ret_data->args[i] ^= UINT64_C(1) << (dice >> 8) % 8;
		if (dice % 31 == 3)
			ret_data->args[i] = other;
	}
}

#define POLICY_DIR SOURCE_ROOT "/src/walls/policy"
#define ROUNDS     400

struct written_policies {
	struct policy policy[SECCOMP_POLICIES];
	struct policy_rule none;
};

static struct written_policies *
policies_read(void)
{
	struct written_policies *all = calloc(1, sizeof(*all));

	assert_non_null(all);
	for (unsigned i = 0; i < SECCOMP_POLICIES; i++)
		assert_true(policy_read(
		    POLICY_DIR, seccomp_programs[i].name, &all->policy[i]));
	return all;
}

/* Calls check with data about each rule of each policy, and about every
 * number. */
static void
for_each_call(const struct written_policies *all,
    void (*check)(
	const struct written_policies *all, const struct seccomp_data *data))
{
	struct seccomp_data data = { .arch = AUDIT_ARCH_X86_64 };
	uint64_t random = UINT64_C(88172645463325252);

	for (unsigned i = 0; i < SECCOMP_POLICIES; i++)
		for (unsigned j = 0; j < all->policy[i].rules_n; j++)
			for (unsigned k = 0; k < ROUNDS; k++) {
				const struct policy_rule *rule =
				    &all->policy[i].rules[j];

				data.nr = rule->number;
				arguments_near(rule, &random, &data);
				if (rule->number >= 0)
					check(all, &data);
			}
	for (data.nr = 0; data.nr < NUMBERS_MAX; data.nr++)
		for (unsigned k = 0; k < ROUNDS / 10; k++) {
			arguments_near(&all->none, &random, &data);
			check(all, &data);
		}
}

static void
check_as_written(
    const struct written_policies *all, const struct seccomp_data *data)
{
	for (unsigned i = 0; i < SECCOMP_POLICIES; i++) {
		uint32_t is = verdict(&seccomp_programs[i], data);
		uint32_t should = written(&all->policy[i], data);

		if (is != should)
			fail_msg("%s: call %d(%#llx, %#llx, %#llx, %#llx, "
				 "%#llx): %#x, not %#x",
			    seccomp_programs[i].name, data->nr,
			    (unsigned long long)data->args[0],
			    (unsigned long long)data->args[1],
			    (unsigned long long)data->args[2],
			    (unsigned long long)data->args[3],
			    (unsigned long long)data->args[4], is, should);
	}
}

static void
filters_are_as_written(void **state)
{
	struct written_policies *all = policies_read();

	(void)state;
	for_each_call(all, check_as_written);
	free(all);
}

static unsigned allowed_calls;

/* The policies in the order in which they are inherited, the last first. */
static const enum seccomp_policy narrow_to_wide[] = { SECCOMP_CHILD,
	SECCOMP_SESSION, SECCOMP_ZYGOTE, SECCOMP_KEEPER, SECCOMP_LAUNCHER };

#define INHERITED (sizeof(narrow_to_wide) / sizeof(narrow_to_wide[0]))

static unsigned allowed_calls;

/* Whoever has a filter has those of its forebears too: what it may, they must
 * allow. */
static void
check_contained(
    const struct written_policies *all, const struct seccomp_data *data)
{
	bool allowed = false;

	(void)all;
	for (unsigned i = 0; i < INHERITED; i++) {
		const struct seccomp_program *program =
		    &seccomp_programs[narrow_to_wide[i]];
		uint32_t is = verdict(program, data);

		if (allowed && is != SECCOMP_RET_ALLOW)
			fail_msg("call %d(%#llx, %#llx, %#llx): %s forbids it",
			    data->nr, (unsigned long long)data->args[0],
			    (unsigned long long)data->args[1],
			    (unsigned long long)data->args[2], program->name);
		allowed = is == SECCOMP_RET_ALLOW;
		allowed_calls += allowed;
	}
}

static void
each_is_within_the_one_before(void **state)
{
	struct written_policies *all = policies_read();

	(void)state;
	allowed_calls = 0;
	for_each_call(all, check_contained);
	assert_true(allowed_calls > 10000); /* or nothing was compared */
	free(all);
}

/* Other sets of calls have other numbers: none of theirs passes. */
static void
other_sets_are_death(void **state)
{
	static const uint32_t archs[] = { AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64,
		0, 0xffffffff };
	struct seccomp_data data = { 0 };

	(void)state;
	for (unsigned i = 0; i < SECCOMP_POLICIES; i++)
		for (data.nr = 0; data.nr < NUMBERS_MAX; data.nr++) {
			for (unsigned j = 0; j < 4; j++) {
				data.arch = archs[j];
				assert_int_equal(
				    verdict(&seccomp_programs[i], &data),
				    SECCOMP_RET_KILL_PROCESS);
			}
			data.arch = AUDIT_ARCH_X86_64;
			data.nr |= 0x40000000; /* x32 */
			assert_int_equal(verdict(&seccomp_programs[i], &data),
			    SECCOMP_RET_KILL_PROCESS);
			data.nr &= ~0x40000000;
		}
}

/* ---- the text ---- */

/* True if a file with these lines is a policy. */
static bool
is_policy(const char *text)
{
	static struct policy policy; /* too large for a stack */
	char dir[] = "/tmp/test_seccomp.XXXXXX";
	char path[64];
	FILE *file;
	bool ok;

	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/a.policy", dir);
	file = fopen(path, "we");
	assert_non_null(file);
	(void)fputs(text, file);
	(void)fclose(file);
	ok = policy_read(dir, "a", &policy);
	(void)unlink(path);
	(void)rmdir(dir);
	return ok;
}

static void
text_is_checked(void **state)
{
	static const char *const wrong[] = {
		"read\n",                                /* no default */
		"default allow\n",                       /* none that is open */
		"default kill\nreed\n",                  /* no such call */
		"default kill\nread file == 3\n",        /* no such argument */
		"default kill\nread fd == THREE\n",      /* no such constant */
		"default kill\nread fd > 3\n",           /* no such operator */
		"default kill\nread fd ==\n",            /* no value */
		"default kill\nread fd == 3, fd == 4\n", /* never */
		"default kill\nread fd == 3 4\n",        /* two values */
		"default kill\nread fd == 3|[4\n",       /* half a bracket */
		"default kill\nread fd in\n",            /* in nothing */
		"default kill\nread\nkill read\n",       /* both */
		"default kill\nread fd == 3\nerrno EPERM read fd in 3 4\n",
		"default kill\nerrno READ read\n", /* no such error */
		"default kill\ninclude b\n",       /* no such file */
		"default kill\ninclude a\n",       /* without end */
		"default kill\nread",              /* cut short */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (is_policy(wrong[i]))
			fail_msg("accepted: %s", wrong[i]);
	assert_true(is_policy("default errno EPERM # why\n\n"
			      "read fd == 3\nread fd in 4 5\nread\n"
			      "allow kill pid !& SIGN_BIT, signal == SIGKILL\n"
			      "errno ENOSYS clone3\nkill execve\n"
			      "clone flags !& CLONE_NEWNS\n"
			      "errno EACCES clone flags & CLONE_NEWNS\n"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_made),
		cmocka_unit_test(needs_no_new_privs),
		cmocka_unit_test(filters_are_as_written),
		cmocka_unit_test(each_is_within_the_one_before),
		cmocka_unit_test(other_sets_are_death),
		cmocka_unit_test(text_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
