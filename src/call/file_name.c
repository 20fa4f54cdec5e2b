/* file_name.c: names of files, judged and shown.
 * Hostile input: the names. Pure; fuzzed by fuzz_files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/file_name.h"

#include "base/hex.h"
#include "call/text.h"

#include <string.h>

bool
file_name_is_plain(struct span name)
{
	size_t start = 0;

	if (name.n == 0 || memchr(name.p, 0, name.n))
		return false;
	for (size_t i = 0; i <= name.n; i++) {
		size_t n = i - start;

		if (i < name.n && name.p[i] != '/')
			continue;
		if (n == 0 || (n == 1 && name.p[start] == '.') ||
		    (n == 2 && memcmp(name.p + start, "..", 2) == 0))
			return false;
		start = i + 1;
	}
	return true;
}

/* Not what a name may do to the line that it is shown on: end it, colour it,
 * or turn it around. */
static bool
char_is_shown(const uint8_t *p, size_t n)
{
	if (n == 1)
		return *p >= 0x20 && *p != 0x7f;
	if (n == 2)
		return p[0] != 0xc2 || p[1] >= 0xa0; /* U+0080 to U+009F */
	if (n == 3 && p[0] == 0xe2 && p[1] == 0x80)
		return p[2] < 0x8e || (p[2] > 0x8f && p[2] < 0xa8) ||
		       p[2] > 0xae; /* U+200E, U+200F, U+2028 to U+202E */
	if (n == 3 && p[0] == 0xe2 && p[1] == 0x81)
		return p[2] < 0xa6 || p[2] > 0xa9; /* U+2066 to U+2069 */
	return true;
}

/* What is shown in place of the character; its length. */
static size_t
char_show(const uint8_t *p, size_t n, bool valid, char *shown)
{
	size_t at = 0;

	if (*p == '\\')
		shown[at++] = '\\';
	if (valid && char_is_shown(p, n)) {
		memcpy(shown + at, p, n);
		return at + n;
	}
	for (size_t i = 0; i < n; i++) {
		shown[at++] = '\\';
		shown[at++] = 'x';
		hex_write(p + i, 1, shown + at);
		at += 2;
	}
	return at;
}

void
file_name_show(struct span name, char *shown, size_t size)
{
	static const char cut[] = "...";
	size_t left = size - sizeof(cut), n;
	bool valid;

	while ((n = text_char(name, &valid)) > 0) {
		char one[17]; /* four bytes as \xNN, and a NUL */
		size_t one_n = char_show(name.p, n, valid, one);

		if (one_n > left) {
			memcpy(shown, cut, sizeof(cut));
			return;
		}
		memcpy(shown, one, one_n);
		shown += one_n;
		left -= one_n;
		name.p += n;
		name.n -= n;
	}
	*shown = '\0';
}
