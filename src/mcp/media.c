/* media.c: types of files that programs usually write.
 * Hostile input: names and bytes. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/media.h"

#include "call/text.h"

#include <string.h>
#include <strings.h>

#define LOOKED_AT 4096u /* bytes of a file without a known name */

static const struct {
	const char *ending;
	struct media media;
} endings[] = {
	{ "txt", { "text/plain", true } },
	{ "log", { "text/plain", true } },
	{ "csv", { "text/csv", true } },
	{ "tsv", { "text/tab-separated-values", true } },
	{ "md", { "text/markdown", true } },
	{ "html", { "text/html", true } },
	{ "htm", { "text/html", true } },
	{ "css", { "text/css", true } },
	{ "py", { "text/x-python", true } },
	{ "js", { "text/javascript", true } },
	{ "json", { "application/json", true } },
	{ "xml", { "application/xml", true } },
	{ "yaml", { "application/yaml", true } },
	{ "yml", { "application/yaml", true } },
	{ "svg", { "image/svg+xml", true } },
	{ "png", { "image/png", false } },
	{ "jpg", { "image/jpeg", false } },
	{ "jpeg", { "image/jpeg", false } },
	{ "gif", { "image/gif", false } },
	{ "webp", { "image/webp", false } },
	{ "bmp", { "image/bmp", false } },
	{ "pdf", { "application/pdf", false } },
	{ "zip", { "application/zip", false } },
	{ "gz", { "application/gzip", false } },
	{ "xlsx", { "application/"
		    "vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		      false } },
	{ "wav", { "audio/wav", false } },
};

static const struct {
	const char *bytes;
	size_t n;
	const char *type;
} beginnings[] = {
	{ "\x89PNG\r\n\x1a\n", 8, "image/png" },
	{ "\xff\xd8\xff", 3, "image/jpeg" },
	{ "GIF8", 4, "image/gif" },
	{ "%PDF-", 5, "application/pdf" },
	{ "PK\3\4", 4, "application/zip" },
	{ "\x1f\x8b", 2, "application/gzip" },
};

static bool
is_text(struct span bytes, bool cut)
{
	bool valid;
	size_t n;

	if (bytes.n > 0 && memchr(bytes.p, 0, bytes.n))
		return false;
	while ((n = text_char(bytes, &valid)) > 0) {
		/* A character at the cut may be whole behind it. */
		if (!valid && !(cut && n == bytes.n))
			return false;
		bytes.p += n;
		bytes.n -= n;
	}
	return true;
}

bool
media_is_text(struct span bytes)
{
	return is_text(bytes, false);
}

static const struct media *
by_ending(const char *name)
{
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcasecmp(dot + 1, endings[i].ending) == 0)
			return &endings[i].media;
	return NULL;
}

const char *
media_of_name(const char *name)
{
	const struct media *media = by_ending(name);

	return media ? media->type : NULL;
}

const char *
media_of_file(const struct file *file)
{
	if (file->taken && file->bytes.n == file->size)
		return media_of(file->name, buf_span(&file->bytes)).type;
	return media_of_name(file->name);
}

struct media
media_of(const char *name, struct span bytes)
{
	const struct media *named = by_ending(name);
	bool cut = bytes.n > LOOKED_AT;

	if (named)
		return *named;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (bytes.n >= beginnings[i].n &&
		    memcmp(bytes.p, beginnings[i].bytes, beginnings[i].n) == 0)
			return (struct media){ beginnings[i].type, false };
	if (cut)
		bytes.n = LOOKED_AT;
	return is_text(bytes, cut)
		   ? (struct media){ "text/plain", true }
		   : (struct media){ "application/octet-stream", false };
}
