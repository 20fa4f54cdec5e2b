/* test_doctor.c: what doctor makes of grades and of the host's settings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/doctor_knobs.h"
#include "server/doctor_room.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define REQUIRED \
	(WALL_BIT(WALL_SECCOMP) | WALL_BIT(WALL_CAPS) | WALL_BIT(WALL_PROOF))

/* Every wall raised but these. */
static struct wire_grade
grade_without(wall_set missing, wall_set allowed)
{
	struct wire_grade grade = { .raised = WALLS_ALL & ~missing,
		.missing = missing,
		.required = REQUIRED,
		.allowed = missing & allowed,
		.landlock_abi = 6 };

	for (unsigned i = 0; i < WALLS; i++)
		if (missing & WALL_BIT(i))
			(void)snprintf(
			    grade.why[i], sizeof(grade.why[i]), "reason %u", i);
	return grade;
}

/* ---- the line of a room ---- */

static void
test_lines(void **state)
{
	const wall_set seccomp = WALL_BIT(WALL_SECCOMP);
	const wall_set ids = WALL_BIT(WALL_IDS);
	const wall_set memory = WALL_BIT(WALL_CGROUP_MEMORY);
	const wall_set proof = WALL_BIT(WALL_PROOF);
	const struct {
		wall_set missing, allowed;
		enum verdict verdict;
		bool whole;
		const char *line;
	} rows[] = {
		{ 0, 0, VERDICT_OK, true, "full" },
		{ 0, seccomp, VERDICT_OK, true, "full" },
		{ memory, 0, VERDICT_WARN, true, "full but cgroup.memory" },
		{ ids | memory, ids, VERDICT_WARN, true,
		    "full but cgroup.memory,ids (--allow-missing=ids)" },
		{ seccomp, seccomp, VERDICT_WARN, false,
		    "full but seccomp (--allow-missing=seccomp)" },
		{ seccomp, ids, VERDICT_BAD, false,
		    "refused: seccomp is missing: reason 19" },
		{ ids | seccomp | proof, seccomp, VERDICT_BAD, false,
		    "refused: proof is missing: reason 20" },
		{ seccomp | proof, 0, VERDICT_BAD, false,
		    "refused: seccomp is missing: reason 19; "
		    "proof is missing: reason 20" },
	};

	(void)state;
	assert_int_equal(WALL_SECCOMP, 19); /* the reasons above */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wire_grade grade =
		    grade_without(rows[i].missing, rows[i].allowed);
		char line[GRADE_LINE_MAX];

		assert_int_equal(grade_line(&grade, line), rows[i].verdict);
		assert_string_equal(line, rows[i].line);
		assert_int_equal(grade_is_whole(&grade), rows[i].whole);
	}
}

/* A keeper that gives no reason, a longer one than its place, or all walls:
 * no byte outside is read or written. */
static void
test_odd_reasons(void **state)
{
	struct wire_grade grade = grade_without(WALLS_ALL, 0);
	char line[GRADE_LINE_MAX];

	(void)state;
	grade.required = WALLS_ALL;
	memset(grade.why, 'x', sizeof(grade.why));
	assert_int_equal(grade_line(&grade, line), VERDICT_BAD);
	assert_int_equal(strlen(line), GRADE_LINE_MAX - 1);
	grade = grade_without(WALL_BIT(WALL_CAPS), 0);
	grade.why[WALL_CAPS][0] = '\0';
	assert_int_equal(grade_line(&grade, line), VERDICT_BAD);
	assert_string_equal(
	    line, "refused: caps is missing: no reason was given");
}

/* ---- the room in JSON ---- */

static json_t *
room_of(const struct room_view *view)
{
	struct report report;
	json_t *room;

	report_begin(&report, true);
	report_room(&report, view);
	room = json_array_get(json_object_get(report.root, "rooms"), 0);
	assert_non_null(room);
	json_incref(room);
	report_drop(&report);
	return room;
}

static const char *
text_in(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (!text)
		fail_msg("no text %s", key);
	return text;
}

static const json_t *
wall_in(const json_t *room, enum wall wall)
{
	const json_t *walls = json_object_get(room, "walls");

	for (size_t i = 0; i < json_array_size(walls); i++) {
		const json_t *one = json_array_get(walls, i);

		if (strcmp(text_in(one, "name"), wall_name(wall)) == 0)
			return one;
	}
	return NULL;
}

