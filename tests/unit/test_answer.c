/* test_answer.c: results as clients and models see them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/answer.h"
#include "mcp/jsonrpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WALL_MS 1500

static struct answer_form
form_of(const char *revision, enum structured structured, size_t max)
{
	json_t *name = json_string(revision);
	struct answer_form form = { revision_find(name), structured, max };

	assert_non_null(form.revision);
	json_decref(name);
	return form;
}

static void
result_of(struct result *result, enum outcome outcome, const char *out,
    const char *err)
{
	result_init(result);
	result->outcome = outcome;
	result->exit_code = outcome == OUTCOME_OK       ? 0
			    : outcome == OUTCOME_RAISED ? 1
							: -1;
	result->timed_out = outcome == OUTCOME_TIMEOUT;
	(void)buf_add_text(&result->out.text, out);
	(void)buf_add_text(&result->err.text, err);
}

static const char *
text_of(const json_t *answer)
{
	const json_t *block =
	    json_array_get(json_object_get(answer, "content"), 0);

	assert_true(json_is_text(json_object_get(block, "type"), "text"));
	return json_string_value(json_object_get(block, "text"));
}

static void
test_text(void **state)
{
	static const struct {
		enum outcome outcome;
		const char *out, *err, *text;
	} rows[] = {
		{ OUTCOME_OK, "4\n", "", "4\n" },
		{ OUTCOME_OK, "4", "", "4" },
		{ OUTCOME_OK, "", "", "(no output)" },
		{ OUTCOME_OK, "4\n", "warn\n", "4\n[stderr]\nwarn\n" },
		{ OUTCOME_OK, "4", "warn", "4\n[stderr]\nwarn" },
		{ OUTCOME_OK, "", "warn\n", "[stderr]\nwarn\n" },
		{ OUTCOME_RAISED, "4\n", "Error\n",
		    "4\n[stderr]\nError\n[exit code 1]" },
		{ OUTCOME_RAISED, "4", "Error",
		    "4\n[stderr]\nError\n[exit code 1]" },
		{ OUTCOME_RAISED, "", "", "(no output)\n[exit code 1]" },
		{ OUTCOME_TIMEOUT, "4", "",
		    "4\n[timed out after 1.5 s]\n[hint] stopped at the time "
		    "limit of 1.5 s: do less in one call" },
		{ OUTCOME_TIMEOUT, "4\n", "time is over\n",
		    "4\n[stderr]\ntime is over\n[hint] stopped at the time "
		    "limit of 1.5 s: do less in one call" },
		{ OUTCOME_KILLED, "", "", "(no output)\n[ended: killed]" },
		{ OUTCOME_REFUSED, "", "the queue is full",
		    "the queue is full" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer_form form =
		    form_of("2024-11-05", STRUCTURED_AUTO, 900000);
		struct result result;
		json_t *answer;

		result_of(&result, rows[i].outcome, rows[i].out, rows[i].err);
		answer = answer_result(&result, WALL_MS, &form);
		assert_string_equal(text_of(answer), rows[i].text);
		assert_int_equal(
		    json_is_true(json_object_get(answer, "isError")),
		    rows[i].outcome != OUTCOME_OK);
		assert_null(json_object_get(answer, "structuredContent"));
		json_decref(answer);
		result_done(&result);
	}
}

static void
test_fields(void **state)
{
	struct answer_form form =
	    form_of("2025-06-18", STRUCTURED_AUTO, 900000);
	json_t *answer, *expected, *content, *meta;
	struct result result;

	(void)state;
	result_of(&result, OUTCOME_TIMEOUT, "out", "err");
	result.out.cut = true;
	result.usage = (struct usage){ .queued_us = 1250,
		.wall_us = 23449,
		.memory_peak_bytes = 5000000000 };
	answer = answer_result(&result, WALL_MS, &form);
	expected = json_pack("{s:s, s:s, s:i, s:b, s:b, s:f, s:f, s:I, s:s}",
	    "stdout", "out", "stderr", "err", "exit_code", -1, "timed_out", 1,
	    "truncated", 1, "duration_ms", 23.4, "queued_ms", 1.3,
	    "memory_peak_bytes", (json_int_t)5000000000, "room", "wasm");
	(void)json_object_set_new(expected, "hints",
	    json_pack("[s, s]",
		"stopped at the time limit of 1.5 s: do less in one call",
		"stdout was cut: print less"));
	content = json_object_get(answer, "structuredContent");
	assert_true(json_equal(content, expected));
	meta = json_object_get(
	    json_object_get(answer, "_meta"), "breakroom/result");
	(void)json_object_del(expected, "stdout");
	(void)json_object_del(expected, "stderr");
	(void)json_object_set_new(expected, "outcome", json_string("timeout"));
	assert_true(json_equal(meta, expected));
	json_decref(answer);
	json_decref(expected);
	result_done(&result);
}

static bool
lists(const json_t *names, const char *const *expected, size_t n)
{
	if (json_array_size(names) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!json_is_text(json_array_get(names, i), expected[i]))
			return false;
	return true;
}

/* A weaker room is named in every result; a whole one is not spoken of. */
static void
test_walls(void **state)
{
	static const char *const missing[] = { "cgroup.memory", "ids",
		"seccomp" };
	struct answer_form form =
	    form_of("2025-11-25", STRUCTURED_AUTO, 900000);
	json_t *answer, *walls, *meta;
	struct result result;

	(void)state;
	for (enum outcome outcome = OUTCOME_OK; outcome <= OUTCOME_REFUSED;
	     outcome++) {
		result_of(&result, outcome, "x", "");
		result.walls_missing = WALL_BIT(WALL_SECCOMP) |
				       WALL_BIT(WALL_IDS) |
				       WALL_BIT(WALL_CGROUP_MEMORY);
		result.walls_allowed = WALL_BIT(WALL_SECCOMP);
		answer = answer_result(&result, WALL_MS, &form);
		meta = json_object_get(
		    json_object_get(answer, "_meta"), "breakroom/result");
		walls = json_object_get(meta, "walls");
		assert_int_equal(json_object_size(walls), 2);
		assert_true(
		    lists(json_object_get(walls, "missing"), missing, 3));
		assert_true(
		    lists(json_object_get(walls, "allowed"), missing + 2, 1));
		/* The streams' fields are what their schema says. */
		assert_null(json_object_get(
		    json_object_get(answer, "structuredContent"), "walls"));
		json_decref(answer);
		result.walls_missing = result.walls_allowed = 0;
		answer = answer_result(&result, WALL_MS, &form);
		meta = json_object_get(
		    json_object_get(answer, "_meta"), "breakroom/result");
		assert_non_null(meta);
		assert_null(json_object_get(meta, "walls"));
		json_decref(answer);
		result_done(&result);
	}
}

