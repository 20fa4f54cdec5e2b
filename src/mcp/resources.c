/* resources.c: pages, cursors and contents of a store.
 * Hostile input: cursors and URIs of a client, and what programs left.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/resources.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/hmac.h"
#include "base/own.h"
#include "call/text.h"
#include "mcp/jsonrpc.h"
#include "mcp/media.h"
#include "mcp/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cursors: a place in a walk, and the proof that we gave it out ---- */

#define CODE_SHOWN  8u /* bytes of the proof */
#define CURSOR_SIZE (16u + 2u * CODE_SHOWN + 1u)
_Static_assert(CURSOR_SIZE <= sizeof(((struct resource_page *)0)->next),
    "a cursor fits its page");

static void
cursor_write(const struct store *store, const struct principal *principal,
    uint64_t at, char cursor[CURSOR_SIZE])
{
	uint8_t place[sizeof(at) + PRINCIPAL_ID_SIZE] = { 0 };
	uint8_t code[HMAC_SIZE];

	memcpy(place, &at, sizeof(at));
	if (principal)
		memcpy(place + sizeof(at), principal->id, PRINCIPAL_ID_SIZE);
	hmac_sha256(
	    store_key(store), (struct span){ place, sizeof(place) }, code);
	(void)snprintf(cursor, CURSOR_SIZE, "%016" PRIx64, at);
	hex_write(code, CODE_SHOWN, cursor + 16);
}

/* False: it is none that this principal was given. */
static bool
cursor_read(const struct store *store, const struct principal *principal,
    const char *cursor, uint64_t *ret_at)
{
	char number[17] = "", right[CURSOR_SIZE];

	if (strlen(cursor) != CURSOR_SIZE - 1)
		return false;
	memcpy(number, cursor, 16);
	*ret_at = strtoull(number, NULL, 16);
	cursor_write(store, principal, *ret_at, right);
	return strcmp(right, cursor) == 0;
}

/* ---- resources/list ---- */

static json_t *
entry_of(const struct stored *stored)
{
	return json_pack("{s:s, s:s, s:s, s:I}", "uri", stored->uri, "name",
	    stored->name, "mimeType", stored->type, "size",
	    (json_int_t)stored->bytes.n);
}

static bool
on_list(void *arg, const struct request *request, const char *cursor,
    struct resource_page *ret_page)
{
	struct store *store = arg;
	const struct principal *principal = request->principal;
	uint64_t now_us = clock_us(), at = 0, next;
	struct stored stored;

	if (*cursor && !cursor_read(store, principal, cursor, &at))
		return false;
	ret_page->resources = json_array();
	ret_page->next[0] = '\0';
	for (unsigned i = 0; i < RESOURCES_PAGE; i++) {
		if (!store_next(store, principal, now_us, &at, &stored))
			return true;
		(void)json_array_append_new(
		    ret_page->resources, entry_of(&stored));
	}
	next = at;
	if (store_next(store, principal, now_us, &next, &stored))
		cursor_write(store, principal, at, ret_page->next);
	return true;
}

/* ---- resources/templates/list ---- */

static json_t *
on_templates(void *arg, const struct revision *revision)
{
	static const char *const about[][2] = {
		{ "stdout", "Everything that a call printed; for a part of it, "
			    "give offset and length in bytes." },
		{ "stderr", "The same for its standard error." },
		{ "files", "A file that a call left in /workspace." },
		{ "images", "A figure that a call showed, as PNG." },
	};
	json_t *templates = json_array();

	(void)arg;
	(void)revision;
	for (size_t i = 0; i < sizeof(about) / sizeof(about[0]); i++)
		(void)json_array_append_new(
		    templates, json_pack("{s:s, s:s, s:s}", "uriTemplate",
				   resource_uri_templates[i], "name",
				   about[i][0], "description", about[i][1]));
	return templates;
}

/* ---- resources/read ---- */

/* What a content costs beside its URI, twice, and its bytes. */
#define CONTENT_FIXED 512u