static void
test_json(void **state)
{
	const wall_set none = WALL_BIT(WALL_MOUNTNS); /* not of this kind */
	const struct conf conf = { .room = ROOM_WASM };
	struct room_view view = { .conf = &conf,
		.graded = true,
		.grade =
		    grade_without(WALL_BIT(WALL_SECCOMP) | WALL_BIT(WALL_IDS) |
				      WALL_BIT(WALL_CGROUP_CPU),
			WALL_BIT(WALL_SECCOMP)),
		.hello_worked = true,
		.hello = "in 1 ms" };
	const json_t *wall;
	json_t *room;

	(void)state;
	view.grade.raised &= ~none;
	memset(view.grade.why[WALL_IDS], 0xff, WALL_WHY_MAX);
	room = room_of(&view);
	assert_string_equal(text_in(room, "name"), "wasm");
	assert_string_equal(text_in(room, "verdict"), "warn");
	assert_string_equal(text_in(room, "grade"),
	    "full but cgroup.cpu,ids,seccomp (--allow-missing=seccomp)");
	assert_true(json_is_false(json_object_get(room, "required_walls")));
	assert_true(json_is_true(json_object_get(room, "hello_worked")));
	assert_string_equal(text_in(room, "hello"), "in 1 ms");
	assert_int_equal(
	    json_integer_value(json_object_get(room, "landlock_abi")), 6);
	assert_int_equal(
	    json_array_size(json_object_get(room, "walls")), WALLS - 1);
	assert_null(wall_in(room, WALL_MOUNTNS));

	wall = wall_in(room, WALL_SECCOMP);
	assert_string_equal(text_in(wall, "state"), "allowed-missing");
	assert_true(json_is_true(json_object_get(wall, "required")));
	assert_string_equal(text_in(wall, "why"), "reason 19");
	assert_string_equal(text_in(wall, "remedy"), wall_remedy(WALL_SECCOMP));
	wall = wall_in(room, WALL_IDS);
	assert_string_equal(text_in(wall, "state"), "missing");
	assert_true(json_is_false(json_object_get(wall, "required")));
	assert_non_null(strstr(text_in(wall, "why"), "\xef\xbf\xbd"));
	wall = wall_in(room, WALL_CAPS);
	assert_string_equal(text_in(wall, "state"), "on");
	assert_string_equal(text_in(wall, "what"), wall_what(WALL_CAPS));
	assert_null(json_object_get(wall, "why"));
	assert_null(json_object_get(wall, "remedy"));
	json_decref(room);
}

static void
test_json_without_a_grade(void **state)
{
	const struct conf conf = { .room = ROOM_JAIL };
	struct room_view view = {
		.conf = &conf, .decides = true, .hello = "it did not start"
	};
	json_t *room = room_of(&view);

	(void)state;
	assert_string_equal(text_in(room, "verdict"), "bad");
	assert_string_equal(
	    text_in(room, "grade"), "refused: it did not start");
	assert_true(json_is_false(json_object_get(room, "required_walls")));
	assert_true(json_is_false(json_object_get(room, "hello_worked")));
	assert_int_equal(json_array_size(json_object_get(room, "walls")), 0);
	json_decref(room);
}

/* ---- what a program in the room told ---- */

static void
test_facts(void **state)
{
	static const char told[] = "uid\t65532\nnothing\nroot\tread-\x1b[1m\n"
				   "other\t1\n\t\nseccomp\t2";
	struct facts facts;
	char line[64], small[12];

	(void)state;
	assert_true(facts_read(span_of(told), &facts));
	facts_line(&facts, line, sizeof(line));
	assert_string_equal(line, "uid 65532, seccomp 2, root read-?[1m");
	facts_line(&facts, small, sizeof(small));
	assert_string_equal(small, "uid 65532, ");
	assert_false(facts_read(span_of("uid\t\nno tab"), &facts));
	facts_line(&facts, line, sizeof(line));
	assert_string_equal(line, "");
}

/* A value that is longer than its place, and bytes that are no text. */
static void
test_facts_of_a_liar(void **state)
{
	uint8_t told[1000];
	struct facts facts;

	(void)state;
	memset(told, 0xff, sizeof(told));
	assert_false(facts_read((struct span){ told, sizeof(told) }, &facts));
	memcpy(told, "uid\t", 4);
	assert_true(facts_read((struct span){ told, sizeof(told) }, &facts));
	for (unsigned i = 0; i < FACTS; i++)
		if (facts.text[i][0])
			assert_int_equal(strlen(facts.text[i]), FACT_MAX - 1);
}

/* ---- settings ---- */

static char root[] = "/tmp/breakroom-knobs-XXXXXX";

static int
setup(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	return rmdir(root);
}