static void
test_structured_modes(void **state)
{
	static const struct {
		const char *revision;
		enum structured structured;
		bool there;
	} rows[] = {
		{ "2026-07-28", STRUCTURED_AUTO, true },
		{ "2026-07-28", STRUCTURED_ALWAYS, true },
		{ "2026-07-28", STRUCTURED_NEVER, false },
		{ "2025-11-25", STRUCTURED_AUTO, true },
		{ "2025-03-26", STRUCTURED_AUTO, false },
		{ "2025-03-26", STRUCTURED_ALWAYS, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer_form form =
		    form_of(rows[i].revision, rows[i].structured, 900000);
		struct result result;
		json_t *answer;

		result_of(&result, OUTCOME_OK, "x", "");
		answer = answer_result(&result, WALL_MS, &form);
		assert_int_equal(
		    json_object_get(answer, "structuredContent") != NULL,
		    rows[i].there);
		assert_non_null(json_object_get(
		    json_object_get(answer, "_meta"), "breakroom/result"));
		json_decref(answer);
		result_done(&result);
	}
}

/* Every field that the schema requires is in a result, and the other way round;
 * seven are there when there is something to read. */
static void
test_schema(void **state)
{
	struct answer_form form =
	    form_of("2026-07-28", STRUCTURED_ALWAYS, 900000);
	json_t *answer = answer_refused("no", &form);
	json_t *content = json_object_get(answer, "structuredContent");
	json_t *schema = answer_schema();
	json_t *properties = json_object_get(schema, "properties"), *value;
	const char *name;

	(void)state;
	assert_true(json_is_text(json_object_get(schema, "type"), "object"));
	assert_int_equal(
	    json_object_size(properties), json_object_size(content) + 7);
	json_object_foreach(content, name, value)
	{
		const json_t *type =
		    json_object_get(json_object_get(properties, name), "type");

		assert_true(
		    json_is_string(value)    ? json_is_text(type, "string")
		    : json_is_boolean(value) ? json_is_text(type, "boolean")
		    : json_is_integer(value) ? json_is_text(type, "integer")
					     : json_is_text(type, "number"));
	}
	assert_int_equal(json_array_size(json_object_get(schema, "required")),
	    json_object_size(content));
	json_decref(answer);
	json_decref(schema);
}

static size_t
dumped_size(const json_t *answer)
{
	struct buf text;
	size_t n;

	buf_init(&text, 64u * MIB);
	assert_int_equal(jsonrpc_dump(answer, &text), 0);
	n = text.n;
	buf_done(&text);
	return n;
}

static void
fill(struct stream *stream, const char *piece, size_t times)
{
	for (size_t i = 0; i < times; i++)
		assert_int_equal(buf_add_text(&stream->text, piece), 0);
	stream->total_chars = times;
}

/* However a program's characters are escaped, the message is short enough,
 * valid, and still uses most of what it may. */
static void
test_sizes(void **state)
{
	static const char *const pieces[] = { "\x01", "\"", "\n", "x",
		"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };
	static const size_t maxima[] = { 7000, 100000, 900000 };

	(void)state;
	for (size_t i = 0; i < 7 * 3 * 2; i++) {
		struct answer_form form =
		    form_of(i % 2 ? "2026-07-28" : "2024-11-05",
			STRUCTURED_AUTO, maxima[i / 2 % 3]);
		struct result result;
		json_t *answer;
		size_t n;

		result_of(&result, OUTCOME_OK, "", "");
		fill(&result.out, pieces[i / 6], 700000);
		fill(&result.err, "e", i % 4 < 2 ? 100 : 700000);
		result.walls_missing = result.walls_allowed =
		    i % 3 ? WALLS_ALL : 0;
		answer = answer_result(&result, WALL_MS, &form);
		n = dumped_size(answer);
		assert_true(n <= form.bytes_max);
		assert_true(n > form.bytes_max / 2);
		assert_non_null(strstr(
		    text_of(answer), "\n[truncated, 700000 chars total]\n"));
		assert_true(json_is_true(json_object_get(
		    json_object_get(
			json_object_get(answer, "_meta"), "breakroom/result"),
		    "truncated")));
		assert_null(strstr(text_of(answer), "\xef\xbf\xbd"));
		json_decref(answer);
		result_done(&result);
	}
}

/* Head and tail survive a cut. */
static void
test_cut_keeps_both_ends(void **state)
{
	struct answer_form form = form_of("2024-11-05", STRUCTURED_AUTO, 4000);
	struct result result;
	json_t *answer;
	const char *text;

	(void)state;
	result_of(&result, OUTCOME_OK, "first", "");
	fill(&result.out, "\xc3\xa9", 5000);
	(void)buf_add_text(&result.out.text, "last");
	answer = answer_result(&result, WALL_MS, &form);
	text = text_of(answer);
	assert_int_equal(strncmp(text, "first\xc3\xa9", 7), 0);
	assert_string_equal(text + strlen(text) - 6, "\xc3\xa9last");
	assert_non_null(strstr(text, "\n[truncated, 5009 chars total]\n"));
	json_decref(answer);
	result_done(&result);
}

/* The answer to a result that does not fit has this mark; ends the result. */
static void
is_marked(struct result *result, const char *mark)
{
	struct answer_form form = form_of("2024-11-05", STRUCTURED_AUTO, 4000);
	json_t *answer = answer_result(result, WALL_MS, &form);

	assert_non_null(strstr(text_of(answer), mark));
	json_decref(answer);
	result_done(result);
}

/* What was cut before keeps the number that was told then. */
static void
test_cut_twice(void **state)
{
	struct result result;

	(void)state;
	result_of(&result, OUTCOME_OK, "", "");
	fill(&result.out, "x", 5000);
	result.out.cut = true;
	result.out.total_chars = 123456789;
	is_marked(&result, "\n[truncated, 123456789 chars total]\n");
}

/* It might have written more. */
static void
test_cut_of_one_that_was_ended(void **state)
{
	struct result result;

	(void)state;
	result_of(&result, OUTCOME_TIMEOUT, "", "");
	fill(&result.out, "x", 5000);
	result.out.ended = true;
	is_marked(&result, "\n[truncated, at least 5000 chars total]\n");
}

static void
test_no_room_at_all(void **state)
{
	struct answer_form form = form_of("2026-07-28", STRUCTURED_AUTO, 0);
	struct result result;
	json_t *answer;

	(void)state;
	result_of(&result, OUTCOME_RAISED, "", "");
	fill(&result.out, "x", 5000);
	answer = answer_result(&result, WALL_MS, &form);
	assert_string_equal(
	    text_of(answer), "\n[truncated, 5000 chars total]\n[exit code 1]");
	json_decref(answer);
	result_done(&result);
}

static void
test_nul_and_bad_bytes(void **state)
{
	struct answer_form form =
	    form_of("2026-07-28", STRUCTURED_AUTO, 900000);
	const json_t *content;
	struct result result;
	json_t *answer, *out;

	(void)state;
	result_of(&result, OUTCOME_OK, "", "a\xff");
	(void)buf_add(&result.out.text, "a\0b", 3);
	answer = answer_result(&result, WALL_MS, &form);
	content = json_object_get(answer, "structuredContent");
	out = json_object_get(content, "stdout");
	assert_int_equal(json_string_length(out), 3);
	assert_memory_equal(json_string_value(out), "a\0b", 4);
	assert_true(
	    json_is_text(json_object_get(content, "stderr"), "a\xef\xbf\xbd"));
	json_decref(answer);
	result_done(&result);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_walls),
		cmocka_unit_test(test_structured_modes),
		cmocka_unit_test(test_schema),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_cut_keeps_both_ends),
		cmocka_unit_test(test_cut_twice),
		cmocka_unit_test(test_cut_of_one_that_was_ended),
		cmocka_unit_test(test_no_room_at_all),
		cmocka_unit_test(test_nul_and_bad_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
