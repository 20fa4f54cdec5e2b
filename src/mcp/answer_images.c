/* answer_images.c: images of a call, as blocks, links, lines and a list.
 * Hostile input: their bytes; what is no PNG of a reasonable size is left out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/answer_images.h"

#include "base/base64.h"
#include "base/own.h"
#include "call/png.h"
#include "mcp/answer_files.h"
#include "mcp/jsonrpc.h"

#include <inttypes.h>

#define LINE_MAX_HERE (RESOURCE_URI_MAX + 128u)

/* What a block costs beside its bytes. */
#define BLOCK_FIXED 64u

static json_t *
block_of(const struct file *file)
{
	own_buf struct buf text;

	buf_init(&text, (file->bytes.n + 2) / 3 * 4);
	if (base64_write(BASE64_PADDED, buf_span(&file->bytes), &text) < 0)
		return NULL;
	return json_pack("{s:s, s:o, s:s}", "type", "image", "data",
	    json_stringn((const char *)text.p, text.n), "mimeType",
	    "image/png");
}

/* Takes the place that an image needs off what is left. */
static bool
fits(const struct file *file, size_t *left)
{
	size_t cost = (file->bytes.n + 2) / 3 * 4 + BLOCK_FIXED;

	if (cost > *left)
		return false;
	*left -= cost;
	return true;
}

static void
add_entry(const struct file *file, const struct png *png,
    const struct answer_form *form, json_t *list)
{
	json_t *entry = json_pack("{s:s, s:i, s:i, s:I}", "type", "image/png",
	    "width", (int)png->width, "height", (int)png->height, "bytes",
	    (json_int_t)file->size);

	if (form->call_id)
		(void)json_object_set_new(
		    entry, "uri", answer_uri(form, RESOURCE_IMAGE, file->name));
	(void)json_array_append_new(list, entry);
}

/* One that has no place in the message. */
static void
add_link(const struct file *file, const struct answer_form *form,
    struct answer_images *images)
{
	struct buf *text = &images->text;

	if (!form->call_id) {
		(void)buf_printf(
		    text, ", %" PRIu64 " bytes: too large to send", file->size);
	} else if (form->revision->structured) {
		(void)buf_add_text(text, ", as a resource");
		(void)json_array_append_new(
		    images->blocks, answer_image_link(form, file));
	} else { /* a client that knows no links reads its URI here */
		(void)buf_add_text(text, ", ");
		(void)resource_uri_add(
		    text, form->call_id, RESOURCE_IMAGE, file->name);
	}
}

static void
add_image(const struct file *file, const struct answer_form *form, size_t *left,
    struct answer_images *images)
{
	struct buf *text = &images->text;
	json_t *block;
	struct png png;

	if (!file->taken || !png_look(buf_span(&file->bytes), &png)) {
		(void)buf_add_text(text, "no PNG that can be shown");
		return;
	}
	(void)buf_printf(
	    text, "%" PRIu32 "x%" PRIu32 " PNG", png.width, png.height);
	block = fits(file, left) ? block_of(file) : NULL;
	if (block)
		(void)json_array_append_new(images->blocks, block);
	else
		add_link(file, form, images);
	add_entry(file, &png, form, images->list);
}

/* Dumped, what an array costs without its images' bytes. */
static size_t
cost_of(const json_t *array)
{
	return array ? json_dumpb(array, NULL, 0, JSON_COMPACT) : 0;
}

void
answer_images_make(const struct file_list *images,
    const struct answer_form *form, size_t max,
    struct answer_images *ret_images)
{
	size_t left = max;

	*ret_images = (struct answer_images){ 0 };
	buf_init(&ret_images->text, RESULT_IMAGES_MAX * LINE_MAX_HERE);
	if (images->n == 0 && !images->more)
		return;
	ret_images->blocks = json_array();
	ret_images->list = json_array();
	for (unsigned i = 0; i < images->n; i++) {
		(void)buf_printf(
		    &ret_images->text, "[image %u of %u: ", i + 1, images->n);
		add_image(&images->files[i], form, &left, ret_images);
		(void)buf_add_text(&ret_images->text, "]\n");
	}
	if (images->more)
		(void)buf_add_text(
		    &ret_images->text, "[there were more images]\n");
	ret_images->cost = jsonrpc_text_cost(buf_span(&ret_images->text)) +
			   cost_of(ret_images->blocks) +
			   2 * cost_of(ret_images->list);
}

void
answer_images_done(struct answer_images *images)
{
	buf_done(&images->text);
	json_decref(images->blocks);
	json_decref(images->list);
}
