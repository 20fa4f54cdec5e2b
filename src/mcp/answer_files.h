/* answer_files.h: the part of an answer that tells of files, and its links.
 * Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_ANSWER_FILES_H
#define MCP_ANSWER_FILES_H

#include "base/buf.h"
#include "call/files.h"
#include "mcp/answer.h"
#include "mcp/resource_uri.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct answer_files {
	struct buf text; /* lines that name them */
	json_t *links;   /* an array of resource_link blocks, and of resource
			  * blocks with the text of files inline */
	json_t *list;    /* an array for structuredContent; NULL: none asked */
	size_t cost;     /* of all of it, dumped */
};

/* Fills *ret_files with as many as cost at most max; with the list if listed.
 * answer_files_done releases it. */
void answer_files_make(const struct file_list *files,
    const struct answer_form *form, bool listed, size_t max,
    struct answer_files *ret_files);
void answer_files_done(struct answer_files *files);

/* A new string: the URI of a part of the form's call. */
json_t *answer_uri(
    const struct answer_form *form, enum resource_part part, const char *name);

/* A new resource_link block for an image. */
json_t *answer_image_link(
    const struct answer_form *form, const struct file *image);

/* A new resource_link block for a stream. */
json_t *answer_stream_link(const struct answer_form *form,
    enum resource_part part, const struct stream *stream);

#endif
