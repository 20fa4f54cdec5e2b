/* hex.h: bytes as hexadecimal digits, and back. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes n bytes as 2 * n digits in lower case, and a NUL. */
void hex_write(const uint8_t *bytes, size_t n, char *ret_text);

/* Reads n bytes from 2 * n digits of either case; false: there are others. */
bool hex_read(const char *text, size_t n, uint8_t *ret_bytes);

/* The value of a digit of either case; -1: it is none. */
int hex_value(uint8_t c);

#endif
