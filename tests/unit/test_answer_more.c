/* test_answer_more.c: what an answer has beside output: the value of the last
 * expression, images, hints, a session, and text files in full.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/answer.h"
#include "mcp/jsonrpc.h"
#include "pngs.h"

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
		.max_wall_ms = 60000,
		.memory_bytes = 512ull * MIB,
	};

	assert_non_null(form.revision);
	json_decref(name);
	return form;
}

static struct file *
add_file(struct file_list *list, const char *name, const char *text)
{
	struct file *file;

	list->files =
	    realloc(list->files, (list->n + 1) * sizeof(*list->files));
	assert_non_null(list->files);
	file = &list->files[list->n++];
	*file = (struct file){ .name = strdup(name), .taken = true };
	buf_init(&file->bytes, MIB);
	(void)buf_add_text(&file->bytes, text);
	file->size = file->bytes.n;
	return file;
}

static void
add_png(struct result *result, uint32_t width, uint32_t height, uint32_t n)
{
	char name[16];
	struct file *file;

	(void)snprintf(name, sizeof(name), "%02u.png", result->images.n + 1);
	file = add_file(&result->images, name, "");
	png_make(&file->bytes, width, height, n);
	file->size = file->bytes.n;
}

static void
result_of(struct result *result, const char *out)
{
	result_init(result);
	result->outcome = OUTCOME_OK;
	(void)buf_add_text(&result->out.text, out);
}

static json_t *
block(const json_t *answer, size_t place)
{
	return json_array_get(json_object_get(answer, "content"), place);
}

static const char *
member(const json_t *answer, size_t place, const char *name)
{
	return json_string_value(json_object_get(block(answer, place), name));
}

static size_t
blocks(const json_t *answer)
{
	return json_array_size(json_object_get(answer, "content"));
}

static json_t *
meta_of(const json_t *answer)
{
	return json_object_get(
	    json_object_get(answer, "_meta"), "breakroom/result");
}

static size_t
dumped(const json_t *answer)
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
everything_has_its_place(void **state)
{
	struct answer_form form = form_of("2025-06-18", STRUCTURED_ALWAYS);
	json_t *answer, *content, *hints, *session;
	struct result result;

	(void)state;
	result_of(&result, "out");
	(void)buf_add_text(&result.value.text, "42");
	(void)buf_add_text(&result.err.text, "warn\n");
	(void)buf_add_text(
	    &result.hints.text, "do this\n\ndo that\nnot this\n");
	result.exit_code = 3;
	result.outcome = OUTCOME_RAISED;
	memcpy(result.session, ID, sizeof(ID));
	add_png(&result, 640, 480, 100);
	(void)add_file(&result.files, "a.csv", "1,2");
	answer = answer_result(&result, WALL_MS, &form);
	assert_string_equal(member(answer, 0, "text"),
	    "out\n[value]\n42\n[stderr]\nwarn\n[exit code 3]\n"
	    "[image 1 of 1: 640x480 PNG]\n[session " ID "]\n"
	    "[files]\na.csv (3 bytes)\n[hint] do this\n[hint] do that");
	assert_int_equal(blocks(answer), 3);
	assert_string_equal(member(answer, 1, "type"), "image");
	assert_string_equal(member(answer, 1, "mimeType"), "image/png");
	assert_string_equal(member(answer, 2, "type"), "resource_link");
	assert_true(json_is_true(json_object_get(answer, "isError")));
	content = json_object_get(answer, "structuredContent");
	assert_true(json_is_text(json_object_get(content, "value"), "42"));
	hints = json_pack("[s, s]", "do this", "do that");
	assert_true(json_equal(json_object_get(content, "hints"), hints));
	assert_true(
	    json_equal(json_object_get(meta_of(answer), "hints"), hints));
	session = json_string(ID);
	assert_true(json_equal(json_object_get(content, "session"), session));
	assert_true(
	    json_equal(json_object_get(meta_of(answer), "session"), session));
	assert_null(json_object_get(meta_of(answer), "value"));
	json_decref(session);
	json_decref(hints);
	json_decref(answer);
	result_done(&result);
}

static void
a_value_is_no_silence(void **state)
{
	static const struct {
		const char *out, *value, *text;
	} rows[] = {
		{ "", "42", "[value]\n42" },
		{ "4\n", "42", "4\n[value]\n42" },
		{ "", "", "(no output)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer_form form =
		    form_of("2025-06-18", STRUCTURED_AUTO);
		struct result result;
		json_t *answer, *content;

		result_of(&result, rows[i].out);
		(void)buf_add_text(&result.value.text, rows[i].value);
		answer = answer_result(&result, WALL_MS, &form);
		content = json_object_get(answer, "structuredContent");
		assert_string_equal(member(answer, 0, "text"), rows[i].text);
		assert_int_equal(json_object_get(content, "value") != NULL,
		    *rows[i].value != 0);
		json_decref(answer);
		result_done(&result);
	}
}

/* The bytes come back; clients of every revision know such blocks. */
static void
images_are_blocks(void **state)
{
	static const char *const revisions[] = { "2026-07-28", "2025-11-25",
		"2025-06-18", "2025-03-26", "2024-11-05" };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct answer_form form =
		    form_of(revisions[i], STRUCTURED_AUTO);
		struct result result;
		json_t *answer, *list, *wanted;

		result_of(&result, "");
		add_png(&result, 3, 2, 0);
		add_png(&result, 5, 7, 10);
		answer = answer_result(&result, WALL_MS, &form);
		assert_string_equal(member(answer, 0, "text"),
		    "[image 1 of 2: 3x2 PNG]\n[image 2 of 2: 5x7 PNG]\n");
		assert_int_equal(blocks(answer), 3);
		assert_int_equal(
		    strncmp(member(answer, 1, "data"),
			"iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAAA", 39),
		    0);
		/* Clients show it in place of the images. */
		assert_null(json_object_get(answer, "structuredContent"));
		list = json_object_get(meta_of(answer), "images");
		wanted = json_pack(
		    "[{s:s, s:i, s:i, s:I, s:s}, {s:s, s:i, s:i, s:I, s:s}]",
		    "type", "image/png", "width", 3, "height", 2, "bytes",
		    (json_int_t)result.images.files[0].size, "uri",
		    URI "/images/01.png", "type", "image/png", "width", 5,
		    "height", 7, "bytes",
		    (json_int_t)result.images.files[1].size, "uri",
		    URI "/images/02.png");
		assert_true(json_equal(list, wanted));
		json_decref(wanted);
		json_decref(answer);
		result_done(&result);
	}
}

