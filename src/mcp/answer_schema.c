/* answer_schema.c: what structuredContent looks like, as a JSON schema.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/answer.h"

/* One that is there where there is something to say. */
static void
add_text(json_t *properties, const char *name, const char *description)
{
	(void)json_object_set_new(properties, name,
	    json_pack(
		"{s:s, s:s}", "type", "string", "description", description));
}

static void
add_images(json_t *properties)
{
	(void)json_object_set_new(properties, "images",
	    json_pack("{s:s, s:s, s:{s:s, s:{s:{s:s}, s:{s:s}, s:{s:s}, "
		      "s:{s:s}, s:{s:s}}, s:[s, s, s, s]}}",
		"type", "array", "description",
		"Figures that were shown, beside this as images.", "items",
		"type", "object", "properties", "type", "type", "string",
		"width", "type", "integer", "height", "type", "integer",
		"bytes", "type", "integer", "uri", "type", "string", "required",
		"type", "width", "height", "bytes"));
}

static void
add_files(json_t *properties)
{
	(void)json_object_set_new(properties, "files",
	    json_pack("{s:s, s:s, s:{s:s, s:{s:{s:s}, s:{s:s}, s:{s:s}, "
		      "s:{s:s}, s:{s:s}}, s:[s, s]}}",
		"type", "array", "description",
		"Files left in /workspace; those with a uri can be read.",
		"items", "type", "object", "properties", "name", "type",
		"string", "size", "type", "integer", "type", "type", "string",
		"uri", "type", "string", "text", "type", "string", "required",
		"name", "size"));
}

static void
add_optional(json_t *properties)
{
	add_text(properties, "value", "The value of the last expression.");
	add_text(properties, "session",
	    "Give it as session, or fork_of, to go on from here.");
	(void)json_object_set_new(properties, "hints",
	    json_pack("{s:s, s:s, s:{s:s}}", "type", "array", "description",
		"What to do instead, where the room is the reason.", "items",
		"type", "string"));
	add_images(properties);
	add_files(properties);
	add_text(properties, "stdout_uri",
	    "Resource with all of stdout, where it is truncated.");
	add_text(properties, "stderr_uri",
	    "Resource with all of stderr, where it is truncated.");
}

json_t *
answer_schema(void)
{
	static const char *const fields[][3] = {
		{ "stdout", "string", "What the program printed." },
		{ "stderr", "string", "Tracebacks, warnings and messages." },
		{ "exit_code", "integer",
		    "0: success; -1: ended from "
		    "outside." },
		{ "timed_out", "boolean", "Ended at its time limit." },
		{ "truncated", "boolean", "Output lacks its middle." },
		{ "duration_ms", "number", "Wall time of the program." },
		{ "queued_ms", "number", "Time spent waiting before it." },
		{ "memory_peak_bytes", "integer", "Most memory it held." },
		{ "room", "string", "The kind of room it ran in." },
	};
	json_t *properties = json_object(), *required = json_array();

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		(void)json_object_set_new(properties, fields[i][0],
		    json_pack("{s:s, s:s}", "type", fields[i][1], "description",
			fields[i][2]));
		(void)json_array_append_new(
		    required, json_string(fields[i][0]));
	}
	add_optional(properties);
	return json_pack("{s:s, s:o, s:o}", "type", "object", "properties",
	    properties, "required", required);
}
