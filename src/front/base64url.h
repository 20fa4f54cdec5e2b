/* base64url.h: the alphabet of web tokens, read strictly: no padding, nothing
 * skipped, and one spelling for each value.
 * Hostile input: a client's token. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_BASE64URL_H
#define FRONT_BASE64URL_H

#include "base/buf.h"

/* Adds what text stands for to buf. 0; -EINVAL; what buf_add says. */
int base64url_read(struct span text, struct buf *buf);

/* Adds the text for bytes to buf. 0 or what buf_add says. */
int base64url_write(struct span bytes, struct buf *buf);

#endif
