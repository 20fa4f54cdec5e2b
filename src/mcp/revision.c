/* revision.c: the table of protocol revisions, newest first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/revision.h"

#include "mcp/jsonrpc.h"

static const struct revision revisions[] = {
	{
	    .name = "2026-07-28",
	    .modern = true,
	    .annotations = true,
	    .progress_message = true,
	    .structured = true,
	},
	{
	    .name = "2025-11-25",
	    .annotations = true,
	    .progress_message = true,
	    .structured = true,
	},
	{
	    .name = "2025-06-18",
	    .annotations = true,
	    .progress_message = true,
	    .structured = true,
	    .null_id = true,
	},
	{
	    .name = "2025-03-26",
	    .batches = true,
	    .annotations = true,
	    .progress_message = true,
	    .null_id = true,
	},
	{
	    .name = "2024-11-05",
	    .null_id = true,
	},
};

#define REVISIONS (sizeof(revisions) / sizeof(revisions[0]))

const struct revision *
revision_find(const json_t *name)
{
	for (size_t i = 0; i < REVISIONS; i++)
		if (json_is_text(name, revisions[i].name))
			return &revisions[i];
	return NULL;
}

const struct revision *
revision_latest_handshake(void)
{
	for (size_t i = 0; i < REVISIONS; i++)
		if (!revisions[i].modern)
			return &revisions[i];
	return NULL;
}

const struct revision *
revision_latest(void)
{
	return &revisions[0];
}

const struct revision *
revision_without_header(void)
{
	for (size_t i = 0; i < REVISIONS; i++)
		if (revisions[i].batches)
			return &revisions[i];
	return NULL;
}

const char *
revision_oldest_modern(void)
{
	size_t i = REVISIONS;

	while (i > 1 && !revisions[i - 1].modern)
		i--;
	return revisions[i - 1].name;
}

int
log_level_rank(const json_t *level)
{
	static const char *const levels[] = { "debug", "info", "notice",
		"warning", "error", "critical", "alert", "emergency" };

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (json_is_text(level, levels[i]))
			return (int)i;
	return -1;
}

json_t *
revision_names(void)
{
	json_t *names = json_array();

	for (size_t i = 0; i < REVISIONS; i++)
		(void)json_array_append_new(
		    names, json_string(revisions[i].name));
	return names;
}
