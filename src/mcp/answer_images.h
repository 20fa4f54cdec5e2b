/* answer_images.h: the part of an answer that shows images. Those that find a
 * place in the message are in it, in the order in which the program showed
 * them; the others are links to what is kept. The text says which is which, and
 * never holds an image itself. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_ANSWER_IMAGES_H
#define MCP_ANSWER_IMAGES_H

#include "base/buf.h"
#include "mcp/answer.h"

#include <jansson.h>
#include <stddef.h>

struct answer_images {
	struct buf text; /* a line for each */
	json_t *blocks;  /* image blocks and resource_link blocks */
	json_t *list;    /* an array for structuredContent and _meta */
	size_t cost;     /* of all of it, dumped, the list twice */
};

/* Fills *ret_images, of which what is in the message costs at most max; of
 * small costs (lines, links, the list) there is always enough.
 * answer_images_done releases it. */
void answer_images_make(const struct file_list *images,
    const struct answer_form *form, size_t max,
    struct answer_images *ret_images);
void answer_images_done(struct answer_images *images);

#endif
