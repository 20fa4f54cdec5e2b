/* base64.h: bytes as text (RFC 4648), read strictly: nothing is skipped, and
 * each value has one spelling.
 * Hostile input: tokens and headers of a client. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

enum base64_kind {
	BASE64_PADDED, /* "+" and "/", filled up with "=" */
	BASE64_URL,    /* "-" and "_", not filled up */
};

/* Adds what text stands for to buf. 0; -EINVAL; what buf_add says. */
int base64_read(enum base64_kind kind, struct span text, struct buf *buf);

/* Adds the text for bytes to buf. 0 or what buf_add says. */
int base64_write(enum base64_kind kind, struct span bytes, struct buf *buf);

#endif
