/* resources.h: a store's content over the protocol: resources/list, its pages
 * and their cursors; templates; resources/read, a part at a time where the whole
 * would not fit one message.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_RESOURCES_H
#define MCP_RESOURCES_H

#include "mcp/catalog.h"
#include "mcp/store.h"

/* Its arg is a struct store. */
extern const struct resource_source store_resources;

#endif
