/* test_jsonrpc.c: what a client's text is taken for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/limits.h"
#include "mcp/jsonrpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SPAN(literal) \
	((struct span){ (const uint8_t *)(literal), sizeof(literal) - 1 })

/* Checks that text is refused with code, and which id is known: a number,
 * NO_ID, or TEXT_ID for the string "a". */
#define NO_ID   (-1)
#define TEXT_ID (-2)

static void
check_broken(struct span text, enum message_code code, json_int_t id)
{
	struct message broken;
	json_t *value = jsonrpc_load(text, &broken);

	if (value)
		print_message("taken: %.60s\n", (const char *)text.p);
	assert_null(value);
	assert_int_equal(broken.kind, MESSAGE_INVALID);
	assert_int_equal(broken.code, code);
	assert_non_null(broken.why);
	if (id == NO_ID)
		assert_null(broken.id);
	else if (id == TEXT_ID)
		assert_true(json_is_text(broken.id, "a"));
	else
		assert_int_equal(json_integer_value(broken.id), id);
	message_done(&broken);
}

static void
test_not_json(void **state)
{
	(void)state;
	check_broken(SPAN("hello"), CODE_PARSE_ERROR, NO_ID);
	check_broken(SPAN("{"), CODE_PARSE_ERROR, NO_ID);
	check_broken(SPAN("42"), CODE_PARSE_ERROR, NO_ID);
	check_broken(SPAN("{\"id\":5,\"method\":\"ping"), CODE_PARSE_ERROR, 5);
	check_broken(SPAN("{\"id\":5} x"), CODE_PARSE_ERROR, 5);
	check_broken(SPAN("{\"id\":5}{\"id\":6}"), CODE_PARSE_ERROR, 5);
	check_broken(SPAN("{\"id\":5,\"x\":NaN}"), CODE_PARSE_ERROR, 5);
	check_broken(SPAN("{\"id\":5,\"x\":1e400}"), CODE_PARSE_ERROR, 5);
	check_broken(SPAN("{\"id\":\"a\",\"x\":18446744073709551617}"),
	    CODE_PARSE_ERROR, TEXT_ID);
	check_broken(SPAN("{'id':5}"), CODE_PARSE_ERROR, NO_ID);
	check_broken(SPAN("\xef\xbb\xbf{\"id\":5}"), CODE_PARSE_ERROR, 5);
	check_broken(SPAN("{\0}"), CODE_PARSE_ERROR, NO_ID);
	check_broken(SPAN("[0\0]"), CODE_PARSE_ERROR, NO_ID);
	check_broken(SPAN("{\"id\":5,\"x\":true\0}"), CODE_PARSE_ERROR, 5);
	check_broken(SPAN("{\"id\":5}\0"), CODE_PARSE_ERROR, 5);
}

/* JSON allows them; an object of ours does not. */
static void
test_nul_in_keys(void **state)
{
	(void)state;
	check_broken(SPAN("{\"a\\u0000b\":1,\"id\":3}"), CODE_INVALID_REQUEST,
	    NO_ID); /* a key with an escape: a doubt */
	check_broken(
	    SPAN("{\"id\":3,\"x\":{\"\\u0000\":1}}"), CODE_INVALID_REQUEST, 3);
}

static void
test_not_utf8(void **state)
{
	(void)state;
	check_broken(SPAN("{\"id\":5,\"x\":\"\xff\"}"), CODE_PARSE_ERROR, 5);
	check_broken(
	    SPAN("{\"id\":5,\"x\":\"\xc0\xaf\"}"), CODE_PARSE_ERROR, 5);
	check_broken(
	    SPAN("{\"id\":5,\"x\":\"\xed\xa0\x80\"}"), CODE_PARSE_ERROR, 5);
	check_broken(
	    SPAN("{\"id\":\"\xff\",\"x\":1}"), CODE_PARSE_ERROR, NO_ID);
	check_broken(
	    SPAN("{\0\"\0i\0d\0\"\0:\0005\0}\0"), CODE_PARSE_ERROR, NO_ID);
}

