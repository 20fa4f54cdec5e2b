/* header_value.h: values of HTTP headers that repeat values of a message's
 * body: in plain ASCII, or as "=?base64?...?=" of UTF-8. Pure.
 * Hostile input: a client's headers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_HEADER_VALUE_H
#define MCP_HEADER_VALUE_H

#include "base/buf.h"

#include <jansson.h>
#include <stdbool.h>

/* True if value is a string of just these bytes. */
bool header_equals(struct span header, const json_t *value);

/* True if the header, decoded where it is encoded, says value: a string, an
 * integer or a boolean. */
bool header_encodes(struct span header, const json_t *value);

#endif
