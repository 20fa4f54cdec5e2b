/* method.h: the methods that a client may call, and what answering them has in
 * common.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_METHOD_H
#define MCP_METHOD_H

#include "mcp/request.h"

/* Names of the protocol's own metadata. */
#define META_PREFIX       "io.modelcontextprotocol/"
#define META_VERSION      META_PREFIX "protocolVersion"
#define META_CAPABILITIES META_PREFIX "clientCapabilities"
#define META_CLIENT       META_PREFIX "clientInfo"
#define META_LOG_LEVEL    META_PREFIX "logLevel"
#define META_SERVER       META_PREFIX "serverInfo"
#define META_SUBSCRIPTION META_PREFIX "subscriptionId"

/* Which clients may call a method. */
enum audience {
	FOR_MODERN = 1,    /* a revision without a handshake */
	FOR_HANDSHAKE = 2, /* after it */
	FOR_NEW = 4,       /* before it */
};

struct method {
	const char *name;
	unsigned audience;
	void (*handle)(struct request *request); /* takes it */
	/* The parameter that the header Mcp-Name repeats, or NULL. */
	const char *named_by;
};

/* The method of that name, of the core or of the catalog; or NULL. */
const struct method *method_find(
    const struct catalog *catalog, const json_t *name);

/* Answers with a result (taken), to which what every result of its revision
 * has is added: resultType is "complete" unless it is there. */
void method_answer(struct request *request, json_t *result);

/* The same for a request that goes on: see request_answer_early. */
void method_answer_early(struct request *request, json_t *result);

/* The same for a result that any client may keep for LIST_TTL_MS. */
void method_answer_cacheable(struct request *request, json_t *result);

/* The cursor of a list whose entries fit one page: true if there is none; else
 * the request was refused. */
bool method_first_page(struct request *request);

/* ---- subscription.c ---- */

void method_listen(struct request *request);

/* Answers a subscription: the server is about to end. */
void method_end_subscription(struct request *request);

#endif
