/* run_json.c: a result as one JSON object.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/run_json.h"

#include "base/base64.h"
#include "base/own.h"
#include "call/png.h"
#include "mcp/answer.h"
#include "mcp/media.h"

#include <jansson.h>

static json_t *
string_of(const struct buf *text)
{
	return json_stringn(text->p ? (const char *)text->p : "", text->n);
}

static json_t *
image_of(const struct file *file)
{
	own_buf struct buf text = { .max = (file->bytes.n + 2) / 3 * 4 };
	struct png png;

	if (!file->taken || !png_look(buf_span(&file->bytes), &png) ||
	    base64_write(BASE64_PADDED, buf_span(&file->bytes), &text) < 0)
		return NULL;
	return json_pack("{s:s, s:i, s:i, s:I, s:o}", "type", "image/png",
	    "width", (int)png.width, "height", (int)png.height, "bytes",
	    (json_int_t)file->size, "data", string_of(&text));
}

static void
add_images(json_t *object, const struct file_list *list)
{
	json_t *images;

	if (list->n == 0)
		return;
	images = json_array();
	for (unsigned i = 0; i < list->n; i++)
		(void)json_array_append_new(images, image_of(&list->files[i]));
	(void)json_object_set_new(object, "images", images);
}

static void
add_files(json_t *object, const struct file_list *list)
{
	json_t *files;

	if (list->n == 0)
		return;
	files = json_array();
	for (unsigned i = 0; i < list->n; i++)
		(void)json_array_append_new(files,
		    json_pack("{s:s, s:I, s:s*}", "name", list->files[i].name,
			"size", (json_int_t)list->files[i].size, "type",
			media_of_file(&list->files[i])));
	(void)json_object_set_new(object, "files", files);
}

char *
run_json(
    const struct result *result, const struct hints *hints, enum room_id room)
{
	json_t *object = json_pack("{s:o, s:o, s:i, s:b, s:s, s:b, s:f, s:f, "
				   "s:I, s:s}",
	    "stdout", string_of(&result->out.text), "stderr",
	    string_of(&result->err.text), "exit_code", result->exit_code,
	    "timed_out", result->timed_out, "outcome",
	    outcome_name(result->outcome), "truncated",
	    result->out.cut || result->err.cut || result->value.cut,
	    "duration_ms", (double)result->usage.wall_us / 1000.0, "queued_ms",
	    (double)result->usage.queued_us / 1000.0, "memory_peak_bytes",
	    (json_int_t)result->usage.memory_peak_bytes, "room",
	    room_id_name(room));
	char *text;

	if (!object)
		return NULL;
	if (result->value.text.n > 0)
		(void)json_object_set_new(
		    object, "value", string_of(&result->value.text));
	answer_hints_put(object, hints);
	add_images(object, &result->images);
	add_files(object, &result->files);
	if (result->walls_missing)
		(void)json_object_set_new(object, "walls",
		    answer_walls(result->walls_missing, result->walls_allowed));
	text = json_dumps(object, JSON_REAL_PRECISION(12));
	json_decref(object);
	return text;
}
