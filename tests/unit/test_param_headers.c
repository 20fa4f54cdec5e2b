/* test_param_headers.c: headers that repeat arguments.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/param_headers.h"

#include "base/own.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char schema_text[] =
    "{'type':'object','properties':{"
    "'region':{'type':'string','x-mcp-header':'Region'},"
    "'n':{'type':'integer','x-mcp-header':'Count'},"
    "'dry':{'type':'boolean','x-mcp-header':'Dry'},"
    "'free':{'type':'string'},"
    "'deep':{'type':'object','properties':{"
    "'key':{'type':'string','x-mcp-header':'Key'}}}}}";

/* JSON with ' for ". */
static json_t *
parse(const char *text)
{
	own_mem char *copy = strdup(text);
	json_t *value;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	value = json_loads(copy, 0, NULL);
	assert_non_null(value);
	return value;
}

/* Judges headers "NAME:VALUE;..."; what is wrong, or "". */
static const char *
judge(const char *headers, const char *arguments, char *ret_name)
{
	own_mem char *copy = strdup(headers);
	char names[8][64];
	struct param_span spans[8];
	struct peer_headers all = { .params = spans };
	struct param_header_fault fault = { .why = NULL };
	json_t *schema = parse(schema_text);
	json_t *object = arguments ? parse(arguments) : NULL;
	char *save, *one = strtok_r(copy, ";", &save);
	bool agree;

	for (; one; one = strtok_r(NULL, ";", &save)) {
		char *colon = strchr(one, ':');

		*colon = '\0';
		(void)snprintf(names[all.params_n], sizeof(names[0]),
		    all.params_n % 2 ? "mcp-param-%s" : "Mcp-Param-%s", one);
		spans[all.params_n] =
		    (struct param_span){ span_of(names[all.params_n]),
			    span_of(colon + 1) };
		all.params_n++;
	}
	agree = param_headers_agree(&all, schema, object, &fault);
	(void)strcpy(ret_name, agree ? "" : fault.name);
	json_decref(object);
	json_decref(schema);
	return agree ? "" : fault.why;
}

static void
expect(const char *headers, const char *arguments, const char *name,
    const char *why)
{
	char wrong[PARAM_HEADER_NAME_MAX + 1];

	assert_string_equal(judge(headers, arguments, wrong), why);
	assert_string_equal(wrong, name);
}

static void
test_agreement(void **state)
{
	(void)state;
	expect("", NULL, "", "");
	expect("", "{}", "", "");
	expect("Region:west", "{'region':'west'}", "", "");
	expect("REGION:west", "{'region':'west'}", "", "");
	expect("Region:", "{'region':''}", "", "");
	expect("Region:=?base64?SGVsbG8=?=", "{'region':'Hello'}", "", "");
	expect("Region:=?base64?SGVsbG8=", "{'region':'=?base64?SGVsbG8='}", "",
	    "");
	expect("Count:-12;Dry:false", "{'n':-12,'dry':false}", "", "");
	expect("Key:k", "{'deep':{'key':'k'}}", "", "");
	/* Without a value there is no header; null is no value. */
	expect("", "{'region':null,'free':'x'}", "", "");
	/* What the schema does not name says nothing. */
	expect("Other:1;Other:2;Free:y", "{'free':'x'}", "", "");
}

static void
test_disagreement(void **state)
{
	const char *differs = "does not say what the argument says";
	const char *alone = "is given without an argument";

	(void)state;
	expect("", "{'region':'west'}", "Region", "is missing");
	expect("", "{'n':0}", "Count", "is missing");
	expect("", "{'deep':{'key':'k'}}", "Key", "is missing");
	expect("Region:east", "{'region':'west'}", "Region", differs);
	expect("Region:West", "{'region':'west'}", "Region", differs);
	expect("Region:=?base64?SGVsbG8?=", "{'region':'Hello'}", "Region",
	    differs);
	expect("Region:=?base64?SGVs!!!bG8=?=", "{'region':'Hello'}", "Region",
	    differs);
	expect("Count:1.0", "{'n':1}", "Count", differs);
	expect("Count:1", "{'n':'x'}", "Count", differs);
	expect("Dry:False", "{'dry':false}", "Dry", differs);
	expect("Region:west", "{}", "Region", alone);
	expect("Region:west", NULL, "Region", alone);
	expect("Region:west", "{'region':null}", "Region", alone);
	expect("Region:west;region:west", "{'region':'west'}", "Region",
	    "is given twice");
	/* A value that no header can say. */
	expect("Region:[]", "{'region':[]}", "Region", differs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agreement),
		cmocka_unit_test(test_disagreement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
