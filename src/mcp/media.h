/* media.h: what kind of thing a file is, by its name or its first bytes.
 * Hostile input: both. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_MEDIA_H
#define MCP_MEDIA_H

#include "base/buf.h"
#include "call/files.h"

#include <stdbool.h>

struct media {
	const char *type; /* a MIME type */
	bool text;        /* it is text, if its bytes are valid */
};

/* The type that the name alone says; NULL: it says none. */
const char *media_of_name(const char *name);

struct media media_of(const char *name, struct span bytes);

/* That of a file of a call's: by its bytes too, where they came along. NULL:
 * nothing says. */
const char *media_of_file(const struct file *file);

/* True if bytes are valid UTF-8 without NUL. */
bool media_is_text(struct span bytes);

#endif