static void
test_surrogates(void **state)
{
	(void)state;
	check_broken(SPAN("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"params\":"
			  "{\"code\":\"print('\\ud83d')\"}}"),
	    CODE_PARSE_ERROR, TEXT_ID);
	check_broken(SPAN("{\"params\":{\"code\":\"\\ude00\",\"id\":9},"
			  "\"id\" : 12 }"),
	    CODE_PARSE_ERROR, 12);
}

static void
test_doubtful_ids(void **state)
{
	(void)state;
	check_broken(SPAN("{\"id\":5,\"id\":6,\"x\":\"\\ud800\"}"),
	    CODE_INVALID_REQUEST, NO_ID);
	check_broken(
	    SPAN("{\"\\u0069d\":5,\"id\":6,"), CODE_INVALID_REQUEST, NO_ID);
	check_broken(
	    SPAN("{\"\\u0069d\":5,\"ie\":6,"), CODE_PARSE_ERROR, NO_ID);
	check_broken(SPAN("{\"id\":5.5,\"x\":nul}"), CODE_PARSE_ERROR, NO_ID);
	check_broken(SPAN("{\"id\":null,\"x\":nul}"), CODE_PARSE_ERROR, NO_ID);
	check_broken(SPAN("{\"id\":[1],\"x\":nul}"), CODE_PARSE_ERROR, NO_ID);
	check_broken(SPAN("{\"id\":12"), CODE_PARSE_ERROR, NO_ID);
	check_broken(SPAN("{\"x\":{\"id\":5},"), CODE_PARSE_ERROR, NO_ID);
	check_broken(SPAN("[{\"id\":5},"), CODE_PARSE_ERROR, NO_ID);
	check_broken(
	    SPAN("{\"x\":\"\\\"id\\\":7,\",\"id\":8,"), CODE_PARSE_ERROR, 8);
	check_broken(
	    SPAN("{\"id\":18446744073709551617}"), CODE_PARSE_ERROR, NO_ID);
	check_broken(SPAN("{\"id\":-0,\"jsonrpc\":\"2.0\"}"),
	    CODE_INVALID_REQUEST, NO_ID);
}

static void
test_duplicate_keys(void **state)
{
	(void)state;
	check_broken(SPAN("{\"id\":5,\"method\":\"a\",\"method\":\"b\"}"),
	    CODE_INVALID_REQUEST, 5);
	check_broken(SPAN("{\"id\":5,\"params\":{\"code\":1,\"code\":2}}"),
	    CODE_INVALID_REQUEST, 5);
}

/* "[[[...]]]", n levels, as a message's params. */
static struct span
nested(char *text, size_t n, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "{\"id\":7,\"x\":");

	memset(text + at, '[', n);
	memset(text + at + n, ']', n);
	text[at + 2 * n] = '}';
	return (struct span){ (const uint8_t *)text, at + 2 * n + 1 };
}

static void
test_depth(void **state)
{
	static char text[3000000];
	struct message broken;
	json_t *value;

	(void)state;
	value = jsonrpc_load(
	    nested(text, JSON_DEPTH_MAX - 1, sizeof(text)), &broken);
	assert_non_null(value);
	json_decref(value);
	check_broken(nested(text, JSON_DEPTH_MAX, sizeof(text)),
	    CODE_INVALID_REQUEST, NO_ID);
	check_broken(
	    nested(text, 1000000, sizeof(text)), CODE_INVALID_REQUEST, NO_ID);
}

static void
test_many_values(void **state)
{
	size_t n = 13 + 2 * (size_t)JSON_VALUES_MAX + 10;
	char *text = malloc(n + 1);

	(void)state;
	assert_non_null(text);
	(void)snprintf(text, n, "{\"id\":3,\"x\":[");
	for (size_t i = 13; i < n - 2; i += 2)
		memcpy(text + i, "1,", 2);
	memcpy(text + n - 2, "]}", 3);
	check_broken(
	    (struct span){ (uint8_t *)text, n }, CODE_INVALID_REQUEST, 3);
	free(text);
}

