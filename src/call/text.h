/* text.h: bytes of a program's output to text that can be shown.
 * Hostile input: the bytes. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_TEXT_H
#define CALL_TEXT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* The length in bytes of the character at the front of bytes, as a decoder
 * with replacement reads it: a valid character, or the longest part of one
 * that is replaced by a single U+FFFD. *ret_valid says which. 0 at the end. */
size_t text_char(struct span bytes, bool *ret_valid);

/* Characters in bytes, replacements counted. */
uint64_t text_count(struct span bytes);

/* The same for bytes that are known to be valid, in a fraction of the time. */
uint64_t text_count_valid(struct span bytes);

/* The last n characters of bytes that are known to be valid. */
struct span text_last_valid(struct span bytes, uint64_t n);

/* Adds at most max characters from the front of bytes, replacing what is not
 * valid UTF-8 by U+FFFD. 0 or what buf_add gives. */
int text_add(struct buf *buf, struct span bytes, uint64_t max);

/* The same, and takes off *bytes and *max what was added. */
int text_take(struct buf *buf, struct span *bytes, uint64_t *max);

/* The part of bytes after its first n characters. */
struct span text_skip(struct span bytes, uint64_t n);

#endif
