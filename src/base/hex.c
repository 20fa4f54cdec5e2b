/* hex.c: hexadecimal digits.
 * Hostile input: what is read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/hex.h"

void
hex_write(const uint8_t *bytes, size_t n, char *ret_text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		*ret_text++ = digits[bytes[i] >> 4];
		*ret_text++ = digits[bytes[i] & 15];
	}
	*ret_text = '\0';
}

int
hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool
hex_read(const char *text, size_t n, uint8_t *ret_bytes)
{
	for (size_t i = 0; i < n; i++) {
		int high = hex_value((uint8_t)text[2 * i]);
		int low = high < 0 ? -1 : hex_value((uint8_t)text[2 * i + 1]);

		if (low < 0)
			return false;
		ret_bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}