/* A child may say anything of an image. */
static void
what_is_no_image_is_left_out(void **state)
{
	struct answer_form form = form_of("2025-06-18", STRUCTURED_AUTO);
	struct result result;
	json_t *answer;

	(void)state;
	result_of(&result, "x\n");
	(void)add_file(&result.images, "01.png", "<svg/>");
	add_png(&result, 3, 2, 10);
	add_png(&result, 0, 2, 10);
	result.images.more = true;
	answer = answer_result(&result, WALL_MS, &form);
	assert_string_equal(member(answer, 0, "text"),
	    "x\n[image 1 of 3: no PNG that can be shown]\n"
	    "[image 2 of 3: 3x2 PNG]\n"
	    "[image 3 of 3: no PNG that can be shown]\n"
	    "[there were more images]\n");
	assert_int_equal(blocks(answer), 2);
	assert_int_equal(
	    json_array_size(json_object_get(meta_of(answer), "images")), 1);
	json_decref(answer);
	result_done(&result);
}

/* The first ones are in the message, what has no place in it is a link; the
 * message is never too long, and the text is still there. */
static void
images_share_the_message(void **state)
{
	struct answer_form form = form_of("2025-06-18", STRUCTURED_AUTO);
	struct result result;
	json_t *answer;

	(void)state;
	result_of(&result, "");
	for (unsigned i = 0; i < 500; i++)
		(void)buf_printf(&result.out.text, "line %4u\n", i);
	add_png(&result, 640, 480, 300000);
	add_png(&result, 800, 600, 300000);
	add_png(&result, 3, 2, 10);
	answer = answer_result(&result, WALL_MS, &form);
	assert_non_null(strstr(member(answer, 0, "text"),
	    "[image 1 of 3: 640x480 PNG]\n"
	    "[image 2 of 3: 800x600 PNG, as a resource]\n"
	    "[image 3 of 3: 3x2 PNG]\n"));
	assert_non_null(
	    strstr(member(answer, 0, "text"), "[truncated, 5000 chars total]"));
	assert_int_equal(blocks(answer), 5);
	assert_string_equal(member(answer, 1, "type"), "image");
	assert_string_equal(member(answer, 2, "type"), "resource_link");
	assert_string_equal(member(answer, 2, "uri"), URI "/images/02.png");
	assert_string_equal(member(answer, 2, "mimeType"), "image/png");
	assert_string_equal(member(answer, 3, "type"), "image");
	assert_string_equal(member(answer, 4, "uri"), URI "/stdout");
	assert_true(dumped(answer) <= form.bytes_max);
	json_decref(answer);

	form = form_of("2024-11-05", STRUCTURED_AUTO); /* no links there */
	answer = answer_result(&result, WALL_MS, &form);
	assert_non_null(strstr(member(answer, 0, "text"),
	    "[image 2 of 3: 800x600 PNG, " URI "/images/02.png]\n"));
	assert_int_equal(blocks(answer), 3);
	json_decref(answer);

	form.call_id = NULL; /* nothing is kept */
	answer = answer_result(&result, WALL_MS, &form);
	assert_non_null(strstr(member(answer, 0, "text"),
	    "[image 2 of 3: 800x600 PNG, 300057 bytes: too large to send]\n"));
	json_decref(answer);
	result_done(&result);
}

