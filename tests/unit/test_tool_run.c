/* test_tool_run.c: the tool's description, and arguments to calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/limits.h"
#include "mcp/tool_run.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct conf conf = {
	.timeout_ms = 30000,
	.max_timeout_ms = 300000,
	.memory_bytes = 512ull * MIB,
	.files_bytes = 256ull * MIB,
	.output_chars = 50000,
};

/* The call that the arguments make; they are JSON text with ' for ". */
static struct call *
call_of(const char *arguments)
{
	char text[512];
	struct call *call = NULL;
	struct err err;
	json_t *value;

	(void)snprintf(text, sizeof(text), "%s", arguments);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	value = json_loads(text, JSON_ALLOW_NUL, NULL);
	assert_non_null(value);
	if (tool_run_call(value, &conf, &call, &err) < 0)
		print_message("%s: %s\n", arguments, err.text);
	assert_non_null(call);
	json_decref(value);
	return call;
}

static void
refused(const char *arguments, const char *why)
{
	char text[512];
	struct call *call = NULL;
	struct err err = { 0 };
	json_t *value;

	(void)snprintf(text, sizeof(text), "%s", arguments);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	value = json_loads(text, JSON_ALLOW_NUL, NULL);
	assert_non_null(value);
	assert_int_equal(tool_run_call(value, &conf, &call, &err), -EINVAL);
	assert_null(call);
	assert_string_equal(err.text, why);
	json_decref(value);
}

static void
test_defaults(void **state)
{
	struct call *call = call_of("{'code':'print(1)'}");

	(void)state;
	assert_int_equal(call->code.n, 8);
	assert_memory_equal(call->code.p, "print(1)", 8);
	assert_int_equal(call->stdin_bytes.n, 0);
	assert_int_equal(call->wall_ms, 30000);
	call_free(call);
}

static void
test_all_arguments(void **state)
{
	struct call *call =
	    call_of("{'code':'a\\u0000b','timeout_s':2.5,'stdin':'x\\ny'}");

	(void)state;
	assert_int_equal(call->code.n, 3);
	assert_memory_equal(call->code.p, "a\0b", 3);
	assert_int_equal(call->stdin_bytes.n, 3);
	assert_memory_equal(call->stdin_bytes.p, "x\ny", 3);
	assert_int_equal(call->wall_ms, 2500);
	call_free(call);
}

static void
test_null_is_absent(void **state)
{
	struct call *call =
	    call_of("{'code':'','timeout_s':null,'stdin':null}");

	(void)state;
	assert_int_equal(call->code.n, 0);
	assert_int_equal(call->wall_ms, 30000);
	call_free(call);
	refused("{'code':null}", "code is required: the Python source to run");
}

