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

/* What makes a room that is not there. */
static const char *const ways_out[ROOMS] = {
	[ROOM_WASM] = "breakroom install",
	[ROOM_JAIL] = "a Python of the host's (--python), or breakroom install "
		      "--room jail",
	[ROOM_CONTAINER] = "Podman or Docker on this machine, then breakroom "
			   "install --room container",
	[ROOM_DENO] = "breakroom install --room deno",
};

static const char *
name_of(const struct room_view *view)
{
	return room_id_name(view->conf->room);
}

bool
room_view_works(const struct room_view *view)
{
	return view->hello_worked && view->graded &&
	       grade_is_whole(&view->grade);
}

/* A room that nobody asked for may be absent. */
static enum verdict
absent(const struct room_view *view)
{
	return view->decides ? VERDICT_BAD : VERDICT_WARN;
}

static enum verdict
line_of(const struct room_view *view, char ret_line[GRADE_LINE_MAX])
{
	enum verdict verdict;

	if (view->graded) {
		verdict = grade_line(&view->grade, ret_line);
		if (verdict == VERDICT_BAD)
			return absent(view);
		if (view->hello_worked)
			return verdict;
	}
	(void)snprintf(ret_line, GRADE_LINE_MAX, "refused: %s",
	    view->hello[0] ? view->hello : "the room did not start");
	return absent(view);
}

/* What a call in it is limited to. */
static void
print_limits(const struct report *report, const struct conf *conf)
{
	char line[FINDING_MAX];
	int n = snprintf(line, sizeof(line),
	    "memory %llu MiB, files %llu MiB, %g s",
	    (unsigned long long)(conf->memory_bytes / MIB),
	    (unsigned long long)(conf->files_bytes / MIB),
	    (double)conf->timeout_ms / 1000.0);

	if (conf->room != ROOM_WASM && n > 0 && (size_t)n < sizeof(line))
		(void)snprintf(line + n, sizeof(line) - (size_t)n,
		    ", processes %u, cpus %g", conf->processes,
		    (double)conf->cpus_milli / 1000.0);
	report_line(report, VERDICT_OK, ROOM_WIDTH, "limits", line);
}

static void
print_room(const struct report *report, const struct room_view *view)
{
	char line[GRADE_LINE_MAX], subject[32];
	enum verdict verdict = line_of(view, line);

	(void)snprintf(subject, sizeof(subject), "room %s", name_of(view));
	report_line(report, verdict, ROOM_WIDTH, subject, line);
	if (!view->hello_worked)
		(void)printf(
		    "      to get it: %s\n", ways_out[view->conf->room]);
	if (view->graded)
		print_walls(&view->grade);
	report_line(report, view->hello_worked ? VERDICT_OK : absent(view),
	    ROOM_WIDTH, "hello", view->hello);
	if (view->hello_worked)
		print_limits(report, view->conf);
	if (view->told) {
		facts_line(&view->facts, line, sizeof(line));
		report_line(report, VERDICT_OK, ROOM_WIDTH, "inside", line);
	}
}

static json_t *
limits_json(const struct conf *conf)
{
	json_t *limits = json_pack("{s:I, s:I, s:I}", "memory_bytes",
	    (json_int_t)conf->memory_bytes, "files_bytes",
	    (json_int_t)conf->files_bytes, "timeout_ms",
	    (json_int_t)conf->timeout_ms);

	if (conf->room == ROOM_WASM)
		return limits;
	(void)json_object_set_new(
	    limits, "processes", json_integer((json_int_t)conf->processes));
	(void)json_object_set_new(
	    limits, "cpus", json_real((double)conf->cpus_milli / 1000.0));
	return limits;
}

static json_t *
facts_json(const struct facts *facts)
{
	json_t *told = json_object();

	for (unsigned i = 0; i < FACTS; i++)
		if (facts->text[i][0])
			(void)json_object_set_new(
			    told, fact_names[i], json_string(facts->text[i]));
	return told;
}

/* What is known of one that worked, or what would make it work. */
static void
add_rest(json_t *room, const struct room_view *view)
{
	if (!view->hello_worked) {
		(void)json_object_set_new(
		    room, "remedy", json_string(ways_out[view->conf->room]));
		return;
	}
	(void)json_object_set_new(
	    room, "hello_ms", json_real((double)view->hello_us / 1000.0));
	(void)json_object_set_new(
	    room, "ready_ms", json_real((double)view->ready_us / 1000.0));
	(void)json_object_set_new(room, "limits", limits_json(view->conf));
	(void)json_object_set_new(room, "inside", facts_json(&view->facts));
}

static json_t *
room_json(const struct room_view *view)
{
	char line[GRADE_LINE_MAX];
	enum verdict verdict = line_of(view, line);
	bool whole = view->graded && grade_is_whole(&view->grade);
	json_t *room = json_pack("{s:s, s:s, s:o, s:b, s:i, s:o, s:b, s:o}",
	    "name", name_of(view), "verdict", verdict_name(verdict), "grade",
	    report_text(line), "required_walls", whole, "landlock_abi",
	    view->graded ? (int)view->grade.landlock_abi : 0, "walls",
	    view->graded ? walls_json(&view->grade) : json_array(),
	    "hello_worked", view->hello_worked, "hello",
	    report_text(view->hello));

	if (room)
		add_rest(room, view);
	return room;
}

void
report_room(struct report *report, const struct room_view *view)
{
	if (report->root)
		report_add_room(report, room_json(view));
	else
		print_room(report, view);
}