/* However much there is of everything, the message is short enough. */
static void
sizes_are_kept(void **state)
{
	static const size_t maxima[] = { 800000, 200000, 60000 };
	static const char *const pieces[] = { "\x01", "x", "\xe2\x82\xac" };
	struct result result;

	(void)state;
	for (unsigned i = 0; i < 3 * 3 * 3; i++) {
		struct answer_form form =
		    form_of("2026-07-28", (enum structured)(i / 9));
		json_t *answer;

		form.bytes_max = maxima[i % 3];
		form.output_chars = 50000;
		form.inline_files = true;
		result_of(&result, "");
		for (unsigned k = 0; k < 60000; k++) {
			(void)buf_add_text(&result.out.text, pieces[i / 3 % 3]);
			(void)buf_add_text(
			    &result.value.text, pieces[i / 3 % 3]);
		}
		for (unsigned k = 0; k < RESULT_IMAGES_MAX; k++)
			add_png(&result, 640, 480, 40000);
		for (unsigned k = 0; k < 20; k++) {
			char name[16];
			struct file *file;

			(void)snprintf(name, sizeof(name), "%02u.txt", k);
			file = add_file(&result.files, name, "");
			for (unsigned j = 0; j < 9000; j++)
				(void)buf_add_text(&file->bytes, "\"");
		}
		(void)buf_add_text(&result.hints.text, "\x02\"\n\x02\"\n");
		answer = answer_result(&result, WALL_MS, &form);
		assert_true(dumped(answer) <= form.bytes_max);
		assert_non_null(
		    strstr(member(answer, 0, "text"), "[image 20 of 20: "));
		json_decref(answer);
		result_done(&result);
	}
}

static const char *
hint(const json_t *answer, size_t place)
{
	const char *text = json_string_value(
	    json_array_get(json_object_get(meta_of(answer), "hints"), place));

	return text ? text : "";
}

