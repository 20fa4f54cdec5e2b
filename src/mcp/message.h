/* message.h: what one JSON-RPC message of a client turned out to be.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_MESSAGE_H
#define MCP_MESSAGE_H

#include <jansson.h>

enum message_kind {
	MESSAGE_INVALID, /* to be answered by an error */
	MESSAGE_REQUEST,
	MESSAGE_NOTIFICATION,
	MESSAGE_RESPONSE, /* to a request that we never sent */
};

/* The codes of errors that we send, and no others. */
enum message_code {
	CODE_PARSE_ERROR = -32700,
	CODE_INVALID_REQUEST = -32600,
	CODE_METHOD_NOT_FOUND = -32601,
	CODE_INVALID_PARAMS = -32602,
	CODE_INTERNAL_ERROR = -32603,
	CODE_HEADER_MISMATCH = -32020,
	CODE_MISSING_CAPABILITY = -32021,
	CODE_UNSUPPORTED_VERSION = -32022,
	CODE_RESOURCE_NOT_FOUND = -32002, /* before 2026-07-28 */
};

struct message {
	enum message_kind kind;
	const json_t *method;   /* a string, borrowed from the value */
	json_t *params;         /* an object borrowed from the value, or NULL */
	json_t *id;             /* owned: a string or integer, or NULL */
	enum message_code code; /* of the error, if the kind is invalid */
	const char *why;        /* its sentence, a literal */
};

#endif
