/* packages_resource.c: one resource more than the store's.
 * Hostile input: a client's URI and cursor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/packages_resource.h"

#include "mcp/resources.h"

#include <string.h>

#define PACKAGES_TYPE "application/json"

static bool
on_list(void *arg, const struct request *request, const char *cursor,
    struct resource_page *ret_page)
{
	const struct packages_resource *own = arg;

	if (own->store) {
		if (!store_resources.list(
			own->store, request, cursor, ret_page))
			return false;
	} else if (*cursor) {
		return false;
	} else {
		*ret_page = (struct resource_page){ json_array(), "" };
	}
	if (!*cursor)
		(void)json_array_insert_new(ret_page->resources, 0,
		    json_pack("{s:s, s:s, s:s, s:s, s:I}", "uri", PACKAGES_URI,
			"name", "packages", "description",
			"What programs may import, with versions.", "mimeType",
			PACKAGES_TYPE, "size", (json_int_t)strlen(own->text)));
	return true;
}

static json_t *
on_templates(void *arg, const struct revision *revision)
{
	const struct packages_resource *own = arg;

	return own->store ? store_resources.templates(own->store, revision)
			  : json_array();
}

static json_t *
on_read(void *arg, const struct request *request, const char *uri)
{
	const struct packages_resource *own = arg;

	if (strcmp(uri, PACKAGES_URI) == 0)
		return json_pack("[{s:s, s:s, s:s}]", "uri", PACKAGES_URI,
		    "mimeType", PACKAGES_TYPE, "text", own->text);
	return own->store ? store_resources.read(own->store, request, uri)
			  : NULL;
}

const struct resource_source packages_resources = {
	.list = on_list,
	.templates = on_templates,
	.read = on_read,
};
