/* doctor_report.h: what doctor found, as lines of text at once, or as one JSON
 * object at the end. The names in the object are documented in breakroom(1).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_DOCTOR_REPORT_H
#define SERVER_DOCTOR_REPORT_H

#include "server/doctor_checks.h"

#include <jansson.h>
#include <stdbool.h>

struct report {
	json_t *root; /* NULL: text */
};

enum report_list {
	REPORT_CHECKS,
	REPORT_KNOBS,
};

/* Starts a report; report_end or report_drop frees what it holds. */
void report_begin(struct report *report, bool json);

/* One finding. value: what a knob stands at (NULL: it is not there); it is
 * ignored for checks. */
void report_finding(struct report *report, enum report_list list,
    const char *name, const char *value, enum verdict verdict,
    const char *finding);

/* One line of text, whatever the finding quotes. Nothing in JSON. */
void report_line(const struct report *report, enum verdict verdict, int width,
    const char *subject, const char *finding);

/* "ok", "warn" or "bad". */
const char *verdict_name(enum verdict verdict);

/* A new string; bytes that are not UTF-8 are mended. */
json_t *report_text(const char *text);

/* Takes the object of a room. */
void report_add_room(struct report *report, json_t *room);

/* Ends what a command prints: with the object *root where there is one, which is
 * let go. 0, -ENOMEM or -EIO. */
int report_print(json_t **root);

/* Prints what has not been printed. works: what the exit status says. 0 or
 * -errno. */
int report_end(struct report *report, bool works);

/* Without printing. */
void report_drop(struct report *report);

#endif
