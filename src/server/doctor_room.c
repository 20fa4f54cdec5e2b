/* doctor_room.c: a grade as lines and as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/doctor_room.h"

#include <stdio.h>
#include <string.h>

#define ROOM_WIDTH 11

bool
grade_is_whole(const struct wire_grade *grade)
{
	return (grade->missing & grade->required) == 0;
}

/* The reason, ended by a NUL whatever the grade holds. */
static void
why_of(
    const struct wire_grade *grade, unsigned wall, char ret_why[WALL_WHY_MAX])
{
	(void)snprintf(ret_why, WALL_WHY_MAX, "%.*s", (int)WALL_WHY_MAX - 1,
	    grade->why[wall][0] ? grade->why[wall] : "no reason was given");
}

static void
line_of_refusal(const struct wire_grade *grade, wall_set lacking,
    char ret_line[GRADE_LINE_MAX])
{
	size_t n = (size_t)snprintf(ret_line, GRADE_LINE_MAX, "refused");

	for (unsigned i = 0; i < WALLS; i++) {
		char why[WALL_WHY_MAX];

		if (!(lacking & WALL_BIT(i)) || n >= GRADE_LINE_MAX)
			continue;
		why_of(grade, i, why);
		n += (size_t)snprintf(ret_line + n, GRADE_LINE_MAX - n,
		    "%s%s is missing: %s", n > 7 ? "; " : ": ",
		    wall_name((enum wall)i), why);
	}
}

enum verdict
grade_line(const struct wire_grade *grade, char ret_line[GRADE_LINE_MAX])
{
	wall_set lacking = grade->missing & grade->required & ~grade->allowed;
	char missing[WALL_NAMES_MAX], allowed[WALL_NAMES_MAX];

	if (lacking) {
		line_of_refusal(grade, lacking, ret_line);
		return VERDICT_BAD;
	}
	wall_names(grade->missing, missing);
	wall_names(grade->missing & grade->allowed, allowed);
	(void)snprintf(ret_line, GRADE_LINE_MAX, "full%s%s%s%s%s",
	    grade->missing ? " but " : "", missing,
	    allowed[0] ? " (--allow-missing=" : "", allowed,
	    allowed[0] ? ")" : "");
	return grade->missing ? VERDICT_WARN : VERDICT_OK;
}

/* ---- the walls of a room ---- */

struct wall_view {
	const char *state;
	bool required;
	char why[WALL_WHY_MAX]; /* empty for one that is there */
};

/* False for a wall that concerns another kind of room. */
static bool
look_at_wall(
    const struct wire_grade *grade, unsigned wall, struct wall_view *ret_view)
{
	wall_set bit = WALL_BIT(wall);

	*ret_view =
	    (struct wall_view){ .required = (grade->required & bit) != 0 };
	if (grade->missing & bit) {
		ret_view->state =
		    grade->allowed & bit ? "allowed-missing" : "missing";
		why_of(grade, wall, ret_view->why);
		return true;
	}
	ret_view->state = "on";
	return (grade->raised & bit) != 0;
}

static void
print_walls(const struct wire_grade *grade)
{
	for (unsigned i = 0; i < WALLS; i++) {
		enum wall wall = (enum wall)i;
		struct wall_view view;

		if (!look_at_wall(grade, i, &view))
			continue;
		(void)printf("      %-15s %-13s %s%s", view.state,
		    wall_name(wall), wall_what(wall),
		    view.required ? " (required)" : "");
		if (wall == WALL_LANDLOCK && grade->landlock_abi > 0)
			(void)printf(" (ABI %d)", (int)grade->landlock_abi);
		if (view.why[0])
			(void)printf("\n%36swhy: %s\n%36sto get it: %s", "",
			    view.why, "", wall_remedy(wall));
		(void)putchar('\n');
	}
}

static json_t *
walls_json(const struct wire_grade *grade)
{
	json_t *walls = json_array();

	for (unsigned i = 0; i < WALLS; i++) {
		enum wall wall = (enum wall)i;
		struct wall_view view;
		json_t *one;

		if (!look_at_wall(grade, i, &view))
			continue;
		one = json_pack("{s:s, s:s, s:b, s:s}", "name", wall_name(wall),
		    "state", view.state, "required", view.required, "what",
		    wall_what(wall));
		if (view.why[0]) {
			(void)json_object_set_new(
			    one, "why", report_text(view.why));
			(void)json_object_set_new(
			    one, "remedy", json_string(wall_remedy(wall)));
		}
		(void)json_array_append_new(walls, one);
	}
	return walls;
}

/* ---- the room ---- */

static enum verdict
line_of(const struct room_view *view, char ret_line[GRADE_LINE_MAX])
{
	if (view->graded)
		return grade_line(&view->grade, ret_line);
	(void)snprintf(ret_line, GRADE_LINE_MAX, "refused: %s",
	    view->hello[0] ? view->hello : "the room did not start");
	return VERDICT_BAD;
}

static void
print_room(const struct report *report, const struct room_view *view)
{
	char line[GRADE_LINE_MAX], subject[32];
	enum verdict verdict = line_of(view, line);

	(void)snprintf(subject, sizeof(subject), "room %s", view->name);
	report_line(report, verdict, ROOM_WIDTH, subject, line);
	if (view->graded)
		print_walls(&view->grade);
	report_line(report, view->hello_worked ? VERDICT_OK : VERDICT_BAD,
	    ROOM_WIDTH, "hello", view->hello);
}

static json_t *
room_json(const struct room_view *view)
{
	char line[GRADE_LINE_MAX];
	enum verdict verdict = line_of(view, line);
	bool whole = view->graded && grade_is_whole(&view->grade);

	return json_pack("{s:s, s:s, s:o, s:b, s:i, s:o, s:b, s:o}", "name",
	    view->name, "verdict", verdict_name(verdict), "grade",
	    report_text(line), "required_walls", whole, "landlock_abi",
	    view->graded ? (int)view->grade.landlock_abi : 0, "walls",
	    view->graded ? walls_json(&view->grade) : json_array(),
	    "hello_worked", view->hello_worked, "hello",
	    report_text(view->hello));
}

void
report_room(struct report *report, const struct room_view *view)
{
	if (report->root)
		report_add_room(report, room_json(view));
	else
		print_room(report, view);
}
