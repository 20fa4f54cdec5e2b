/* run_catalog.h: what the product offers: the tool run_python, and what its
 * calls leave behind.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_RUN_CATALOG_H
#define MCP_RUN_CATALOG_H

#include "conf/conf.h"
#include "mcp/catalog.h"
#include "mcp/store.h"

struct run_catalog;

/* text is the tool's description. Borrows both. NULL without memory. */
struct run_catalog *run_catalog_new(const struct conf *conf, const char *text);

/* Offers the list of packages, a JSON object, as a resource too. Borrows it. */
void run_catalog_packages(struct run_catalog *run_catalog, const char *list);

/* For mcp_new. */
const struct catalog *run_catalog_face(const struct run_catalog *run_catalog);

/* What is kept; NULL: nothing. */
struct store *run_catalog_store(const struct run_catalog *run_catalog);

/* After mcp_close, and after the loop has run: calls refer to it. */
void run_catalog_free(struct run_catalog *run_catalog);

#endif
