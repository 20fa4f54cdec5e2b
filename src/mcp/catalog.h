/* catalog.h: what a server offers over the protocol core: its tools, its
 * resources, and methods beyond the core's own. The core calls; a catalog
 * answers through request.h, at once or later.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_CATALOG_H
#define MCP_CATALOG_H

#include "mcp/revision.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct method;
struct request;

struct tool {
	const char *name;
	/* A new tool object for tools/list; NULL: not for this revision. */
	json_t *(*describe)(void *arg, const struct revision *revision);
	/* Takes the request. arguments is an object or NULL, and lives as long
	 * as request->params. */
	void (*call)(void *arg, struct request *request, json_t *arguments);
	/* Its schema names headers that repeat arguments: param_headers.h. */
	bool has_param_headers;
	/* Whether a call of it may become a task, where the client declares
	 * the extension: see tasks.h. */
	bool may_be_task;
};

struct resource_page {
	json_t *resources; /* a new array */
	char next[64];     /* the cursor of the next page; "" without one */
};

struct resource_source {
	/* The page at cursor ("": the first). False: no such cursor. */
	bool (*list)(void *arg, const struct request *request,
	    const char *cursor, struct resource_page *ret_page);
	/* A new array of templates. */
	json_t *(*templates)(void *arg, const struct revision *revision);
	/* A new array of contents; NULL: there is no such resource for this
	 * request's principal. uri has no NUL in it. */
	json_t *(*read)(
	    void *arg, const struct request *request, const char *uri);
};

struct catalog {
	const char *name, *title; /* of the server */
	const char *instructions;
	const struct tool *tools;
	size_t tools_n;
	const struct resource_source *resources; /* NULL: none */
	const struct method *methods;            /* beyond the core's */
	size_t methods_n;
	/* Adds what the methods and changes of the catalog declare; NULL:
	 * nothing. The core declares tools and resources. */
	void (*declare)(
	    void *arg, json_t *capabilities, const struct revision *revision);
	/* What of it changes while it is served: declared, and told to those
	 * who asked (mcp_announce). */
	bool tools_change, prompts_change, resources_change;
	bool resources_watched; /* one by one */
	void *arg;              /* of the tools and declare */
	void *resources_arg;
};

#endif