static void
test_timeouts(void **state)
{
	static const struct {
		const char *arguments;
		uint32_t ms;
	} rows[] = {
		{ "{'code':'','timeout_s':5}", 5000 },
		{ "{'code':'','timeout_s':5.0}", 5000 },
		{ "{'code':'','timeout_s':300}", 300000 },
		{ "{'code':'','timeout_s':0.0201}", 21 },
		{ "{'code':'','timeout_s':1e-9}", WALL_MS_MIN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct call *call = call_of(rows[i].arguments);

		assert_int_equal(call->wall_ms, rows[i].ms);
		call_free(call);
	}
	refused("{'code':'','timeout_s':0}", "timeout_s must be more than 0");
	refused(
	    "{'code':'','timeout_s':-0.0}", "timeout_s must be more than 0");
	refused("{'code':'','timeout_s':-5}", "timeout_s must be more than 0");
	refused(
	    "{'code':'','timeout_s':300.01}", "timeout_s must be at most 300");
	refused(
	    "{'code':'','timeout_s':1e300}", "timeout_s must be at most 300");
	refused("{'code':'','timeout_s':9223372036854775807}",
	    "timeout_s must be at most 300");
	refused("{'code':'','timeout_s':'5'}",
	    "timeout_s must be a number, not a string");
	refused("{'code':'','timeout_s':true}",
	    "timeout_s must be a number, not a boolean");
}

static void
test_wrong_types(void **state)
{
	(void)state;
	refused("{}", "code is required: the Python source to run");
	refused("{'code':5}", "code must be a string, not a number");
	refused("{'code':5.5}", "code must be a string, not a number");
	refused("{'code':[]}", "code must be a string, not a list");
	refused("{'code':{}}", "code must be a string, not an object");
	refused("{'code':false}", "code must be a string, not a boolean");
	refused("{'code':'','stdin':5}", "stdin must be a string, not a "
					 "number");
}

static void
test_unknown_arguments(void **state)
{
	(void)state;
	refused("{'code':'','room':'wasm'}",
	    "unknown argument \"room\": run_python takes code, timeout_s, "
	    "stdin, files and what its schema lists");
	refused("{'a':1,'code':'','b':2,'\\u00e9':3}",
	    "unknown argument \"a\", \"b\", \"\xc3\xa9\": run_python takes "
	    "code, timeout_s, stdin, files and what its schema lists");
	refused("{'__proto__':1}",
	    "unknown argument \"__proto__\": run_python takes code, timeout_s, "
	    "stdin, files and what its schema lists");
	refused("{'0123456789012345678901234567890123456789012345678901234567"
		"8901234567890123456789':1}",
	    "unknown argument \"012345678901234567890123456789012345678901234"
	    "5678901234567890123...\": run_python takes code, timeout_s, "
	    "stdin, files and what its schema lists");
}

static void
test_options(void **state)
{
	struct call *call = call_of("{'code':'','echo':true}");

	(void)state;
	assert_int_equal(call->options.n, 0);
	call_free(call);
	call = call_of("{'code':'','echo':false,'deny_imports':['os','a.b']}");
	assert_int_equal(buf_add(&call->options, "", 1), 0);
	assert_string_equal((char *)call->options.p,
	    "{\"echo\":false,\"deny\":[\"os\",\"a.b\"]}");
	call_free(call);
	call = call_of("{'code':'','files':{'a.txt':'x'}}");
	assert_true(call->files.n > 0);
	call_free(call);
	refused("{'code':'','echo':1}", "echo must be a boolean, not a number");
	refused("{'code':'','inline_files':'yes'}",
	    "inline_files must be a boolean, not a string");
	refused("{'code':'','deny_imports':'os'}",
	    "deny_imports must be a list of names of modules");
	refused("{'code':'','allow_imports':[5]}",
	    "allow_imports must be a list of strings");
	refused("{'code':'','allow_imports':['a b']}",
	    "allow_imports has something that is no name of a module");
}

static void
test_no_arguments(void **state)
{
	struct call *call = NULL;
	struct err err;

	(void)state;
	assert_int_equal(tool_run_call(NULL, &conf, &call, &err), -EINVAL);
	assert_string_equal(
	    err.text, "code is required: the Python source to run");
}

static void
test_sizes(void **state)
{
	char *code = malloc(CODE_MAX + 1);
	struct call *call = NULL;
	json_t *arguments;
	struct err err;

	(void)state;
	assert_non_null(code);
	memset(code, '#', CODE_MAX + 1);
	arguments = json_pack("{s:o}", "code", json_stringn(code, CODE_MAX));
	assert_int_equal(tool_run_call(arguments, &conf, &call, &err), 0);
	assert_int_equal(call->code.n, CODE_MAX);
	call_free(call);
	call = NULL;
	json_decref(arguments);
	arguments =
	    json_pack("{s:o}", "code", json_stringn(code, CODE_MAX + 1));
	assert_int_equal(tool_run_call(arguments, &conf, &call, &err), -EINVAL);
	assert_null(call);
	assert_string_equal(
	    err.text, "code has 2097153 bytes: more than the limit of 2097152");
	json_decref(arguments);
	free(code);
}

/* ---- the description ---- */

static void
describe(const char *about, struct buf *text)
{
	struct err err = { 0 };

	buf_init(text, TOOL_TEXT_MAX * 2);
	assert_int_equal(tool_run_text(span_of(about), &conf, text, &err), 0);
	assert_int_equal(buf_add(text, "", 1), 0);
	assert_true(text->n <= TOOL_TEXT_MAX);
}

static bool
says(const struct buf *text, const char *what)
{
	return strstr((const char *)text->p, what) != NULL;
}

static void
test_text(void **state)
{
	struct buf text;

	(void)state;
	describe("{\"python\":\"3.15.0\",\"packages\":{\"attrs\":\"1.0\","
		 "\"numpy\":\"2.5.2\",\"pandas\":\"3.0\"}}",
	    &text);
	assert_true(says(&text, "Python 3.15.0"));
	assert_true(
	    says(&text, "Installed: numpy 2.5.2, pandas 3.0, attrs 1.0.\n"));
	assert_true(says(&text, "no network"));
	assert_true(says(&text, "no pip"));
	assert_true(says(&text, "no process"));
	assert_true(says(&text, "32 bits"));
	assert_true(says(&text, "dtype='int64'"));
	assert_true(says(&text, "run in turn"));
	assert_true(says(&text, "/workspace"));
	assert_true(says(&text, "30 s of wall time"));
	assert_true(says(&text, "up to 300"));
	assert_true(says(&text, "512 MiB of memory"));
	assert_true(says(&text, "50000 characters"));
	assert_true(says(&text, "last expression"));
	assert_true(says(&text, "matplotlib"));
	assert_false(says(&text, "session"));
	buf_done(&text);
	/* What was mended at the installation needs no warning. */
	describe("{\"python\":\"3.15.0\",\"int64\":\"on\"}", &text);
	assert_false(says(&text, "int64"));
	buf_done(&text);
	describe("", &text);
	assert_true(says(&text, "no network"));
	buf_done(&text);
}

/* However much is installed, the text stays short and complete. */
static void
test_text_is_bounded(void **state)
{
	json_t *packages = json_object();
	struct buf text;
	json_t *about;
	char name[64];
	char *json;

	(void)state;
	for (int i = 0; i < 500; i++) {
		(void)snprintf(name, sizeof(name), "package-%d", i);
		(void)json_object_set_new(packages, name, json_string("1.2.3"));
	}
	(void)json_object_set_new(packages, "numpy", json_string("2.5.2"));
	about =
	    json_pack("{s:s, s:o}", "python", "3.15.0", "packages", packages);
	json = json_dumps(about, JSON_COMPACT);
	describe(json, &text);
	assert_true(says(&text, "Installed: numpy 2.5.2, package-0 1.2.3"));
	assert_true(says(&text, " more.\n"));
	assert_true(says(&text, "the middle is left out"));
	buf_done(&text);
	free(json);
	json_decref(about);
}

/* A long list of names ends in dots, and the sentence is still whole. */
static void
test_many_unknown_arguments(void **state)
{
	json_t *arguments = json_object();
	struct call *call = NULL;
	struct err err;
	char name[80];

	(void)state;
	for (int i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof(name), "%070d", i);
		(void)json_object_set_new(arguments, name, json_null());
	}
	assert_int_equal(tool_run_call(arguments, &conf, &call, &err), -EINVAL);
	assert_non_null(strstr(
	    err.text, ", ...: run_python takes code, timeout_s, stdin, "));
	json_decref(arguments);
}

