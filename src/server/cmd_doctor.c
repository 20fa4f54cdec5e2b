/* cmd_doctor.c: "breakroom doctor": what this machine can host, and why not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/artifacts.h"
#include "conf/room_conf.h"
#include "server/cmd.h"
#include "server/doctor_checks.h"
#include "server/doctor_knobs.h"
#include "server/doctor_rooms.h"

#include <stdlib.h>

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

static int
verify(const struct artifacts *artifacts, struct report *report)
{
	struct err err;
	int r = artifacts_verify(artifacts, &err);

	report_place(report, "digests", r,
	    r < 0 ? err.text : "every installed file is as it was made");
	return r;
}

/* The guest of the wasm room. 0 or negative. */
static int
report_guest(const struct conf *conf, struct report *report)
{
	struct artifacts artifacts;
	struct err err;
	int r = artifacts_find(conf->int64, &artifacts, &err);

	report_place(report, "guest", r, r < 0 ? err.text : artifacts.dir);
	if (r < 0)
		return r;
	report_place(report, "int64", 0,
	    conf->int64 == INT64_ON
		? "on: the guest's module is changed so that numpy's "
		  "default integer has 64 bits"
		: "off: numpy's default integer has 32 bits");
	return conf->verify ? verify(&artifacts, report) : 0;
}

int
cmd_doctor(const struct conf *conf, struct launcher *launcher)
{
	struct report report;
	int guest = 0, r;

	report_begin(&report, conf->json);
	report_machine(&report);
	if (conf_has_room(conf, ROOM_WASM))
		guest = report_guest(conf, &report);
	/* Before a room is started: this process may give up reading files. */
	report_knobs(&report);
	r = doctor_rooms(conf, launcher, &report);
	if (r == 0)
		r = guest;
	if (r <= 0 && report_end(&report, r == 0) < 0)
		r = -1;
	if (r > 0) {
		report_drop(&report);
		return STATUS_SIGNAL + r;
	}
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
