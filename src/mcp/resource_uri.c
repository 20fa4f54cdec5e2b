/* resource_uri.c: URIs of resources, read and written.
 * Hostile input: a client's URI. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/resource_uri.h"

#include "base/hex.h"

#include <string.h>

#define CALL_PREFIX "breakroom://call/"

const char *const resource_uri_templates[RESOURCE_PARTS] = {
	[RESOURCE_STDOUT] = CALL_PREFIX "{id}/stdout{?offset,length}",
	[RESOURCE_STDERR] = CALL_PREFIX "{id}/stderr{?offset,length}",
	[RESOURCE_FILE] = CALL_PREFIX "{id}/files/{+name}{?offset,length}",
	[RESOURCE_IMAGE] = CALL_PREFIX "{id}/images/{name}{?offset,length}",
};

/* Takes a prefix off *text, if it is there. */
static bool
skip(const char **text, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(*text, prefix, n) != 0)
		return false;
	*text += n;
	return true;
}

static bool
take_id(const char **text, char id[RESOURCE_ID_SIZE])
{
	size_t n = strspn(*text, "0123456789abcdef");

	if (n != RESOURCE_ID_SIZE - 1)
		return false;
	memcpy(id, *text, n);
	id[n] = '\0';
	*text += n;
	return true;
}

/* The next byte of a name; -1: none may stand like this. */
static int
take_byte(const char **text)
{
	const char *p = *text;
	int high, low;

	if (*p != '%') {
		(*text)++;
		return (unsigned char)*p <= ' ' || *p == 0x7f || *p == '#'
			   ? -1
			   : (unsigned char)*p;
	}
	high = hex_value((uint8_t)p[1]);
	low = high < 0 ? -1 : hex_value((uint8_t)p[2]);
	if (low < 0 || high * 16 + low == 0)
		return -1;
	*text += 3;
	return high * 16 + low;
}

/* No name that a file of ours could have leads up or nowhere; those that do
 * are refused here, before they are compared with any. */
static bool
name_is_plain(const char *name)
{
	for (;;) {
		size_t n = strcspn(name, "/");

		if (n == 0 || (n == 1 && name[0] == '.') ||
		    (n == 2 && name[0] == '.' && name[1] == '.'))
			return false;
		if (name[n] == '\0')
			return true;
		name += n + 1;
	}
}

static bool
take_name(const char **text, char *name)
{
	size_t n = 0;

	while (**text && **text != '?') {
		int byte = take_byte(text);

		if (byte < 0)
			return false;
		name[n++] = (char)byte; /* shorter than the URI */
	}
	name[n] = '\0';
	return name_is_plain(name);
}

static bool
take_part(const char **text, struct resource_uri *uri)
{
	if (skip(text, "/stdout")) {
		uri->part = RESOURCE_STDOUT;
		return true;
	}
	if (skip(text, "/stderr")) {
		uri->part = RESOURCE_STDERR;
		return true;
	}
	uri->part = skip(text, "/images/") ? RESOURCE_IMAGE : RESOURCE_FILE;
	return (uri->part == RESOURCE_IMAGE || skip(text, "/files/")) &&
	       take_name(text, uri->name);
}

static bool
take_number(const char **text, uint64_t *ret_number)
{
	size_t n = strspn(*text, "0123456789");

	if (n == 0 || n > 15)
		return false;
	*ret_number = 0;
	for (size_t i = 0; i < n; i++)
		*ret_number = *ret_number * 10 + (uint64_t)((*text)[i] - '0');
	*text += n;
	return true;
}

static bool
take_range(const char **text, struct resource_uri *uri)
{
	bool more = true;

	if (**text == '\0')
		return true;
	if (!skip(text, "?"))
		return false;
	uri->ranged = true;
	if (skip(text, "offset=")) {
		if (!take_number(text, &uri->offset))
			return false;
		more = skip(text, "&");
	}
	if (!more)
		return true;
	return skip(text, "length=") && take_number(text, &uri->length) &&
	       uri->length > 0;
}

bool
resource_uri_parse(const char *text, struct resource_uri *ret_uri)
{
	ret_uri->ranged = false;
	ret_uri->offset = 0;
	ret_uri->length = UINT64_MAX;
	ret_uri->name[0] = '\0';
	return strnlen(text, RESOURCE_URI_MAX) < RESOURCE_URI_MAX &&
	       skip(&text, CALL_PREFIX) && take_id(&text, ret_uri->id) &&
	       take_part(&text, ret_uri) && take_range(&text, ret_uri) &&
	       *text == '\0';
}

static bool
is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c != '\0' && strchr("-._~/", c));
}

int
resource_uri_add(
    struct buf *into, const char *id, enum resource_part part, const char *name)
{
	static const char *const paths[RESOURCE_PARTS] = {
		[RESOURCE_STDOUT] = "stdout",
		[RESOURCE_STDERR] = "stderr",
		[RESOURCE_FILE] = "files/",
		[RESOURCE_IMAGE] = "images/",
	};
	int r = buf_printf(into, CALL_PREFIX "%s/%s", id, paths[part]);

	if (part != RESOURCE_FILE && part != RESOURCE_IMAGE)
		return r;
	for (; r == 0 && *name; name++)
		r = is_unreserved(*name)
			? buf_add(into, name, 1)
			: buf_printf(into, "%%%02X", (unsigned char)*name);
	return r;
}
