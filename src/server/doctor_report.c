/* doctor_report.c: two ways to say the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/doctor_report.h"

#include "base/own.h"
#include "call/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CHECK_WIDTH 11
#define KNOB_WIDTH  32

static const struct {
	const char *key;
	int width;
} lists[] = {
	[REPORT_CHECKS] = { "checks", CHECK_WIDTH },
	[REPORT_KNOBS] = { "knobs", KNOB_WIDTH },
};

const char *
verdict_name(enum verdict verdict)
{
	static const char *const names[] = { "ok", "warn", "bad" };

	return names[verdict];
}

void
report_begin(struct report *report, bool json)
{
	report->root = NULL;
	if (json)
		report->root = json_pack("{s:s, s:b, s:[], s:[], s:[]}",
		    "version", BREAKROOM_VERSION, "works", 0, "rooms", "checks",
		    "knobs");
	else
		(void)printf("breakroom %s\n", BREAKROOM_VERSION);
}

void
report_line(const struct report *report, enum verdict verdict, int width,
    const char *subject, const char *finding)
{
	static const char *const words[] = { "ok", "warn", "BAD" };

	if (report->root)
		return;
	(void)printf("%-5s %-*s ", words[verdict], width, subject);
	for (; *finding; finding++)
		(void)putchar((unsigned char)*finding < ' ' || *finding == 0x7f
				  ? ' '
				  : *finding);
	(void)putchar('\n');
	(void)fflush(stdout);
}

json_t *
report_text(const char *text)
{
	struct span span = span_of(text);
	own_buf struct buf mended;

	buf_init(&mended, span.n * 3 + 1);
	(void)text_add(&mended, span, span.n);
	return json_stringn(mended.p ? (const char *)mended.p : "", mended.n);
}

void
report_finding(struct report *report, enum report_list list, const char *name,
    const char *value, enum verdict verdict, const char *finding)
{
	json_t *one;

	report_line(report, verdict, lists[list].width, name, finding);
	if (!report->root)
		return;
	one = json_pack("{s:s, s:s, s:o}", "name", name, "verdict",
	    verdict_name(verdict), "finding", report_text(finding));
	if (list == REPORT_KNOBS)
		(void)json_object_set_new(
		    one, "value", value ? report_text(value) : json_null());
	(void)json_array_append_new(
	    json_object_get(report->root, lists[list].key), one);
}

void
report_add_room(struct report *report, json_t *room)
{
	(void)json_array_append_new(
	    json_object_get(report->root, "rooms"), room);
}

void
report_drop(struct report *report)
{
	json_decref(report->root);
	report->root = NULL;
}

int
report_print(json_t **root)
{
	own_mem char *text = NULL;

	if (*root) {
		text =
		    json_dumps(*root, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
		json_decref(*root);
		*root = NULL;
		if (!text)
			return -ENOMEM;
		(void)puts(text);
	}
	return fflush(stdout) != 0 || ferror(stdout) ? -EIO : 0;
}

int
report_end(struct report *report, bool works)
{
	if (report->root)
		(void)json_object_set_new(
		    report->root, "works", json_boolean(works));
	return report_print(&report->root);
}