/* The largest limits are the longest text. */
static void
test_text_of_large_limits(void **state)
{
	const struct conf large = {
		.timeout_ms = WALL_MS_MAX - 1,
		.max_timeout_ms = WALL_MS_MAX - 1,
		.memory_bytes = MEMORY_BYTES_MAX,
		.files_bytes = FILES_BYTES_MAX,
		.output_chars = OUTPUT_CHARS_MAX,
		.keep_bytes = KEEP_BYTES_MAX,
	};
	char about[2048] = "{\"python\":\"3.15.0\",\"packages\":{";
	struct buf text;
	struct err err;

	(void)state;
	for (int i = 0; i < 60; i++) {
		size_t n = strlen(about);

		(void)snprintf(about + n, sizeof(about) - n,
		    "%s\"package-%d\":\"1.2.3\"", i ? "," : "", i);
	}
	(void)snprintf(
	    about + strlen(about), sizeof(about) - strlen(about), "}}");
	buf_init(&text, TOOL_TEXT_MAX * 2);
	assert_int_equal(tool_run_text(span_of(about), &large, &text, &err), 0);
	assert_true(text.n > TOOL_TEXT_MAX - 200);
	buf_done(&text);
}

static void
test_text_needs_a_python(void **state)
{
	static const char *const abouts[] = { "[]", "{", "{\"python\":5}",
		"{\"python\":\"3\",\"packages\":[]}" };

	(void)state;
	for (size_t i = 0; i < sizeof(abouts) / sizeof(abouts[0]); i++) {
		struct buf text;
		struct err err;

		buf_init(&text, TOOL_TEXT_MAX * 2);
		assert_int_equal(
		    tool_run_text(span_of(abouts[i]), &conf, &text, &err),
		    -EINVAL);
		buf_done(&text);
	}
}

static void
test_tool_object(void **state)
{
	static const char *const names[] = { "code", "timeout_s", "stdin",
		"files", "echo", "deny_imports", "allow_imports" };
	json_t *old_name = json_string("2024-11-05");
	json_t *tool = tool_run_describe("t", &conf, revision_latest());
	json_t *schema = json_object_get(tool, "inputSchema");
	json_t *properties = json_object_get(schema, "properties");

	(void)state;
	/* Nothing is kept there, and there are no sessions. */
	assert_int_equal(
	    json_object_size(properties), sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(json_object_get(properties, names[i]));
	assert_non_null(
	    json_object_get(json_object_get(tool, "_meta"), "breakroom/rooms"));
	assert_int_equal(
	    json_array_size(json_object_get(schema, "required")), 1);
	assert_non_null(json_object_get(tool, "annotations"));
	assert_non_null(json_object_get(tool, "title"));
	assert_null(json_object_get(tool, "outputSchema"));
	json_decref(tool);
	tool = tool_run_describe("t", &conf, revision_find(old_name));
	assert_null(json_object_get(tool, "annotations"));
	assert_null(json_object_get(tool, "title"));
	json_decref(tool);
	json_decref(old_name);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_all_arguments),
		cmocka_unit_test(test_null_is_absent),
		cmocka_unit_test(test_timeouts),
		cmocka_unit_test(test_wrong_types),
		cmocka_unit_test(test_unknown_arguments),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_no_arguments),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_is_bounded),
		cmocka_unit_test(test_many_unknown_arguments),
		cmocka_unit_test(test_text_of_large_limits),
		cmocka_unit_test(test_text_needs_a_python),
		cmocka_unit_test(test_tool_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
