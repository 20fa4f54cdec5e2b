/* cmd_doctor.c: "breakroom doctor": what this machine can host, and why not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "call/call.h"
#include "conf/artifacts.h"
#include "conf/paths.h"
#include "server/cmd.h"
#include "server/doctor_checks.h"
#include "server/doctor_knobs.h"
#include "server/doctor_room.h"
#include "server/one_call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELLO "hello from the room"

static void
report_machine(struct report *report)
{
	for (size_t i = 0; i < doctor_check_count; i++) {
		const struct check *check = &doctor_checks[i];
		char finding[FINDING_MAX];
		enum verdict verdict = check->look(finding);

		report_finding(report, REPORT_CHECKS, check->subject, NULL,
		    verdict, finding);
	}
}

static void
report_knobs(struct report *report)
{
	for (size_t i = 0; i < knob_count; i++) {
		struct knob_state state;

		knob_look(&knobs[i], "", &state);
		report_finding(report, REPORT_KNOBS, knobs[i].name,
		    state.there ? state.value : NULL, state.verdict,
		    state.finding);
	}
}

static void
report_place(
    struct report *report, const char *subject, int r, const char *finding)
{
	report_finding(report, REPORT_CHECKS, subject, NULL,
	    r < 0 ? VERDICT_BAD : VERDICT_OK, finding);
}

/* ---- the room ---- */

struct hello {
	struct room_view view;
	uint64_t start_us;
};

static void
judge_hello(const struct result *result, void *data)
{
	struct hello *hello = data;
	struct room_view *view = &hello->view;
	const struct buf *out = &result->out.text;
	const struct buf *err = &result->err.text;

	view->hello_worked = result->outcome == OUTCOME_OK &&
			     out->n == sizeof(HELLO "\n") - 1 &&
			     memcmp(out->p, HELLO "\n", out->n) == 0;
	if (view->hello_worked)
		(void)snprintf(view->hello, FINDING_MAX,
		    "in %.2f ms; %.1f ms from a cold start",
		    (double)result->usage.wall_us / 1000.0,
		    (double)(clock_us() - hello->start_us) / 1000.0);
	else
		(void)snprintf(view->hello, FINDING_MAX,
		    "failed: %s, exit code %d: %.*s",
		    outcome_name(result->outcome), result->exit_code,
		    err->n > 240 ? 240 : (int)err->n,
		    err->p ? (const char *)err->p : "");
}

static void
take_grade(const struct wire_grade *grade, void *data)
{
	struct hello *hello = data;

	hello->view.graded = grade != NULL;
	if (grade)
		hello->view.grade = *grade;
}

/* 0 if the room has what it requires and the hello worked; the number of the
 * signal that ended it; or negative. */
static int
say_hello(const struct conf *conf, struct launcher *launcher,
    const struct artifacts *artifacts, struct report *report)
{
	struct hello hello = { .view.name = "wasm", .start_us = clock_us() };
	const struct room_view *view = &hello.view;
	const struct taker taker = { judge_hello, take_grade, &hello };
	struct call *call = call_new();
	struct err err;
	int r;

	if (!call || buf_add_text(&call->code, "print('" HELLO "')\n") < 0) {
		call_free(call);
		r = fail(&err, ENOMEM, "no memory for a call");
	} else {
		r = one_call(conf, launcher, artifacts, call, &taker, &err);
	}
	if (r > 0)
		return r;
	if (r < 0) {
		hello.view.hello_worked = false;
		(void)snprintf(hello.view.hello, FINDING_MAX, "%s", err.text);
	}
	report_room(report, view);
	return view->hello_worked && view->graded &&
		       grade_is_whole(&view->grade)
		   ? 0
		   : -1;
}

static int
verify(const struct artifacts *artifacts, struct report *report)
{
	struct err err;
	int r = artifacts_verify(artifacts, &err);

	report_place(report, "digests", r,
	    r < 0 ? err.text : "every installed file is as it was made");
	return r;
}

int
cmd_doctor(const struct conf *conf, struct launcher *launcher)
{
	struct artifacts artifacts;
	struct report report;
	struct err err;
	int r;

	report_begin(&report, conf->json);
	report_machine(&report);
	r = artifacts_find(conf->int64, &artifacts, &err);
	report_place(&report, "guest", r, r < 0 ? err.text : artifacts.dir);
	if (r == 0)
		report_place(&report, "int64", 0,
		    conf->int64 == INT64_ON
			? "on: the guest's module is changed so that numpy's "
			  "default integer has 64 bits"
			: "off: numpy's default integer has 32 bits");
	if (r == 0 && conf->verify)
		r = verify(&artifacts, &report);
	/* Before a room is started: this process may give up reading files. */
	report_knobs(&report);
	if (r == 0)
		r = say_hello(conf, launcher, &artifacts, &report);
	if (r <= 0 && report_end(&report, r == 0) < 0)
		r = -1;
	if (r > 0) {
		report_drop(&report);
		return STATUS_SIGNAL + r;
	}
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
