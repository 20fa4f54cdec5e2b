/* test_resources.c: a store over the protocol: URIs, pages and their cursors,
 * whole resources and parts of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "mcp/media.h"
#include "mcp/resource_uri.h"
#include "mcp_client.h"

#define ID "0123456789abcdef0123456789abcdef"
#define AT "breakroom://call/" ID

/* ---- URIs ---- */

static void
good_uris(void **state)
{
	static const struct {
		const char *text;
		enum resource_part part;
		const char *name;
		bool ranged;
		uint64_t offset, length;
	} rows[] = {
		{ AT "/stdout", RESOURCE_STDOUT, "", false, 0, UINT64_MAX },
		{ AT "/stderr", RESOURCE_STDERR, "", false, 0, UINT64_MAX },
		{ AT "/files/a.txt", RESOURCE_FILE, "a.txt", false, 0,
		    UINT64_MAX },
		{ AT "/files/d/%C3%A9%20%3f%25", RESOURCE_FILE, "d/\xc3\xa9 ?%",
		    false, 0, UINT64_MAX },
		{ AT "/files/\xc3\xa9", RESOURCE_FILE, "\xc3\xa9", false, 0,
		    UINT64_MAX },
		{ AT "/files/..a/...", RESOURCE_FILE, "..a/...", false, 0,
		    UINT64_MAX },
		{ AT "/stdout?offset=5", RESOURCE_STDOUT, "", true, 5,
		    UINT64_MAX },
		{ AT "/stdout?length=7", RESOURCE_STDOUT, "", true, 0, 7 },
		{ AT "/files/a?offset=0&length=999999999999999", RESOURCE_FILE,
		    "a", true, 0, 999999999999999 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct resource_uri uri;

		assert_true(resource_uri_parse(rows[i].text, &uri));
		assert_string_equal(uri.id, ID);
		assert_int_equal(uri.part, rows[i].part);
		assert_string_equal(uri.name, rows[i].name);
		assert_int_equal(uri.ranged, rows[i].ranged);
		assert_int_equal(uri.offset, rows[i].offset);
		assert_int_equal(uri.length, rows[i].length);
	}
}

static void
bad_uris(void **state)
{
	static const char *const rows[] = { "", "breakroom://call/", AT, AT "/",
		AT "/stdout/", AT "/stdoutx", AT "/STDOUT", AT "/stdin",
		"Breakroom://call/" ID "/stdout",
		"breakroom://call/0123456789abcdef0123456789abcde/stdout",
		"breakroom://call/0123456789abcdef0123456789abcdef0/stdout",
		"breakroom://call/0123456789ABCDEF0123456789abcdef/stdout",
		"breakroom://call//stdout", "file:///etc/passwd",
		"breakroom://call/../" ID "/stdout", AT "/../stdout",
		AT "/files", AT "/files/", AT "/files//a", AT "/files/a/",
		AT "/files/a//b", AT "/files/..", AT "/files/../stdout",
		AT "/files/a/../b", AT "/files/%2e%2e/b", AT "/files/.",
		AT "/files/a%2f..%2fb", AT "/files/a%00", AT "/files/a%",
		AT "/files/a%2", AT "/files/a%zz", AT "/files/a b",
		AT "/files/a#b", AT "/files/a\nb", AT "/stdout#x",
		AT "/stdout?", AT "/stdout?offset",
		AT "/stdout?offset=", AT "/stdout?offset=-1",
		AT "/stdout?offset=1x", AT "/stdout?offset=1&",
		AT "/stdout?offset=1&offset=2", AT "/stdout?length=1&offset=2",
		AT "/stdout?length=0", AT "/stdout?offset=1000000000000000",
		AT "/stdout?x=1", AT "/files/a?offset=1?offset=1" };
	char text[RESOURCE_URI_MAX + 2] = AT "/files/";
	struct resource_uri uri;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_false(resource_uri_parse(rows[i], &uri));
	memset(text + strlen(text), 'a', RESOURCE_URI_MAX - strlen(text));
	assert_false(resource_uri_parse(text, &uri));
	text[RESOURCE_URI_MAX - 1] = '\0';
	assert_true(resource_uri_parse(text, &uri));
}

/* Whatever a name has in it, its URI leads back to it. */
static void
uris_lead_back(void **state)
{
	struct resource_uri uri;
	char name[RESULT_NAME_MAX * 4 + 1];
	struct buf text;

	(void)state;
	for (unsigned c = 1; c < 256; c++) {
		(void)snprintf(name, sizeof(name), "x%cy/%c%c", c, c, c);
		if (c == '/' || c == '.')
			continue;
		buf_init(&text, RESOURCE_URI_MAX);
		assert_int_equal(
		    resource_uri_add(&text, ID, RESOURCE_FILE, name), 0);
		assert_int_equal(buf_add(&text, "", 1), 0);
		assert_true(resource_uri_parse((char *)text.p, &uri));
		assert_string_equal(uri.name, name);
		buf_done(&text);
	}
	/* The longest there can be. */
	for (size_t i = 0; i < RESULT_NAME_MAX; i++)
		memcpy(name + 4 * i, "\\xff", 4);
	name[sizeof(name) - 1] = '\0';
	buf_init(&text, RESOURCE_URI_MAX);
	assert_int_equal(resource_uri_add(&text, ID, RESOURCE_FILE, name), 0);
	assert_true(text.n + strlen("?offset=999999999999999&length="
				    "999999999999999") <
		    RESOURCE_URI_MAX);
	buf_done(&text);
}

static void
kinds_of_files(void **state)
{
	static const struct {
		const char *name, *bytes, *type;
		bool text;
	} rows[] = {
		{ "a.csv", "\xff", "text/csv", true },
		{ "a.PNG", "", "image/png", false },
		{ "d.png/a", "text", "text/plain", true },
		{ "a", "\x89PNG\r\n\x1a\n", "image/png", false },
		{ "a", "\xff\xfe", "application/octet-stream", false },
		{ "a", "", "text/plain", true },
		{ "png", "%PDF-1.7", "application/pdf", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct media media =
		    media_of(rows[i].name, span_of(rows[i].bytes));

		assert_string_equal(media.type, rows[i].type);
		assert_int_equal(media.text, rows[i].text);
	}
	assert_true(media_is_text(span_of("a\n\xc3\xa9")));
	assert_false(media_is_text(span_of("a\xc3")));
	assert_false(media_is_text((struct span){ (const uint8_t *)"a\0", 2 }));
}

/* ---- over the protocol ---- */

static int
setup_keeping(void **state)
{
	struct client *client;

	(void)setup(state);
	client = *state;
	client->conf.keep_bytes = 64u * MIB;
	client->conf.keep_ms = 60000;
	peer_close(client->peer);
	mcp_close(client->mcp);
	(void)uv_run(&client->loop, UV_RUN_NOWAIT);
	run_catalog_free(client->catalog);
	client->catalog = run_catalog_new(&client->conf, "the description");
	client->mcp = mcp_new(&client->loop, client->room, &client->conf,
	    run_catalog_face(client->catalog));
	client->peer = peer_new(client->mcp,
	    &(struct peer_conf){ .send = on_message, .arg = client });
	say(client, HANDSHAKE("2025-11-25"));
	json_array_clear(client->got);
	return 0;
}

/* Keeps what a call left; its id in id. */
static void
keep(struct client *client, struct result *result, char id[STORE_ID_SIZE])
{
	struct store *store =
	    (struct store *)run_catalog_store(client->catalog);

	assert_int_equal(store_add(store, NULL, result, clock_us(), id), 0);
	store_move(store, id, result);
	result_done(result);
}

static void
keep_text(struct client *client, const char *text, char id[STORE_ID_SIZE])
{
	struct result result;

	result_init(&result);
	(void)buf_add_text(&result.out.text, text);
	keep(client, &result, id);
}

/* The only answer that came, with its result or error. */
static json_t *
answer_to(struct client *client, const char *method, const char *params)
{
	char text[RESOURCE_URI_MAX + 200];
	json_t *answer;

	(void)snprintf(text, sizeof(text),
	    "{'jsonrpc':'2.0','id':1,'method':'%s','params':{%s}}", method,
	    params);
	say(client, text);
	assert_int_equal(json_array_size(client->got), 1);
	answer = json_incref(json_array_get(client->got, 0));
	json_array_clear(client->got);
	return answer;
}

static long long
error_of(struct client *client, const char *method, const char *params)
{
	json_t *answer = answer_to(client, method, params);
	json_t *error = json_object_get(answer, "error");
	long long code = json_integer_value(json_object_get(error, "code"));

	json_decref(answer);
	return code;
}

/* The content that is read; the caller's. */
static json_t *
read_of(struct client *client, const char *id, const char *path)
{
	char params[200];
	json_t *answer, *contents, *content;

	(void)snprintf(
	    params, sizeof(params), "'uri':'breakroom://call/%s/%s'", id, path);
	answer = answer_to(client, "resources/read", params);
	contents =
	    json_object_get(json_object_get(answer, "result"), "contents");
	assert_int_equal(json_array_size(contents), 1);
	content = json_incref(json_array_get(contents, 0));
	json_decref(answer);
	return content;
}

static const char *
string_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static void
reads_text_and_bytes(void **state)
{
	struct client *client = *state;
	char id[STORE_ID_SIZE];
	struct result result;
	struct file *file;
	json_t *content;

	result_init(&result);
	(void)buf_add_text(&result.out.text, "h\xc3\xa9llo\n");
	result.files.files = file = calloc(1, sizeof(*file));
	result.files.n = 1;
	file->name = strdup("b");
	file->taken = true;
	buf_init(&file->bytes, 100);
	(void)buf_add(&file->bytes, "\0\1\2\xff", 4);
	file->size = 4;
	keep(client, &result, id);

	content = read_of(client, id, "stdout");
	assert_string_equal(string_of(content, "text"), "h\xc3\xa9llo\n");
	assert_string_equal(string_of(content, "mimeType"), "text/plain");
	assert_null(json_object_get(content, "blob"));
	assert_null(json_object_get(content, "_meta"));
	json_decref(content);
	content = read_of(client, id, "stderr"); /* empty, but there */
	assert_string_equal(string_of(content, "text"), "");
	json_decref(content);
	content = read_of(client, id, "files/b");
	assert_string_equal(string_of(content, "blob"), "AAEC/w==");
	assert_null(json_object_get(content, "text"));
	json_decref(content);
	content = read_of(client, id, "files/b?offset=1&length=2");
	assert_string_equal(string_of(content, "blob"), "AQI=");
	json_decref(content);
	content = read_of(client, id, "files/b?offset=3");
	assert_string_equal(string_of(content, "blob"), "/w==");
	json_decref(content);
	content = read_of(client, id, "files/b?offset=99");
	assert_string_equal(
	    string_of(content, "text") ? "text" : "blob", "blob");
	assert_string_equal(string_of(content, "blob"), "");
	json_decref(content);
	/* Half a character is no text. */
	content = read_of(client, id, "stdout?length=2");
	assert_string_equal(string_of(content, "blob"), "aMM=");
	json_decref(content);
}

/* What does not fit a message comes in parts that add up to it. */
static void
reads_large_ones_in_parts(void **state)
{
	static const char *const pieces[] = { "x", "\n", "\xe2\x82\xac",
		"\x01" };
	struct client *client = *state;

	for (unsigned i = 0; i < 4; i++) {
		const size_t n = 2000000, piece_n = strlen(pieces[i]);
		char id[STORE_ID_SIZE], path[64] = "stdout";
		struct result result;
		size_t got = 0, parts = 0;

		result_init(&result);
		while (result.out.text.n < n)
			(void)buf_add_text(&result.out.text, pieces[i]);
		keep(client, &result, id);
		while (*path) {
			json_t *content = read_of(client, id, path);
			json_t *text = json_object_get(content, "text");
			const char *p = json_string_value(text), *next;

			assert_non_null(p);
			assert_int_equal(json_string_length(text) % piece_n, 0);
			for (size_t j = 0; j < json_string_length(text);
			     j += piece_n)
				assert_memory_equal(p + j, pieces[i], piece_n);
			got += json_string_length(text);
			next = string_of(
			    json_object_get(json_object_get(content, "_meta"),
				"breakroom/range"),
			    "next");
			(void)snprintf(path, sizeof(path), "%s",
			    next ? strstr(next, "stdout") : "");
			json_decref(content);
			assert_true(++parts < 20);
		}
		assert_int_equal(got, (n + piece_n - 1) / piece_n * piece_n);
		assert_true(parts >= 3);
	}
}

static void
lists_in_pages(void **state)
{
	struct client *client = *state;
	char id[STORE_ID_SIZE], params[100] = "";
	unsigned listed = 0, pages = 0;

	for (unsigned i = 0; i < 2 * RESOURCES_PAGE + 1; i++)
		keep_text(client, "x", id);
	for (bool more = true; more; pages++) {
		json_t *answer = answer_to(client, "resources/list", params);
		json_t *result = json_object_get(answer, "result");
		const char *next = string_of(result, "nextCursor");

		listed += (unsigned)json_array_size(
		    json_object_get(result, "resources"));
		more = next != NULL;
		if (next)
			(void)snprintf(
			    params, sizeof(params), "'cursor':'%.64s'", next);
		json_decref(answer);
	}
	assert_int_equal(listed, 2 * RESOURCES_PAGE + 1);
	assert_int_equal(pages, 3);
}

static void
cursors_are_ours(void **state)
{
	static const char *const bad[] = { "x", "0", "0000000000000000",
		"00000000000000000000000000000000", "\\u0000",
		"0000000000000100ffffffffffffffff" };
	struct client *client = *state;
	char id[STORE_ID_SIZE], params[100];
	json_t *answer;
	const char *next;
	char *digit;

	for (unsigned i = 0; i < RESOURCES_PAGE + 1; i++)
		keep_text(client, "x", id);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(params, sizeof(params), "'cursor':'%s'", bad[i]);
		assert_int_equal(
		    error_of(client, "resources/list", params), -32602);
	}
	assert_int_equal(
	    error_of(client, "resources/list", "'cursor':7"), -32602);
	answer = answer_to(client, "resources/list", "'cursor':''");
	next = string_of(json_object_get(answer, "result"), "nextCursor");
	assert_non_null(next);
	/* Every digit of it counts. */
	for (size_t i = 0; i < strlen(next); i++) {
		(void)snprintf(params, sizeof(params), "'cursor':'%s'", next);
		digit = params + strlen("'cursor':'") + i;
		*digit = *digit == '0' ? '1' : '0';
		assert_int_equal(
		    error_of(client, "resources/list", params), -32602);
	}
	json_decref(answer);
}

static void
missing_ones(void **state)
{
	struct client *client = *state;

	assert_int_equal(
	    error_of(client, "resources/read", "'uri':'" AT "/stdout'"),
	    -32002);
	assert_int_equal(
	    error_of(client, "resources/read", "'uri':'file:///x'"), -32002);
	assert_int_equal(error_of(client, "resources/read", ""), -32602);
	assert_int_equal(error_of(client, "resources/read", "'uri':1"), -32602);
}

static void
templates_are_listed(void **state)
{
	struct client *client = *state;
	json_t *answer = answer_to(client, "resources/templates/list", "");
	json_t *list = json_object_get(
	    json_object_get(answer, "result"), "resourceTemplates");

	assert_int_equal(json_array_size(list), 4);
	assert_string_equal(string_of(json_array_get(list, 2), "uriTemplate"),
	    "breakroom://call/{id}/files/{+name}{?offset,length}");
	assert_string_equal(string_of(json_array_get(list, 3), "uriTemplate"),
	    "breakroom://call/{id}/images/{name}{?offset,length}");
	json_decref(answer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_uris),
		cmocka_unit_test(bad_uris),
		cmocka_unit_test(uris_lead_back),
		cmocka_unit_test(kinds_of_files),
		cmocka_unit_test_setup_teardown(
		    reads_text_and_bytes, setup_keeping, teardown),
		cmocka_unit_test_setup_teardown(
		    reads_large_ones_in_parts, setup_keeping, teardown),
		cmocka_unit_test_setup_teardown(
		    lists_in_pages, setup_keeping, teardown),
		cmocka_unit_test_setup_teardown(
		    cursors_are_ours, setup_keeping, teardown),
		cmocka_unit_test_setup_teardown(
		    missing_ones, setup_keeping, teardown),
		cmocka_unit_test_setup_teardown(
		    templates_are_listed, setup_keeping, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
