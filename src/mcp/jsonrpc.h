/* jsonrpc.h: text to JSON-RPC messages and back. The only place that parses
 * JSON of a client; strict, and bounded before anything is allocated.
 * Hostile input: a client's bytes. Pure; fuzzed by fuzz_jsonrpc.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_JSONRPC_H
#define MCP_JSONRPC_H

#include "base/buf.h"
#include "mcp/message.h"

#include <jansson.h>
#include <stdbool.h>

/* Parses one message or batch. The value, owned by the caller; or NULL, and
 * *ret_broken is the error to answer with, carrying the request's id where it
 * could be read without doubt. */
json_t *jsonrpc_load(struct span text, struct message *ret_broken);

/* Says what a value is. *ret_message borrows from value, but for its id. */
void jsonrpc_classify(const json_t *value, struct message *ret_message);

/* Releases the id. */
void message_done(struct message *message);

/* New envelopes. result, data (may be NULL) and params are taken; id is
 * borrowed and may be NULL in an error: null_id then says whether the member
 * is null or left out. NULL without memory. */
json_t *jsonrpc_result(json_t *id, json_t *result);
json_t *jsonrpc_error(json_t *id, bool null_id, enum message_code code,
    const char *text, json_t *data);
json_t *jsonrpc_notification(const char *method, json_t *params);

/* Adds value as one line of text, without its end. 0 or what buf_add says. */
int jsonrpc_dump(const json_t *value, struct buf *buf);

/* What n bytes of valid UTF-8 cost inside a dumped string. */
size_t jsonrpc_text_cost(struct span text);

/* True if value may identify a request or progress: a string or an integer
 * of bounded size. */
bool json_is_id(const json_t *value);

/* True if value is a string that equals text, NULs in it counted. */
bool json_is_text(const json_t *value, const char *text);

/* The string for an error's sentence: cut at NAME_SHOWN_MAX bytes, at a
 * character's border, "..." where it was. name has NAME_SHOWN_SIZE bytes. */
#define NAME_SHOWN_SIZE 68u
const char *json_shown(const json_t *value, char *name);

#endif