/* The longest front of text, in whole characters, that costs at most max. */
static size_t
text_within(struct span text, size_t max)
{
	struct span front = text;
	bool valid;

	if (jsonrpc_text_cost(text) <= max)
		return text.n;
	front.n = 0;
	for (size_t cost = 0;;) {
		struct span rest = { text.p + front.n, text.n - front.n };
		size_t n = text_char(rest, &valid);

		rest.n = n;
		cost += jsonrpc_text_cost(rest);
		if (n == 0 || cost > max)
			return front.n;
		front.n += n;
	}
}

static json_t *
base64_of(struct span bytes)
{
	own_buf struct buf text;

	buf_init(&text, (bytes.n + 2) / 3 * 4);
	if (base64_write(BASE64_PADDED, bytes, &text) < 0)
		return NULL;
	return text.n > 0 ? json_stringn((const char *)text.p, text.n)
			  : json_string("");
}

/* What is read: part of the whole. */
struct part {
	uint64_t offset;
	struct span bytes;
	bool text;
};

/* As much of what is asked for as fits max bytes of a message. */
static struct part
part_of(const struct stored *stored, const struct resource_uri *uri, size_t max)
{
	struct part part = { .offset = uri->offset, .bytes = stored->bytes };

	if (part.offset > part.bytes.n)
		part.offset = part.bytes.n;
	if (part.offset > 0) { /* what is empty has no pointer */
		part.bytes.p += part.offset;
		part.bytes.n -= (size_t)part.offset;
	}
	if (part.bytes.n > uri->length)
		part.bytes.n = (size_t)uri->length;
	if (part.bytes.n > max) {
		part.bytes.n = max;
		/* Not within a character. */
		while (stored->text && part.bytes.n > 0 &&
		       (part.bytes.p[part.bytes.n] & 0xc0) == 0x80)
			part.bytes.n--;
	}
	part.text = stored->text && media_is_text(part.bytes);
	if (part.text)
		part.bytes.n = text_within(part.bytes, max);
	else if (part.bytes.n > max / 4 * 3)
		part.bytes.n = max / 4 * 3;
	return part;
}

/* A resource of which only a part was asked for, or fits, is named with its
 * range; what follows it has a name too. */
static void
name_part(json_t *content, const struct stored *stored, const struct part *part)
{
	uint64_t end = part->offset + part->bytes.n;
	json_t *range = json_pack("{s:I, s:I, s:I}", "offset",
	    (json_int_t)part->offset, "length", (json_int_t)part->bytes.n,
	    "size", (json_int_t)stored->bytes.n);

	if (end < stored->bytes.n)
		(void)json_object_set_new(range, "next",
		    json_sprintf("%s?offset=%" PRIu64, stored->uri, end));
	(void)json_object_set_new(content, "uri",
	    json_sprintf("%s?offset=%" PRIu64 "&length=%zu", stored->uri,
		part->offset, part->bytes.n));
	(void)json_object_set_new(
	    content, "_meta", json_pack("{s:o}", "breakroom/range", range));
}

static json_t *
on_read(void *arg, const struct request *request, const char *uri_text)
{
	struct store *store = arg;
	struct answer_form form = request_form(request);
	struct resource_uri uri;
	struct stored stored;
	struct part part;
	json_t *content, *bytes;
	size_t fixed;

	if (!resource_uri_parse(uri_text, &uri) ||
	    !store_find(store, request->principal, &uri, clock_us(), &stored))
		return NULL;
	fixed = CONTENT_FIXED + 2 * strlen(stored.uri);
	part = part_of(
	    &stored, &uri, form.bytes_max > fixed ? form.bytes_max - fixed : 0);
	content =
	    json_pack("{s:s, s:s}", "uri", stored.uri, "mimeType", stored.type);
	if (uri.ranged || part.bytes.n < stored.bytes.n)
		name_part(content, &stored, &part);
	/* A stream without bytes has no pointer either. */
	bytes = part.text ? json_stringn(
				part.bytes.n ? (const char *)part.bytes.p : "",
				part.bytes.n)
			  : base64_of(part.bytes);
	(void)json_object_set_new(content, part.text ? "text" : "blob", bytes);
	return json_pack("[o]", content);
}

const struct resource_source store_resources = {
	.list = on_list,
	.templates = on_templates,
	.read = on_read,
};
