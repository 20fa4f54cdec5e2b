/* tool_files.c: files that come as an argument.
 * Hostile input: the argument. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/tool_files.h"

#include "base/base64.h"
#include "base/own.h"
#include "call/files_in.h"
#include "mcp/jsonrpc.h"

#include <errno.h>
#include <string.h>

/* What is wrong with the value of the file of that name. */
static int
refuse(struct err *err, const char *name, const char *why)
{
	char shown[NAME_SHOWN_SIZE];
	json_t *key = json_string(name);

	(void)json_shown(key, shown);
	json_decref(key);
	return fail(err, EINVAL, "file \"%s\" %s", shown, why);
}

/* The lines that encoders break their text into. */
static bool
is_space(char c)
{
	return c == '\n' || c == '\r' || c == ' ' || c == '\t';
}

static int
copy_without_spaces(struct buf *into, const char *text, size_t n)
{
	int r = buf_reserve(into, n);

	for (size_t i = 0; r == 0 && i < n; i++)
		if (!is_space(text[i]))
			into->p[into->n++] = (uint8_t)text[i];
	return r;
}

/* A quarter of the text's length, three times, and no more than may come. */
static int
decode(const char *name, const json_t *text, struct buf *bytes, struct err *err)
{
	own_buf struct buf digits;
	int r;

	buf_init(&digits, json_string_length(text));
	r = copy_without_spaces(
	    &digits, json_string_value(text), json_string_length(text));
	if (r == 0)
		r = base64_read(BASE64_PADDED, buf_span(&digits), bytes);
	if (r == -EINVAL)
		return refuse(err, name,
		    "is not valid base64 (A-Z a-z 0-9 + / and = at its end)");
	if (r == -ENOBUFS)
		return fail(err, E2BIG, "more than %u MiB of files",
		    (unsigned)(FILES_IN_BYTES / MIB));
	return r < 0 ? fail(err, -r, "no memory for a file") : 0;
}

static int
take_encoded(
    struct buf *files, const char *name, const json_t *value, struct err *err)
{
	const json_t *text = json_object_get(value, "base64");
	own_buf struct buf bytes;
	int r;

	buf_init(&bytes, FILES_IN_BYTES);
	if (json_object_size(value) != 1 || !json_is_string(text))
		return refuse(
		    err, name, "must be a string, or {\"base64\": \"...\"}");
	r = decode(name, text, &bytes, err);
	if (r < 0)
		return r;
	return files_in_add(files, span_of(name), buf_span(&bytes), err);
}

static int
take_one(
    struct buf *files, const char *name, const json_t *value, struct err *err)
{
	struct span text;

	if (!json_is_string(value))
		return take_encoded(files, name, value, err);
	text = (struct span){ (const uint8_t *)json_string_value(value),
		json_string_length(value) };
	return files_in_add(files, span_of(name), text, err);
}

int
tool_files_take(const json_t *value, struct buf *files, struct err *err)
{
	json_t *object = (json_t *)value; /* jansson iterates these only */
	int r = 0;

	if (!json_is_object(value))
		return fail(err, EINVAL,
		    "files must be an object: {\"name\": \"text\"} or "
		    "{\"name\": {\"base64\": \"...\"}}");
	for (void *at = json_object_iter(object); at && r == 0;
	     at = json_object_iter_next(object, at))
		r = take_one(files, json_object_iter_key(at),
		    json_object_iter_value(at), err);
	return r;
}

json_t *
tool_files_schema(void)
{
	return json_pack("{s:s, s:s, s:i, s:{s:[{s:s}, {s:s, s:{s:{s:s}}, "
			 "s:[s], s:b}]}}",
	    "type", "object", "description",
	    "Files to put into /workspace first: name (may have "
	    "directories) to text, or to {\"base64\": ...} for other bytes.",
	    "maxProperties", (int)FILES_IN_MAX, "additionalProperties", "anyOf",
	    "type", "string", "type", "object", "properties", "base64", "type",
	    "string", "required", "base64", "additionalProperties", 0);
}
