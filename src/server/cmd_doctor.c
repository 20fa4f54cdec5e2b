/* cmd_doctor.c: "breakroom doctor": what this machine can host, and why not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "call/call.h"
#include "conf/artifacts.h"
#include "conf/paths.h"
#include "server/cmd.h"
#include "server/doctor_checks.h"
#include "server/one_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELLO "hello from the room"

/* One line a subject, whatever the finding quotes. */
static void
show(enum verdict verdict, const char *subject, const char *finding)
{
	static const char *const words[] = { "ok", "warn", "BAD" };

	(void)printf("%-5s %-11s ", words[verdict], subject);
	for (; *finding; finding++)
		(void)putchar((unsigned char)*finding < ' ' || *finding == 0x7f
				  ? ' '
				  : *finding);
	(void)putchar('\n');
	(void)fflush(stdout);
}

static void
show_machine(void)
{
	char finding[FINDING_MAX];

	for (size_t i = 0; i < doctor_check_count; i++) {
		const struct check *check = &doctor_checks[i];

		show(check->look(finding), check->subject, finding);
	}
}

struct hello {
	bool worked;
	uint64_t start_us;
	char finding[FINDING_MAX];
};

static void
judge_hello(const struct result *result, void *data)
{
	struct hello *hello = data;
	const struct buf *out = &result->out.text;
	const struct buf *err = &result->err.text;

	hello->worked = result->outcome == OUTCOME_OK &&
			out->n == sizeof(HELLO "\n") - 1 &&
			memcmp(out->p, HELLO "\n", out->n) == 0;
	if (hello->worked)
		(void)snprintf(hello->finding, FINDING_MAX,
		    "hello in %.2f ms; %.1f ms from a cold start",
		    (double)result->usage.wall_us / 1000.0,
		    (double)(clock_us() - hello->start_us) / 1000.0);
	else
		(void)snprintf(hello->finding, FINDING_MAX,
		    "hello failed: %s, exit code %d: %.*s",
		    outcome_name(result->outcome), result->exit_code,
		    err->n > 200 ? 200 : (int)err->n,
		    err->p ? (const char *)err->p : "");
}

/* 0, the number of the signal that ended it, or negative. */
static int
say_hello(const struct conf *conf, struct launcher *launcher,
    const struct artifacts *artifacts)
{
	struct hello hello = { .start_us = clock_us() };
	const struct taker taker = { judge_hello, &hello };
	struct call *call = call_new();
	struct err err;
	int r;

	if (!call || buf_add_text(&call->code, "print('" HELLO "')\n") < 0) {
		call_free(call);
		show(VERDICT_BAD, "room wasm", "no memory for a call");
		return -1;
	}
	r = one_call(conf, launcher, artifacts, call, &taker, &err);
	if (r > 0)
		return r;
	if (r < 0) {
		show(VERDICT_BAD, "room wasm", err.text);
		return r;
	}
	show(hello.worked ? VERDICT_OK : VERDICT_BAD, "room wasm",
	    hello.finding);
	return hello.worked ? 0 : -1;
}

static int
verify(const struct artifacts *artifacts)
{
	struct err err;
	int r = artifacts_verify(artifacts, &err);

	show(r < 0 ? VERDICT_BAD : VERDICT_OK, "digests",
	    r < 0 ? err.text : "every installed file is as it was made");
	return r;
}

int
cmd_doctor(const struct conf *conf, struct launcher *launcher)
{
	struct artifacts artifacts;
	struct err err;
	int r;

	(void)printf("breakroom %s\n", BREAKROOM_VERSION);
	show_machine();
	show(VERDICT_WARN, "walls",
	    "seccomp, Landlock, namespaces and cgroups are not raised in "
	    "this version: the WebAssembly sandbox, closed descriptors, "
	    "no_new_privs and resource limits hold alone");
	r = artifacts_find(&artifacts, &err);
	show(r < 0 ? VERDICT_BAD : VERDICT_OK, "guest",
	    r < 0 ? err.text : artifacts.dir);
	if (r == 0 && conf->verify)
		r = verify(&artifacts);
	if (r == 0)
		r = say_hello(conf, launcher, &artifacts);
	if (r > 0)
		return STATUS_SIGNAL + r;
	return r < 0 || fflush(stdout) != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
