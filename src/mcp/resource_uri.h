/* resource_uri.h: the names of what calls leave behind:
 *
 *   breakroom://call/ID/stdout
 *   breakroom://call/ID/stderr
 *   breakroom://call/ID/files/NAME
 *   breakroom://call/ID/images/N.png
 *
 * each with "?offset=N&length=M", or one of the two, for a part of its bytes.
 * Hostile input: a client's URI. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_RESOURCE_URI_H
#define MCP_RESOURCE_URI_H

#include "base/buf.h"
#include "base/random_id.h"
#include "conf/limits.h"

#include <stdbool.h>
#include <stdint.h>

#define RESOURCE_ID_SIZE RANDOM_ID_SIZE

enum resource_part {
	RESOURCE_STDOUT,
	RESOURCE_STDERR,
	RESOURCE_FILE,
	RESOURCE_IMAGE
};

#define RESOURCE_PARTS (RESOURCE_IMAGE + 1)

struct resource_uri {
	char id[RESOURCE_ID_SIZE];
	enum resource_part part;
	char name[RESOURCE_URI_MAX]; /* decoded; of a file or image */
	bool ranged;                 /* the URI names a part: */
	uint64_t offset, length;     /* UINT64_MAX: to the end */
};

/* Reads a URI; no other spelling than the above is one, but that any character
 * of a name may be percent-encoded. */
bool resource_uri_parse(const char *text, struct resource_uri *ret_uri);

/* Adds the URI of a part of a call, without a range. 0 or what buf_add says. */
int resource_uri_add(struct buf *into, const char *id, enum resource_part part,
    const char *name);

/* The URIs as RFC 6570 templates, by enum resource_part. */
extern const char *const resource_uri_templates[RESOURCE_PARTS];

#endif
