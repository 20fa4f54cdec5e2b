/* test_tool_session.c: the arguments session and fork_of.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/tool_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ID "0123456789abcdef0123456789abcdef"

static const struct conf with = { .max_sessions = 3,
	.session_rest_ms = 600000 };
static const struct conf without = { .max_sessions = 0 };

static int
take(const char *text, const struct conf *conf, struct call **ret_call,
    struct err *err)
{
	json_t *arguments = json_loads(text, JSON_ALLOW_NUL, NULL);
	int r;

	assert_non_null(arguments);
	*ret_call = call_new();
	r = tool_session_take(arguments, conf, *ret_call, err);
	json_decref(arguments);
	return r;
}

static void
test_takes(void **state)
{
	static const struct {
		const char *text;
		enum session_use use;
		const char *id;
	} cases[] = {
		{ "{}", SESSION_NONE, "" },
		{ "{\"session\": null, \"fork_of\": null}", SESSION_NONE, "" },
		{ "{\"session\": \"new\"}", SESSION_NEW, "" },
		{ "{\"session\": \"new\", \"fork_of\": null}", SESSION_NEW,
		    "" },
		{ "{\"session\": \"" ID "\"}", SESSION_GO_ON, ID },
		{ "{\"fork_of\": \"" ID "\"}", SESSION_BRANCH, ID },
	};
	struct call *call;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(take(cases[i].text, &with, &call, &err), 0);
		assert_int_equal(call->use, cases[i].use);
		assert_string_equal(call->session_id, cases[i].id);
		call_free(call);
	}
	call = call_new();
	assert_int_equal(tool_session_take(NULL, &with, call, &err), 0);
	assert_int_equal(tool_session_take(NULL, &without, call, &err), 0);
	call_free(call);
}

static void
test_refuses(void **state)
{
	static const struct {
		const char *text;
		const struct conf *conf;
		const char *words;
	} cases[] = {
		{ "{\"session\": \"new\"}", &without, "--max-sessions" },
		{ "{\"fork_of\": 1}", &without, "fork_of is refused" },
		{ "{\"session\": 1}", &with, "must be a string" },
		{ "{\"session\": []}", &with, "must be a string" },
		{ "{\"session\": \"\"}", &with, "not \"\"" },
		{ "{\"session\": \"New\"}", &with, "not \"New\"" },
		{ "{\"session\": \"../../etc\"}", &with, "earlier result" },
		{ "{\"session\": \"" ID "0\"}", &with, "earlier result" },
		{ "{\"session\": \"0123456789ABCDEF0123456789abcdef\"}", &with,
		    "earlier result" },
		{ "{\"session\": \"0123456789abcdef0123456789abcde\\u0000\"}",
		    &with, "earlier result" },
		{ "{\"fork_of\": \"new\"}", &with, "fork_of must be" },
		{ "{\"fork_of\": true}", &with, "must be a string" },
		{ "{\"session\": \"new\", \"fork_of\": \"" ID "\"}", &with,
		    "exclude each other" },
	};
	struct call *call;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(
		    take(cases[i].text, cases[i].conf, &call, &err) < 0);
		if (!strstr(err.text, cases[i].words))
			fail_msg(
			    "\"%s\" is not in: %s", cases[i].words, err.text);
		call_free(call);
	}
}

/* A model is told of sessions where there are some. */
static void
test_describes(void **state)
{
	json_t *properties = json_object();
	struct buf text;

	(void)state;
	buf_init(&text, 2000);
	tool_session_schema(properties, &without);
	tool_session_text(&text, &without);
	assert_int_equal(json_object_size(properties), 0);
	assert_int_equal(text.n, 0);
	tool_session_schema(properties, &with);
	tool_session_text(&text, &with);
	assert_int_equal(json_object_size(properties), 2);
	assert_int_equal(buf_add(&text, "", 1), 0);
	assert_non_null(strstr((const char *)text.p, "At most 3 "));
	assert_non_null(strstr((const char *)text.p, "10 min"));
	assert_true(tool_session_is_argument("session"));
	assert_true(tool_session_is_argument("fork_of"));
	assert_false(tool_session_is_argument("sessions"));
	json_decref(properties);
	buf_done(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_takes),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_describes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
