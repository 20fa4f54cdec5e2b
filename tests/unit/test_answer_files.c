/* test_answer_files.c: what an answer says of files, and of output that is
 * longer than what it shows.
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
#define ID      "0123456789abcdef0123456789abcdef"
#define URI     "breakroom://call/" ID

static struct answer_form
form_of(const char *revision, enum structured structured)
{
	json_t *name = json_string(revision);
	struct answer_form form = {
		.revision = revision_find(name),
		.structured = structured,
		.bytes_max = 800000,
		.output_chars = 1000,
		.call_id = ID,
	};

	assert_non_null(form.revision);
	json_decref(name);
	return form;
}

static void
add_file(struct result *result, const char *name, uint64_t size, bool taken)
{
	struct file_list *list = &result->files;

	list->files =
	    realloc(list->files, (list->n + 1) * sizeof(*list->files));
	assert_non_null(list->files);
	list->files[list->n++] =
	    (struct file){ .name = strdup(name), .size = size, .taken = taken };
}

static void
result_of(struct result *result, const char *out)
{
	result_init(result);
	result->outcome = OUTCOME_OK;
	(void)buf_add_text(&result->out.text, out);
}

static const char *
member(const json_t *answer, size_t block, const char *name)
{
	json_t *content = json_object_get(answer, "content");

	return json_string_value(
	    json_object_get(json_array_get(content, block), name));
}

static size_t
blocks(const json_t *answer)
{
	return json_array_size(json_object_get(answer, "content"));
}

static void
files_are_named_and_linked(void **state)
{
	struct answer_form form = form_of("2025-06-18", STRUCTURED_AUTO);
	struct result result;
	json_t *answer;

	(void)state;
	result_of(&result, "done\n");
	add_file(&result, "a b.csv", 12, true);
	add_file(&result, "big", 1ull << 33, false);
	answer = answer_result(&result, WALL_MS, &form);
	assert_string_equal(member(answer, 0, "text"),
	    "done\n[files]\na b.csv (12 bytes)\n"
	    "big (8589934592 bytes, not kept)\n");
	assert_int_equal(blocks(answer), 2);
	assert_string_equal(member(answer, 1, "type"), "resource_link");
	assert_string_equal(member(answer, 1, "uri"), URI "/files/a%20b.csv");
	assert_string_equal(member(answer, 1, "name"), "a b.csv");
	assert_string_equal(member(answer, 1, "mimeType"), "text/csv");
	/* Clients show it in place of the links. */
	assert_null(json_object_get(answer, "structuredContent"));
	json_decref(answer);
	result_done(&result);
}

static void
an_old_client_reads_the_uri(void **state)
{
	struct answer_form form = form_of("2025-03-26", STRUCTURED_AUTO);
	struct result result;
	json_t *answer;

	(void)state;
	result_of(&result, "");
	add_file(&result, "a.csv", 12, true);
	answer = answer_result(&result, WALL_MS, &form);
	assert_string_equal(member(answer, 0, "text"),
	    "(no output)\n[files]\na.csv (12 bytes) " URI "/files/a.csv\n");
	assert_int_equal(blocks(answer), 1);
	json_decref(answer);
	result_done(&result);
}

static void
always_lists_them(void **state)
{
	struct answer_form form = form_of("2026-07-28", STRUCTURED_ALWAYS);
	struct result result;
	json_t *answer, *list, *schema, *wanted;

	(void)state;
	result_of(&result, "");
	add_file(&result, "a.csv", 12, true);
	add_file(&result, "big", 1ull << 33, false);
	answer = answer_result(&result, WALL_MS, &form);
	list = json_object_get(
	    json_object_get(answer, "structuredContent"), "files");
	wanted = json_pack("[{s:s, s:i, s:s, s:s}, {s:s, s:I}]", "name",
	    "a.csv", "size", 12, "type", "text/csv", "uri", URI "/files/a.csv",
	    "name", "big", "size", (json_int_t)1 << 33);
	assert_true(json_equal(list, wanted));
	schema = answer_schema();
	assert_non_null(
	    json_object_get(json_object_get(schema, "properties"), "files"));
	json_decref(schema);
	json_decref(wanted);
	json_decref(answer);
	result_done(&result);
}

static void
only_so_many_are_linked(void **state)
{
	struct answer_form form = form_of("2026-07-28", STRUCTURED_NEVER);
	struct result result;
	json_t *answer;

	(void)state;
	result_of(&result, "");
	for (unsigned i = 0; i < 30; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "f%02u", i);
		add_file(&result, name, 1, true);
	}
	result.files.more = true;
	answer = answer_result(&result, WALL_MS, &form);
	assert_int_equal(blocks(answer), 1 + RESULT_LINKS_MAX);
	assert_non_null(strstr(member(answer, 0, "text"),
	    "f19 (1 bytes)\nand 10 more, and others that are not listed\n"));
	json_decref(answer);
	result_done(&result);
}