static void
limits_are_hinted_at(void **state)
{
	static const struct {
		enum outcome outcome;
		const char *room, *hint; /* said by the room's Python, or us */
		uint32_t wall_ms;
	} rows[] = {
		{ OUTCOME_TIMEOUT, "",
		    "stopped at the time limit of 1.5 s: ask for more with "
		    "timeout_s (at most 60), or do less in one call",
		    1500 },
		{ OUTCOME_TIMEOUT, "",
		    "stopped at the time limit of 60 s, the longest there is: "
		    "do less in one call",
		    60000 },
		{ OUTCOME_TIMEOUT, "it was in line 5", "it was in line 5",
		    1500 },
		{ OUTCOME_MEMORY, "",
		    "ended at the memory limit of 512 MiB: work on less at a "
		    "time, or free what is no longer needed",
		    1500 },
		{ OUTCOME_OK, "", "", 1500 },
		{ OUTCOME_RAISED, "", "", 1500 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer_form form =
		    form_of("2025-06-18", STRUCTURED_AUTO);
		struct result result;
		json_t *answer;

		result_of(&result, "x");
		result.outcome = rows[i].outcome;
		(void)buf_add_text(&result.hints.text, rows[i].room);
		answer = answer_result(&result, rows[i].wall_ms, &form);
		assert_string_equal(hint(answer, 0), rows[i].hint);
		assert_string_equal(hint(answer, 1), "");
		json_decref(answer);
		result_done(&result);
	}
}

static void
a_cut_is_hinted_at(void **state)
{
	struct answer_form form = form_of("2025-06-18", STRUCTURED_AUTO);
	struct result result;
	json_t *answer;

	(void)state;
	result_of(&result, "");
	for (unsigned i = 0; i < 500; i++) {
		(void)buf_printf(&result.out.text, "line %4u\n", i);
		(void)buf_printf(&result.err.text, "line %4u\n", i);
	}
	answer = answer_result(&result, WALL_MS, &form);
	assert_string_equal(hint(answer, 0),
	    "stdout and stderr was cut: all of it is in the resource " URI
	    "/stdout and " URI "/stderr; or print less");
	json_decref(answer);
	result.err.text.n = 0;
	answer = answer_result(&result, WALL_MS, &form);
	assert_string_equal(hint(answer, 0),
	    "stdout was cut: all of it is in the resource " URI
	    "/stdout; or print less");
	json_decref(answer);
	result.out.cut = true; /* the resource has not all of it, either */
	result.out.total_chars = 99999999;
	answer = answer_result(&result, WALL_MS, &form);
	assert_string_equal(hint(answer, 0),
	    "stdout was cut: print less, or write it to a file in /workspace");
	json_decref(answer);
	result_done(&result);

	result_of(&result, "");
	for (unsigned i = 0; i < 500; i++)
		(void)buf_printf(&result.value.text, "line %4u\n", i);
	answer = answer_result(&result, WALL_MS, &form);
	assert_string_equal(hint(answer, 0),
	    "the value was cut: print the part of it that is needed");
	assert_true(json_is_true(json_object_get(
	    json_object_get(answer, "structuredContent"), "truncated")));
	json_decref(answer);
	result_done(&result);
}

/* The room's hints are a program's to write, too. */
static void
hints_are_tamed(void **state)
{
	struct answer_form form = form_of("2025-06-18", STRUCTURED_AUTO);
	struct result result;
	json_t *answer;

	(void)state;
	result_of(&result, "x");
	(void)buf_add_text(&result.hints.text, "a\x1b[31mb\r\xff\n");
	for (unsigned i = 0; i < 1000; i++)
		(void)buf_add_text(&result.hints.text, "\xe2\x82\xac");
	answer = answer_result(&result, WALL_MS, &form);
	assert_string_equal(hint(answer, 0), "a?[31mb??");
	assert_int_equal(strlen(hint(answer, 1)), HINT_SHOWN_MAX / 3 * 3);
	json_decref(answer);
	result_done(&result);
}

static void
text_files_come_in_full(void **state)
{
	struct answer_form form = form_of("2025-06-18", STRUCTURED_ALWAYS);
	json_t *answer, *resource, *list;
	struct result result;
	struct file *file;

	(void)state;
	form.inline_files = true;
	result_of(&result, "");
	(void)add_file(&result.files, "a.csv", "1,\xe2\x82\xac\n");
	(void)add_file(&result.files, "b.png", "text, but not by its name");
	(void)add_file(&result.files, "c.txt", "\xff");
	(void)add_file(&result.files, "d.txt", "");
	file = add_file(&result.files, "e.txt", "");
	for (unsigned i = 0; i <= INLINE_FILE_MAX; i++)
		(void)buf_add_text(&file->bytes, "x");
	answer = answer_result(&result, WALL_MS, &form);
	assert_int_equal(blocks(answer), 6);
	assert_string_equal(member(answer, 1, "type"), "resource");
	resource = json_object_get(block(answer, 1), "resource");
	assert_true(
	    json_is_text(json_object_get(resource, "uri"), URI "/files/a.csv"));
	assert_true(
	    json_is_text(json_object_get(resource, "mimeType"), "text/csv"));
	assert_true(json_is_text(
	    json_object_get(resource, "text"), "1,\xe2\x82\xac\n"));
	assert_string_equal(member(answer, 2, "type"), "resource_link");
	assert_string_equal(member(answer, 3, "type"), "resource_link");
	assert_string_equal(member(answer, 4, "type"), "resource");
	assert_string_equal(member(answer, 5, "type"), "resource_link");
	list = json_object_get(
	    json_object_get(answer, "structuredContent"), "files");
	assert_true(
	    json_is_text(json_object_get(json_array_get(list, 0), "text"),
		"1,\xe2\x82\xac\n"));
	assert_null(json_object_get(json_array_get(list, 1), "text"));
	json_decref(answer);

	form.inline_files = false;
	answer = answer_result(&result, WALL_MS, &form);
	assert_string_equal(member(answer, 1, "type"), "resource_link");
	json_decref(answer);
	result_done(&result);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_has_its_place),
		cmocka_unit_test(a_value_is_no_silence),
		cmocka_unit_test(images_are_blocks),
		cmocka_unit_test(what_is_no_image_is_left_out),
		cmocka_unit_test(images_share_the_message),
		cmocka_unit_test(sizes_are_kept),
		cmocka_unit_test(limits_are_hinted_at),
		cmocka_unit_test(a_cut_is_hinted_at),
		cmocka_unit_test(hints_are_tamed),
		cmocka_unit_test(text_files_come_in_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
