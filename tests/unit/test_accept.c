/* test_accept.c: what Accept and Content-Type are taken for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/accept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void
test_accept(void **state)
{
	static const struct {
		const char *text;
		bool json, events;
	} cases[] = {
		{ "", true, false },
		{ "  ", true, false },
		{ "*/*", true, false },
		{ "application/json", true, false },
		{ "Application/JSON", true, false },
		{ "application/*", true, false },
		{ "text/event-stream", false, true },
		{ "text/*", false, true },
		{ "application/json, text/event-stream", true, true },
		{ "text/event-stream,application/json;q=0.9", true, true },
		{ "application/json;q=0, text/event-stream", false, true },
		{ "application/json;q=0.000, */*", false, false },
		{ "*/*, application/json;q=0", false, false },
		{ "application/*;q=0, application/json", true, false },
		{ "application/json;q=0, application/json;q=1", true, false },
		{ "text/*;q=0, text/event-stream", false, true },
		{ "text/event-stream;q=0, */*;q=0.1", true, false },
		{ "application/json ; charset=utf-8 ; q=0.5", true, false },
		{ "application/json;Q=0", false, false },
		{ "text/html", false, false },
		{ "text/html, image/png", false, false },
		{ ",,application/json,,", true, false },
		{ ",", false, false },
		{ "text/html;x=\"a,application/json\"", false, false },
		{ "text/html;x=\"a\\\",b\", application/json", true, false },
		{ "text/html;x=\"a, application/json", false, false },
		{ "text/html;x=\"\\", false, false },
		{ "application/json;q=2", false, false },
		{ "application/json;q=", false, false },
		{ "application/json;q", false, false },
		{ "application/json;q=0.0001", false, false },
		{ "application/json;q=1.001", false, false },
		{ "application/json;q=-1", false, false },
		{ "application/json;q=1.000", true, false },
		{ "application/jsonx", false, false },
		{ "application", false, false },
		{ "*", false, false },
		{ "*/json", false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct accept accept = accept_parse(span_of(cases[i].text));

		if (accept.json != cases[i].json ||
		    accept.events != cases[i].events)
			fail_msg("Accept: %s", cases[i].text);
	}
	assert_true(accept_parse((struct span){ 0 }).json);
	assert_false(accept_parse((struct span){ 0 }).events);
}

static void
test_content_type(void **state)
{
	static const struct {
		const char *text;
		bool json;
	} cases[] = {
		{ "application/json", true },
		{ "APPLICATION/json", true },
		{ "application/json;charset=utf-8", true },
		{ "application/json; charset=UTF-8", true },
		{ "application/json ; Charset=\"utf-8\"", true },
		{ "application/json; charset = utf-8", false },
		{ "application/json;", true },
		{ "application/json; charset=utf-16", false },
		{ "application/json; charset=utf-8; charset=utf-8", false },
		{ "application/json; charset", false },
		{ "application/json; charset=", false },
		{ "application/json; x=y", false },
		{ "application/json, text/plain", false },
		{ "application/json-patch+json", false },
		{ "text/plain", false },
		{ "text/plain; application/json", false },
		{ "text/json", false },
		{ "application/x-www-form-urlencoded", false },
		{ "multipart/form-data; boundary=x", false },
		{ "", false },
		{ ";", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (content_type_is_json(span_of(cases[i].text)) !=
		    cases[i].json)
			fail_msg("Content-Type: %s", cases[i].text);
	assert_false(content_type_is_json((struct span){ 0 }));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accept),
		cmocka_unit_test(test_content_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
