/* doctor_room.h: what a room has around it, and what it lacks. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_DOCTOR_ROOM_H
#define SERVER_DOCTOR_ROOM_H

#include "call/wire.h"
#include "conf/conf.h"
#include "server/doctor_facts.h"
#include "server/doctor_report.h"

#include <stdbool.h>

#define GRADE_LINE_MAX 1024

/* What became of a room that was started. */
struct room_view {
	const struct conf *conf; /* its own; borrowed */
	bool decides;            /* the exit status */
	bool graded;             /* its keeper told a grade */
	struct wire_grade grade;
	bool hello_worked;
	char hello[FINDING_MAX]; /* what came of a call in it */
	uint64_t hello_us;       /* of one that worked */
	uint64_t ready_us;       /* from the room's start; 0: it never was */
	bool told;               /* a program in it told facts */
	struct facts facts;
};

/* True if no wall that the kind of room requires is missing. A wall that the
 * operator allowed to be missing is missing all the same. */
bool grade_is_whole(const struct wire_grade *grade);

/* True if it has its walls and a call in it worked. */
bool room_view_works(const struct room_view *view);

/* "full", "full but cgroup.memory,ids", or "refused: seccomp is missing: WHY",
 * and how good that is. */
enum verdict grade_line(
    const struct wire_grade *grade, char ret_line[GRADE_LINE_MAX]);

/* Adds the room to the report. */
void report_room(struct report *report, const struct room_view *view);

#endif