/* Names of the greatest length, and no room: some links are left out, and the
 * answer stays as short as it must be. */
static void
links_give_way(void **state)
{
	static const size_t maxima[] = { 800000, 60000, 9000, 0 };
	char name[4 * RESULT_NAME_MAX + 1];
	struct result result;

	(void)state;
	result_of(&result, "");
	for (unsigned i = 0; i < RESULT_FILES_MAX; i++) {
		memset(name, '\\', sizeof(name) - 1);
		name[0] = (char)('A' + i % 26);
		name[sizeof(name) - 1] = '\0';
		add_file(&result, name, UINT32_MAX, true);
	}
	for (unsigned i = 0; i < 20000; i++)
		(void)buf_add_text(&result.out.text, "line\n");
	for (unsigned i = 0; i < 4 * 3; i++) {
		struct answer_form form =
		    form_of("2026-07-28", (enum structured)(i % 3));
		struct buf text;
		json_t *answer;

		form.bytes_max = maxima[i / 3];
		form.output_chars = i % 2 ? 0 : 50000;
		answer = answer_result(&result, WALL_MS, &form);
		buf_init(&text, 64u * MIB);
		assert_int_equal(jsonrpc_dump(answer, &text), 0);
		assert_true(form.bytes_max == 0 || text.n <= form.bytes_max);
		buf_done(&text);
		json_decref(answer);
	}
	result_done(&result);
}

/* What is shown is what was shown when nothing more was kept. */
static void
cut_output_is_linked(void **state)
{
	struct answer_form form = form_of("2026-07-28", STRUCTURED_AUTO);
	struct result result;
	json_t *answer, *content, *shown;
	const char *text, *hint;

	(void)state;
	result_of(&result, "");
	for (unsigned i = 0; i < 500; i++)
		(void)buf_printf(&result.out.text, "line %4u\n", i);
	answer = answer_result(&result, WALL_MS, &form);
	text = member(answer, 0, "text");
	assert_int_equal(strncmp(text, "line    0\n", 10), 0);
	assert_non_null(strstr(text, "\n[truncated, 5000 chars total]\n"));
	hint = strstr(text, "\n[hint] stdout was cut: ");
	assert_non_null(hint);
	assert_int_equal(hint + 1 - text,
	    1000 + strlen("\n[truncated, 5000 chars total]\n"));
	assert_string_equal(member(answer, 1, "uri"), URI "/stdout");
	assert_string_equal(member(answer, 1, "name"), "stdout");
	content = json_object_get(answer, "structuredContent");
	assert_true(json_is_true(json_object_get(content, "truncated")));
	assert_true(json_is_text(
	    json_object_get(content, "stdout_uri"), URI "/stdout"));
	assert_null(json_object_get(content, "stderr_uri"));
	shown = json_object_get(content, "stdout");
	assert_int_equal(json_string_length(shown), hint + 1 - text);
	assert_memory_equal(
	    json_string_value(shown), text, json_string_length(shown));
	json_decref(answer);

	form.call_id = NULL; /* nothing is kept: nothing to link to */
	answer = answer_result(&result, WALL_MS, &form);
	assert_int_equal(blocks(answer), 1);
	content = json_object_get(answer, "structuredContent");
	assert_null(json_object_get(content, "stdout_uri"));
	json_decref(answer);
	result_done(&result);
}

/* The room's own words are no output of the program's: they stay. */
static void
note_is_not_cut(void **state)
{
	static const char note[] = "[killed]\n";
	struct answer_form form = form_of("2026-07-28", STRUCTURED_AUTO);
	struct result result;
	json_t *answer;
	const char *text;

	(void)state;
	result_of(&result, "");
	result.outcome = OUTCOME_KILLED;
	for (unsigned i = 0; i < 1500; i++)
		(void)buf_add_text(&result.err.text, "e");
	(void)buf_add_text(&result.err.text, note);
	result.err.note_n = strlen(note);
	answer = answer_result(&result, WALL_MS, &form);
	text = json_string_value(json_object_get(
	    json_object_get(answer, "structuredContent"), "stderr"));
	assert_int_equal(strlen(text),
	    1000 + strlen("\n[truncated, 1500 chars total]\n") + strlen(note));
	assert_string_equal(text + strlen(text) - strlen(note), note);
	json_decref(answer);
	result_done(&result);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_named_and_linked),
		cmocka_unit_test(an_old_client_reads_the_uri),
		cmocka_unit_test(always_lists_them),
		cmocka_unit_test(only_so_many_are_linked),
		cmocka_unit_test(links_give_way),
		cmocka_unit_test(cut_output_is_linked),
		cmocka_unit_test(note_is_not_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
