/* packages_resource.h: the list of what programs may import, as a resource of
 * everybody's, in front of what calls have left behind.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_PACKAGES_RESOURCE_H
#define MCP_PACKAGES_RESOURCE_H

#include "mcp/catalog.h"
#include "mcp/store.h"

#define PACKAGES_URI "breakroom://packages"

/* Both borrowed. */
struct packages_resource {
	struct store *store; /* NULL: nothing is kept */
	const char *text;    /* a JSON object */
};

/* Its arg is a struct packages_resource. */
extern const struct resource_source packages_resources;

#endif
