/* policy_text.c: reads a seccomp policy.
 * SPDX-License-Identifier: Apache-2.0 */
#include "policy.h"

#include <seccomp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 512u
#define WORDS          " \t"
#define INCLUDES_MAX   8u /* deep */

#define ALL_BITS UINT64_MAX
#define INT_BITS UINT64_C(0xffffffff)
#define CHOICES  16u /* of "in" */

/* Where we are: for messages, and what is being filled. */
struct reader {
	const char *directory, *name;
	unsigned line, depth;
	struct policy *policy;
};

/* What "in" lists, for one argument of a rule. */
struct choices {
	unsigned at, n;
	uint64_t mask, values[CHOICES];
};

static bool wrong(const struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool
wrong(const struct reader *reader, const char *format, ...)
{
	va_list args;

	(void)fprintf(stderr, "%s/%s.policy:%u: ", reader->directory,
	    reader->name, reader->line);
	va_start(args, format);
	(void)vfprintf(stderr, format, args);
	va_end(args);
	(void)fputc('\n', stderr);
	return false;
}

int
policy_number(const char *call)
{
	return seccomp_syscall_resolve_name(call);
}

/* "A|B[|C|D]" or "[A|B]": bits that must be, and bits that may be. */
static bool
bits_parse(const struct reader *reader, char *text, uint64_t *ret_must,
    uint64_t *ret_may)
{
	char *state = NULL, *bracket = strchr(text, '[');
	uint64_t value;

	*ret_must = *ret_may = 0;
	if (bracket) {
		char *end = strchr(bracket, ']');

		if (!end || end[1] != '\0')
			return wrong(reader, "no ] at the end of %s", text);
		*end = *bracket = '\0';
		bracket++;
	}
	for (char *name = strtok_r(text, "|", &state); name;
	     name = strtok_r(NULL, "|", &state)) {
		if (!policy_constant(name, &value))
			return wrong(reader, "unknown constant %s", name);
		*ret_must |= value;
	}
	if (!bracket)
		return true;
	for (char *name = strtok_r(bracket, "|", &state); name;
	     name = strtok_r(NULL, "|", &state)) {
		if (!policy_constant(name, &value))
			return wrong(reader, "unknown constant %s", name);
		*ret_may |= value;
	}
	return true;
}

static bool
choices_parse(const struct reader *reader, char *state, struct choices *ret)
{
	char *name;
	uint64_t value;

	while ((name = strtok_r(NULL, WORDS, &state))) {
		if (ret->n == CHOICES)
			return wrong(reader, "too many choices");
		if (!policy_constant(name, &value))
			return wrong(reader, "unknown constant %s", name);
		ret->values[ret->n++] = value & ret->mask;
	}
	return ret->n > 0 || wrong(reader, "\"in\" of nothing");
}

static bool
test_add(const struct reader *reader, struct policy_test *test, uint64_t mask,
    uint64_t value)
{
	if ((test->value ^ value) & test->mask & mask)
		return wrong(reader, "two conditions that never agree");
	test->mask |= mask;
	test->value |= value & mask;
	return true;
}

/* ARGUMENT == BITS, ARGUMENT !& BITS or ARGUMENT in A B C. */
static bool
condition_parse(const struct reader *reader, char *text,
    struct policy_rule *rule, struct choices *choices)
{
	char *state = NULL, *name = strtok_r(text, WORDS, &state);
	const char *op = strtok_r(NULL, WORDS, &state);
	uint64_t must, may, width;
	bool narrow;
	unsigned at;
	char *bits;

	if (!name || !op)
		return wrong(reader, "a condition lacks its parts");
	if (!policy_argument(rule->call, name, &at, &narrow))
		return wrong(reader, "%s has no argument %s", rule->call, name);
	width = narrow ? INT_BITS : ALL_BITS;
	rule->bare = false;
	if (strcmp(op, "in") == 0) {
		if (choices->n > 0)
			return wrong(reader, "more than one \"in\"");
		choices->at = at;
		choices->mask = width;
		return choices_parse(reader, state, choices);
	}
	bits = strtok_r(NULL, WORDS, &state);
	if (!bits || strtok_r(NULL, WORDS, &state))
		return wrong(reader, "one value is wanted after %s", op);
	if (!bits_parse(reader, bits, &must, &may))
		return false;
	if (strcmp(op, "==") == 0)
		return test_add(reader, &rule->tests[at], width & ~may, must);
	if (strcmp(op, "!&") == 0 && may == 0)
		return test_add(reader, &rule->tests[at], width & must, 0);
	if (strcmp(op, "&") == 0 && may == 0)
		return test_add(reader, &rule->tests[at], width & must, must);
	return wrong(reader, "unknown operator %s", op);
}

/* True if no arguments are in both rules. */
static bool
rules_apart(const struct policy_rule *a, const struct policy_rule *b)
{
	for (unsigned i = 0; i < POLICY_ARGS; i++)
		if ((a->tests[i].value ^ b->tests[i].value) & a->tests[i].mask &
		    b->tests[i].mask)
			return true;
	return false;
}

/* Of rules of two kinds about a call, at most one can hold: so their order
 * means nothing. */
static bool
rule_put(const struct reader *reader, const struct policy_rule *rule)
{
	struct policy *policy = reader->policy;

	for (unsigned i = 0; i < policy->rules_n; i++) {
		struct policy_rule *old = &policy->rules[i];

		if (strcmp(old->call, rule->call) != 0)
			continue;
		if (old->action != rule->action || old->code != rule->code) {
			if (rules_apart(old, rule))
				continue;
			return wrong(
			    reader, "%s has another rule already", rule->call);
		}
		if (old->bare)
			return true; /* it allows this one too */
		if (rule->bare) {    /* and here the other way round */
			*old = policy->rules[--policy->rules_n];
			i--;
		}
	}
	if (policy->rules_n == POLICY_RULES_MAX)
		return wrong(reader, "too many rules");
	policy->rules[policy->rules_n++] = *rule;
	return true;
}

/* CALL [CONDITION, CONDITION...] */
static bool
rule_parse(const struct reader *reader, char *call, char *conditions,
    struct policy_rule *rule)
{
	struct choices choices = { 0 };
	char *state = NULL;

	if (!call || strlen(call) >= sizeof(rule->call))
		return wrong(reader, "a call is missing");
	(void)snprintf(rule->call, sizeof(rule->call), "%s", call);
	rule->number = policy_number(call);
	if (rule->number == POLICY_UNKNOWN)
		return wrong(reader, "unknown system call %s", call);
	rule->bare = true;
	if (conditions[strspn(conditions, WORDS)] != '\0')
		for (char *one = strtok_r(conditions, ",", &state); one;
		     one = strtok_r(NULL, ",", &state))
			if (!condition_parse(reader, one, rule, &choices))
				return false;
	if (choices.n == 0)
		return rule_put(reader, rule);
	for (unsigned i = 0; i < choices.n; i++) {
		struct policy_rule chosen = *rule;

		if (!test_add(reader, &chosen.tests[choices.at], choices.mask,
			choices.values[i]) ||
		    !rule_put(reader, &chosen))
			return false;
	}
	return true;
}

static bool file_read(const struct reader *at);

static bool
action_parse(const struct reader *reader, const char *name, char **state,
    enum policy_action *ret_action, int *ret_code)
{
	const char *code_name;
	uint64_t value;

	*ret_action = POLICY_KILL;
	if (name && strcmp(name, "kill") == 0)
		return true;
	*ret_action = POLICY_ERRNO;
	code_name = strtok_r(NULL, WORDS, state);
	if (!name || strcmp(name, "errno") != 0 || !code_name ||
	    !policy_constant(code_name, &value))
		return wrong(reader, "kill or errno NAME is wanted");
	*ret_code = (int)value;
	return true;
}

/* Only the file that was asked for says what happens by default. */
static bool
default_parse(const struct reader *reader, char *state)
{
	enum policy_action action;
	int code = 0;

	if (!action_parse(
		reader, strtok_r(NULL, WORDS, &state), &state, &action, &code))
		return false;
	if (reader->depth == 0) {
		reader->policy->action = action;
		reader->policy->code = code;
	}
	return true;
}

static bool
line_parse(const struct reader *reader, char *line)
{
	struct policy_rule rule = { .action = POLICY_ALLOW };
	char *state = NULL, *word;

	line[strcspn(line, "#\n")] = '\0';
	word = strtok_r(line, WORDS, &state);
	if (!word)
		return true;
	if (strcmp(word, "default") == 0)
		return default_parse(reader, state);
	if (strcmp(word, "include") == 0) {
		struct reader other = *reader;

		other.name = strtok_r(NULL, WORDS, &state);
		other.depth++;
		if (!other.name || other.depth > INCLUDES_MAX)
			return wrong(reader, "an include too many");
		return file_read(&other);
	}
	if (strcmp(word, "kill") == 0 || strcmp(word, "errno") == 0) {
		if (!action_parse(
			reader, word, &state, &rule.action, &rule.code))
			return false;
		word = strtok_r(NULL, WORDS, &state);
	} else if (strcmp(word, "allow") == 0) {
		word = strtok_r(NULL, WORDS, &state);
	}
	return rule_parse(reader, word, state, &rule);
}

static bool
file_read(const struct reader *at)
{
	struct reader reader = *at;
	char line[LINE_MAX_BYTES], path[1024];
	bool ok = true;
	FILE *file;

	(void)snprintf(
	    path, sizeof(path), "%s/%s.policy", reader.directory, reader.name);
	file = fopen(path, "re");
	reader.line = 0;
	if (!file)
		return wrong(&reader, "the file cannot be opened");
	while (ok && fgets(line, sizeof(line), file)) {
		reader.line++;
		if (!strchr(line, '\n'))
			ok = wrong(&reader, "a line is too long or not ended");
		else
			ok = line_parse(&reader, line);
	}
	(void)fclose(file);
	return ok;
}

bool
policy_read(const char *directory, const char *name, struct policy *ret_policy)
{
	struct reader reader = {
		.directory = directory,
		.name = name,
		.policy = ret_policy,
	};

	memset(ret_policy, 0, sizeof(*ret_policy));
	if (!file_read(&reader))
		return false;
	return ret_policy->action != POLICY_ALLOW ||
	       wrong(&reader, "no default");
}
