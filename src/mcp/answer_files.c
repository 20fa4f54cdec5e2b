/* answer_files.c: files of a call, as lines, links and a list. Their names are
 * such that a line can hold them: see call/files.h.
 * Hostile input: the bytes of those that are inline; only text is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/answer_files.h"

#include "base/own.h"
#include "mcp/jsonrpc.h"
#include "mcp/media.h"

#include <inttypes.h>

#define FILES_TEXT_MAX (256u * KIB)

json_t *
answer_uri(
    const struct answer_form *form, enum resource_part part, const char *name)
{
	own_buf struct buf uri;

	buf_init(&uri, RESOURCE_URI_MAX);
	(void)resource_uri_add(&uri, form->call_id, part, name);
	return json_stringn((const char *)uri.p, uri.n);
}

static json_t *
link_of(json_t *uri, const char *name, const char *type, uint64_t size)
{
	json_t *link =
	    json_pack("{s:s, s:o, s:s, s:I}", "type", "resource_link", "uri",
		uri, "name", name, "size", (json_int_t)size);

	if (type)
		(void)json_object_set_new(link, "mimeType", json_string(type));
	return link;
}

json_t *
answer_stream_link(const struct answer_form *form, enum resource_part part,
    const struct stream *stream)
{
	return link_of(answer_uri(form, part, NULL),
	    part == RESOURCE_STDOUT ? "stdout" : "stderr", "text/plain",
	    stream->text.n);
}

json_t *
answer_image_link(const struct answer_form *form, const struct file *image)
{
	return link_of(answer_uri(form, RESOURCE_IMAGE, image->name),
	    image->name, "image/png", image->size);
}

/* ---- text files inline ---- */

/* The text of a file that may be inline, and takes what it costs off *left;
 * NULL: it may not, or is no text. */
static json_t *
inline_text(
    const struct file *file, const struct answer_form *form, size_t *left)
{
	struct span bytes = buf_span(&file->bytes);
	size_t cost;

	if (!form->inline_files || bytes.n > INLINE_FILE_MAX ||
	    !media_of(file->name, bytes).text || !media_is_text(bytes))
		return NULL;
	cost = jsonrpc_text_cost(bytes);
	if (cost > *left)
		return NULL;
	*left -= cost;
	return json_stringn(bytes.n ? (const char *)bytes.p : "", bytes.n);
}

/* What clients show of a resource is the text that is in it. */
static json_t *
embedded(const struct file *file, const struct answer_form *form, json_t *text)
{
	return json_pack("{s:s, s:{s:o, s:s, s:O}}", "type", "resource",
	    "resource", "uri", answer_uri(form, RESOURCE_FILE, file->name),
	    "mimeType", media_of(file->name, buf_span(&file->bytes)).type,
	    "text", text);
}

/* ---- files ---- */

static bool
is_kept(const struct file *file, const struct answer_form *form)
{
	return file->taken && form->call_id;
}

static void
add_line(
    const struct file *file, const struct answer_form *form, struct buf *text)
{
	bool kept = is_kept(file, form);

	(void)buf_printf(text, "%s (%" PRIu64 " bytes%s)", file->name,
	    file->size, kept ? "" : ", not kept");
	/* A client that knows no links reads its URI here. */
	if (kept && !form->revision->structured) {
		(void)buf_add_text(text, " ");
		(void)resource_uri_add(
		    text, form->call_id, RESOURCE_FILE, file->name);
	}
	(void)buf_add_text(text, "\n");
}

static void
add_file(const struct file *file, const struct answer_form *form, size_t *left,
    struct answer_files *files)
{
	bool kept = is_kept(file, form);
	json_t *text = kept ? inline_text(file, form, left) : NULL;

	add_line(file, form, &files->text);
	if (text)
		(void)json_array_append_new(
		    files->links, embedded(file, form, text));
	else if (kept && form->revision->structured)
		(void)json_array_append_new(files->links,
		    link_of(answer_uri(form, RESOURCE_FILE, file->name),
			file->name, media_of_name(file->name), file->size));
	if (files->list) {
		json_t *entry = json_pack("{s:s, s:I}", "name", file->name,
		    "size", (json_int_t)file->size);
		const char *type = media_of_file(file);

		if (type)
			(void)json_object_set_new(
			    entry, "type", json_string(type));
		if (kept)
			(void)json_object_set_new(entry, "uri",
			    answer_uri(form, RESOURCE_FILE, file->name));
		if (text)
			(void)json_object_set(entry, "text", text);
		(void)json_array_append_new(files->list, entry);
	}
	json_decref(text);
}

static void
fill(const struct file_list *from, unsigned n, const struct answer_form *form,
    bool listed, struct answer_files *files)
{
	size_t left = INLINE_FILES_MAX;

	*files = (struct answer_files){ .links = json_array(),
		.list = listed ? json_array() : NULL };
	buf_init(&files->text, FILES_TEXT_MAX);
	if (from->n > 0 || from->more)
		(void)buf_add_text(&files->text, "[files]\n");
	for (unsigned i = 0; i < n; i++)
		add_file(&from->files[i], form, &left, files);
	if (n < from->n)
		(void)buf_printf(&files->text, "and %u more%s\n", from->n - n,
		    from->more ? ", and others that are not listed" : "");
	else if (from->more)
		(void)buf_add_text(
		    &files->text, "and others that are not listed\n");
	files->cost =
	    jsonrpc_text_cost(buf_span(&files->text)) +
	    json_dumpb(files->links, NULL, 0, JSON_COMPACT) +
	    (listed ? json_dumpb(files->list, NULL, 0, JSON_COMPACT) : 0);
}

void
answer_files_make(const struct file_list *files, const struct answer_form *form,
    bool listed, size_t max, struct answer_files *ret_files)
{
	unsigned n = files->n < RESULT_LINKS_MAX ? files->n : RESULT_LINKS_MAX;

	for (;;) {
		fill(files, n, form, listed, ret_files);
		if (ret_files->cost <= max || n == 0)
			break;
		answer_files_done(ret_files);
		n /= 2;
	}
	if (ret_files->cost > max)
		ret_files->cost = max; /* a line: there is place beside it */
}

void
answer_files_done(struct answer_files *files)
{
	buf_done(&files->text);
	json_decref(files->links);
	json_decref(files->list);
}