static enum message_kind
kind_of(const char *text, const char **ret_why)
{
	struct message message;
	json_t *value = jsonrpc_load(span_of(text), &message);
	enum message_kind kind;

	assert_non_null(value);
	jsonrpc_classify(value, &message);
	kind = message.kind;
	*ret_why = message.why;
	if (kind == MESSAGE_INVALID)
		assert_int_equal(message.code, CODE_INVALID_REQUEST);
	message_done(&message);
	json_decref(value);
	return kind;
}

static void
test_kinds(void **state)
{
	static const struct {
		enum message_kind kind;
		const char *text;
	} rows[] = {
#define R "{\"jsonrpc\":\"2.0\","
		{ MESSAGE_REQUEST, R "\"id\":1,\"method\":\"m\"}" },
		{ MESSAGE_REQUEST, R "\"id\":\"\",\"method\":\"m\"}" },
		{ MESSAGE_REQUEST, R "\"id\":-7,\"method\":\"m\","
				     "\"params\":{}}" },
		{ MESSAGE_REQUEST, R "\"id\":1,\"method\":\"m\","
				     "\"params\":null}" },
		{ MESSAGE_REQUEST, R "\"id\":9223372036854775807,"
				     "\"method\":\"m\"}" },
		{ MESSAGE_NOTIFICATION, R "\"method\":\"m\"}" },
		{ MESSAGE_NOTIFICATION, R "\"method\":\"m\",\"params\":[]}" },
		{ MESSAGE_RESPONSE, R "\"id\":1,\"result\":{}}" },
		{ MESSAGE_RESPONSE, R "\"id\":1,\"error\":{}}" },
		{ MESSAGE_INVALID, R "\"id\":null,\"method\":\"m\"}" },
		{ MESSAGE_INVALID, R "\"id\":true,\"method\":\"m\"}" },
		{ MESSAGE_INVALID, R "\"id\":1.0,\"method\":\"m\"}" },
		{ MESSAGE_INVALID, R "\"id\":1e2,\"method\":\"m\"}" },
		{ MESSAGE_INVALID, R "\"id\":{},\"method\":\"m\"}" },
		{ MESSAGE_INVALID, R "\"id\":[],\"method\":\"m\"}" },
		{ MESSAGE_INVALID, R "\"id\":1}" },
		{ MESSAGE_INVALID, R "\"id\":1,\"method\":5}" },
		{ MESSAGE_INVALID, R "\"id\":1,\"method\":\"m\","
				     "\"params\":[]}" },
		{ MESSAGE_INVALID, R "\"id\":1,\"method\":\"m\","
				     "\"params\":\"x\"}" },
#undef R
		{ MESSAGE_INVALID, "{\"id\":1,\"method\":\"m\"}" },
		{ MESSAGE_INVALID, "{\"jsonrpc\":\"1.0\",\"id\":1,"
				   "\"method\":\"m\"}" },
		{ MESSAGE_INVALID, "{\"jsonrpc\":2.0,\"id\":1,"
				   "\"method\":\"m\"}" },
		{ MESSAGE_INVALID, "{\"jsonrpc\":\"2.0\\u0000\",\"id\":1,"
				   "\"method\":\"m\"}" },
		{ MESSAGE_INVALID, "{}" },
		{ MESSAGE_INVALID, "[]" },
	};
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum message_kind kind = kind_of(rows[i].text, &why);

		if (kind != rows[i].kind)
			print_message("%s\n", rows[i].text);
		assert_int_equal(kind, rows[i].kind);
		assert_true((why != NULL) == (kind == MESSAGE_INVALID));
	}
}