/* Makes (text) or removes (NULL) the file and its folders. */
static void
set_file(const char *name, const char *text)
{
	char path[PATH_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *p = strchr(path + strlen(root) + 1, '/'); text && p;
	     p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdir(path, 0700);
		*p = '/';
	}
	if (!text) {
		(void)unlink(path);
		for (char *p = strrchr(path, '/'); p > path + strlen(root) - 1;
		     p = strrchr(path, '/')) {
			*p = '\0';
			if (strcmp(path, root) == 0 || rmdir(path) < 0)
				break;
		}
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

static const struct knob *
knob_named(const char *name)
{
	for (size_t i = 0; i < knob_count; i++)
		if (strcmp(knobs[i].name, name) == 0)
			return &knobs[i];
	fail_msg("no knob %s", name);
	return NULL;
}

static void
test_knobs(void **state)
{
	static const struct {
		const char *name, *text, *value;
		enum verdict verdict;
	} rows[] = {
		{ "user.max_user_namespaces", "0\n", "0", VERDICT_WARN },
		{ "user.max_user_namespaces", "96365\n", "96365", VERDICT_OK },
		{ "user.max_user_namespaces", "many\n", "many", VERDICT_WARN },
		{ "user.max_user_namespaces", "", "", VERDICT_WARN },
		{ "user.max_user_namespaces", NULL, NULL, VERDICT_WARN },
		{ "kernel.unprivileged_userns_clone", "0\n", "0",
		    VERDICT_WARN },
		{ "kernel.unprivileged_userns_clone", "1\n", "1", VERDICT_OK },
		{ "kernel.unprivileged_userns_clone", NULL, NULL, VERDICT_OK },
		{ "kernel.apparmor_restrict_unprivileged_userns", "1\n", "1",
		    VERDICT_WARN },
		{ "kernel.apparmor_restrict_unprivileged_userns", "0\n", "0",
		    VERDICT_OK },
		{ "kernel.unprivileged_bpf_disabled", "0\n", "0",
		    VERDICT_WARN },
		{ "kernel.unprivileged_bpf_disabled", "2\n", "2", VERDICT_OK },
		{ "kernel.io_uring_disabled", "0\n", "0", VERDICT_WARN },
		{ "kernel.io_uring_disabled", "2\n", "2", VERDICT_OK },
		{ "kernel.yama.ptrace_scope", "0\n", "0", VERDICT_WARN },
		{ "kernel.yama.ptrace_scope", "1\n", "1", VERDICT_OK },
		{ "kernel.yama.ptrace_scope", NULL, NULL, VERDICT_WARN },
		{ "vm.unprivileged_userfaultfd", "1\n", "1", VERDICT_WARN },
		{ "vm.unprivileged_userfaultfd", "0\n", "0", VERDICT_OK },
		{ "kernel.core_pattern", "core\n", "core", VERDICT_OK },
		{ "kernel.core_pattern", "|/bin/crash %p\n", "|/bin/crash %p",
		    VERDICT_WARN },
		{ "kernel.perf_event_paranoid", "-1\n", "-1", VERDICT_WARN },
		{ "kernel.perf_event_paranoid", "2\n", "2", VERDICT_OK },
		{ "kernel.kptr_restrict", "0\n", "0", VERDICT_WARN },
		{ "kernel.kptr_restrict", "1\n", "1", VERDICT_OK },
		{ "swap", "Filename Type Size\n", "none", VERDICT_OK },
		{ "swap", "Filename Type Size\n/dev/sda2 partition 9\n",
		    "in use", VERDICT_WARN },
		{ "transparent_hugepage", "[always] madvise never\n", "always",
		    VERDICT_WARN },
		{ "transparent_hugepage", "always [madvise] never\n", "madvise",
		    VERDICT_OK },
		{ "transparent_hugepage", "]odd[\n", "]odd[", VERDICT_OK },
		{ "smt", "1\n", "1", VERDICT_WARN },
		{ "smt", "0\n", "0", VERDICT_OK },
		{ "lsm", "lockdown,capability,landlock,bpf",
		    "lockdown,capability,landlock,bpf", VERDICT_OK },
		{ "lsm", "capability,landlocks", "capability,landlocks",
		    VERDICT_WARN },
		{ "lsm", NULL, NULL, VERDICT_OK },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct knob *knob = knob_named(rows[i].name);
		struct knob_state knob_state;

		set_file(knob->path, rows[i].text);
		knob_look(knob, root, &knob_state);
		set_file(knob->path, NULL);
		if (knob_state.verdict != rows[i].verdict)
			fail_msg("%s at %s: %s", rows[i].name, rows[i].value,
			    knob_state.finding);
		assert_int_equal(knob_state.there, rows[i].value != NULL);
		if (rows[i].value)
			assert_string_equal(knob_state.value, rows[i].value);
		assert_true(strlen(knob_state.finding) > 5);
	}
}

/* A value longer than is shown, or not text, stays within its place. */
static void
test_long_values(void **state)
{
	char text[1000];
	struct knob_state knob_state;

	(void)state;
	memset(text, '1', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (size_t i = 0; i < knob_count; i++) {
		set_file(knobs[i].path, text);
		knob_look(&knobs[i], root, &knob_state);
		set_file(knobs[i].path, NULL);
		assert_true(knob_state.there);
		assert_true(strlen(knob_state.value) < KNOB_VALUE_MAX);
		assert_true(strlen(knob_state.finding) < FINDING_MAX);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_odd_reasons),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_without_a_grade),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_facts_of_a_liar),
		cmocka_unit_test(test_knobs),
		cmocka_unit_test(test_long_values),
	};

	return cmocka_run_group_tests_name("doctor", tests, setup, teardown);
}
