/* test_tool_options.c: what the room's Python is told, and that a caller only
 * narrows what an operator allows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/module_name.h"
#include "mcp/tool_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Words with spaces between them. */
static json_t *
names_of(const char *words)
{
	json_t *names;
	char copy[200], *rest = copy, *word;

	if (!words)
		return NULL;
	names = json_array();
	(void)snprintf(copy, sizeof(copy), "%s", words);
	while ((word = strtok_r(rest, " ", &rest)))
		(void)json_array_append_new(names, json_string(word));
	return names;
}

static void
list_of(const char *words, char *copy, size_t n, struct conf_list *list)
{
	char *rest = copy, *word;

	(void)snprintf(copy, n, "%s", words);
	while ((word = strtok_r(rest, " ", &rest)))
		list->items[list->n++] = word;
}

static void
lists_are_one(void **state)
{
	static const struct {
		const char *deny, *allow; /* the operator's */
		bool silent;
		const char *asked_deny, *asked_allow, *text;
	} rows[] = {
		{ "", "", false, NULL, NULL, "" },
		{ "", "", false, "", NULL, "" },
		{ "", "", true, NULL, NULL, "{'echo':false}" },
		{ "os", "", false, NULL, NULL, "{'deny':['os']}" },
		{ "os", "", false, "re os", NULL, "{'deny':['os','re']}" },
		{ "", "", false, NULL, "json", "{'allow':['json']}" },
		{ "", "json re", false, NULL, NULL, "{'allow':['json','re']}" },
		{ "", "json re", false, NULL, "re os", "{'allow':['re']}" },
		{ "", "json", false, NULL, "os", "{'allow':[]}" },
		{ "", "json", false, NULL, "", "{'allow':[]}" },
		/* A name means its submodules too. */
		{ "", "xml", false, NULL, "xml.etree",
		    "{'allow':['xml.etree']}" },
		{ "", "xml.etree", false, NULL, "xml",
		    "{'allow':['xml.etree']}" },
		{ "", "xml", false, NULL, "xmlrpc", "{'allow':[]}" },
		{ "a", "b", true, "c", "b",
		    "{'echo':false,'deny':['a','c'],'allow':['b']}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *deny = names_of(rows[i].asked_deny);
		json_t *allow = names_of(rows[i].asked_allow);
		struct tool_options asked = { rows[i].silent, deny, allow };
		struct conf conf = { 0 };
		char denied[200], allowed[200];
		struct buf text;

		list_of(
		    rows[i].deny, denied, sizeof(denied), &conf.deny_imports);
		list_of(rows[i].allow, allowed, sizeof(allowed),
		    &conf.allow_imports);
		buf_init(&text, 4096);
		assert_int_equal(tool_options_write(&conf, &asked, &text), 0);
		for (size_t k = 0; k < text.n; k++)
			if (text.p[k] == '"')
				text.p[k] = '\'';
		assert_int_equal(buf_add(&text, "", 1), 0);
		assert_string_equal((char *)text.p, rows[i].text);
		buf_done(&text);
		json_decref(deny);
		json_decref(allow);
	}
}

static void
an_operator_silences(void **state)
{
	const struct conf conf = { .no_echo = true };
	const struct tool_options asked = { 0 };
	struct buf text;

	(void)state;
	buf_init(&text, 100);
	assert_int_equal(tool_options_write(&conf, &asked, &text), 0);
	assert_int_equal(text.n, strlen("{\"echo\":false}"));
	buf_done(&text);
	/* Without room for it there is none at all. */
	buf_init(&text, 5);
	assert_true(tool_options_write(&conf, &asked, &text) < 0);
	assert_int_equal(text.n, 0);
	buf_done(&text);
}

static void
lists_are_judged(void **state)
{
	static const char *const good[] = { "[]", "['os']", "['a.b_1', '_x']" };
	static const char *const bad[] = { "'os'", "{}", "[5]", "['']",
		"['a b']", "['1a']", "['a.']", "['.a']", "['a..b']", "['a.1']",
		"['\\u00e9']", "['os\\u0000']", "['a-b']" };
	json_t *many = json_array();

	(void)state;
	for (size_t i = 0;
	     i < sizeof(good) / sizeof(good[0]) + sizeof(bad) / sizeof(bad[0]);
	     i++) {
		size_t n = sizeof(good) / sizeof(good[0]);
		char text[64];
		json_t *names;

		(void)snprintf(
		    text, sizeof(text), "%s", i < n ? good[i] : bad[i - n]);
		for (char *p = text; *p; p++)
			if (*p == '\'')
				*p = '"';
		names =
		    json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		assert_non_null(names);
		assert_int_equal(tool_options_judge(names) == NULL, i < n);
		json_decref(names);
	}
	for (unsigned i = 0; i <= CONF_LIST_MAX; i++) {
		assert_null(tool_options_judge(many));
		(void)json_array_append_new(many, json_string("os"));
	}
	assert_non_null(tool_options_judge(many));
	json_decref(many);
}

static void
names_have_an_end(void **state)
{
	char name[MODULE_NAME_MAX + 2];

	(void)state;
	memset(name, 'a', sizeof(name));
	assert_true(
	    module_name((struct span){ (uint8_t *)name, MODULE_NAME_MAX }));
	assert_false(
	    module_name((struct span){ (uint8_t *)name, MODULE_NAME_MAX + 1 }));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_one),
		cmocka_unit_test(an_operator_silences),
		cmocka_unit_test(lists_are_judged),
		cmocka_unit_test(names_have_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