static void
test_long_ids(void **state)
{
	json_t *id = json_stringn(NULL, 0);
	char text[ID_BYTES_MAX + 2];

	(void)state;
	assert_false(json_is_id(id));
	memset(text, 'x', sizeof(text));
	id = json_stringn(text, ID_BYTES_MAX);
	assert_true(json_is_id(id));
	json_decref(id);
	id = json_stringn(text, ID_BYTES_MAX + 1);
	assert_false(json_is_id(id));
	json_decref(id);
}

static void
check_dump(json_t *value, const char *expected)
{
	struct buf text;

	buf_init(&text, 4096);
	assert_int_equal(jsonrpc_dump(value, &text), 0);
	assert_int_equal(text.n, strlen(expected));
	assert_memory_equal(text.p, expected, text.n);
	buf_done(&text);
	json_decref(value);
}

static void
test_envelopes(void **state)
{
	json_t *id = json_integer(5);

	(void)state;
	check_dump(jsonrpc_result(id, json_object()),
	    "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}");
	check_dump(jsonrpc_error(id, true, CODE_PARSE_ERROR, "x", NULL),
	    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,"
	    "\"message\":\"x\"},\"id\":5}");
	check_dump(jsonrpc_error(NULL, false, CODE_PARSE_ERROR, "x", NULL),
	    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,"
	    "\"message\":\"x\"}}");
	check_dump(
	    jsonrpc_error(NULL, true, CODE_PARSE_ERROR, "x", json_integer(1)),
	    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,"
	    "\"message\":\"x\",\"data\":1},\"id\":null}");
	check_dump(jsonrpc_notification("n", json_object()),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{}}");
	check_dump(json_pack("[f,f]", 0.1, 1234567.8), "[0.1,1234567.8]");
	json_decref(id);
}

static void
test_dump_is_bounded(void **state)
{
	json_t *value = json_string("0123456789");
	struct buf text;

	(void)state;
	buf_init(&text, 8);
	assert_true(jsonrpc_dump(value, &text) < 0);
	assert_int_equal(text.n, 0);
	buf_done(&text);
	json_decref(value);
}

/* The cost of every byte is what the dump makes of it. */
static void
test_text_cost(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 0x800; c++) {
		char bytes[2];
		size_t n = c < 0x80 ? 1 : 2;
		struct buf text;
		json_t *value;

		bytes[0] = (char)(n == 1 ? c : 0xc0 | c >> 6);
		bytes[1] = (char)(0x80 | (c & 0x3f));
		value = json_pack("[o]", json_stringn(bytes, n));
		buf_init(&text, 64);
		assert_int_equal(jsonrpc_dump(value, &text), 0);
		assert_int_equal(text.n - strlen("[\"\"]"),
		    jsonrpc_text_cost((struct span){ (uint8_t *)bytes, n }));
		buf_done(&text);
		json_decref(value);
	}
}

static void
test_shown(void **state)
{
	char shown[NAME_SHOWN_SIZE];
	json_t *name = json_stringn("a\0b", 3);

	(void)state;
	assert_string_equal(json_shown(name, shown), "a?b");
	json_decref(name);
	/* 63 bytes, then a character of two. */
	name = json_string("012345678901234567890123456789012345678901234567890"
			   "123456789012\xc3\xa9");
	assert_int_equal(strlen(json_shown(name, shown)), 66);
	assert_string_equal(shown + 60, "012...");
	json_decref(name);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_json),
		cmocka_unit_test(test_nul_in_keys),
		cmocka_unit_test(test_not_utf8),
		cmocka_unit_test(test_surrogates),
		cmocka_unit_test(test_doubtful_ids),
		cmocka_unit_test(test_duplicate_keys),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_many_values),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_long_ids),
		cmocka_unit_test(test_envelopes),
		cmocka_unit_test(test_dump_is_bounded),
		cmocka_unit_test(test_text_cost),
		cmocka_unit_test(test_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
