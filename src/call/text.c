/* text.c: UTF-8 with replacement, after the rule of the Unicode standard
 * (3.9, U+FFFD substitution of maximal subparts), which is also Python's.
 * Hostile input: the bytes. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/text.h"

#include <string.h>

/* The least and greatest second byte after each lead byte, and the length. */
struct lead {
	uint8_t length, low, high;
};

static struct lead
lead_of(uint8_t byte)
{
	if (byte >= 0xc2 && byte <= 0xdf)
		return (struct lead){ 2, 0x80, 0xbf };
	if (byte == 0xe0)
		return (struct lead){ 3, 0xa0, 0xbf };
	if (byte == 0xed) /* no surrogates */
		return (struct lead){ 3, 0x80, 0x9f };
	if (byte >= 0xe1 && byte <= 0xef)
		return (struct lead){ 3, 0x80, 0xbf };
	if (byte == 0xf0)
		return (struct lead){ 4, 0x90, 0xbf };
	if (byte >= 0xf1 && byte <= 0xf3)
		return (struct lead){ 4, 0x80, 0xbf };
	if (byte == 0xf4) /* nothing above U+10FFFF */
		return (struct lead){ 4, 0x80, 0x8f };
	return (struct lead){ 1, 0, 0 };
}

size_t
text_char(struct span bytes, bool *ret_valid)
{
	struct lead lead;
	size_t n;

	*ret_valid = true;
	if (bytes.n == 0)
		return 0;
	if (bytes.p[0] < 0x80)
		return 1;
	lead = lead_of(bytes.p[0]);
	*ret_valid = false;
	if (lead.length == 1 || bytes.n < 2 || bytes.p[1] < lead.low ||
	    bytes.p[1] > lead.high)
		return 1;
	for (n = 2; n < lead.length; n++)
		if (n >= bytes.n || (bytes.p[n] & 0xc0) != 0x80)
			return n;
	*ret_valid = true;
	return n;
}

/* The length of the run of plain ASCII at the front, at most max. */
static size_t
ascii_run(struct span bytes, uint64_t max)
{
	const uint64_t high = 0x8080808080808080u;
	size_t limit = max < bytes.n ? (size_t)max : bytes.n;
	size_t n = 0;

	while (n + sizeof(uint64_t) <= limit) {
		uint64_t word;

		memcpy(&word, bytes.p + n, sizeof(word));
		if (word & high)
			break;
		n += sizeof(word);
	}
	while (n < limit && bytes.p[n] < 0x80)
		n++;
	return n;
}

struct span
text_skip(struct span bytes, uint64_t n)
{
	bool valid;

	while (n > 0 && bytes.n > 0) {
		size_t run = ascii_run(bytes, n);
		size_t step = run ? run : text_char(bytes, &valid);

		n -= run ? run : 1;
		bytes.p += step;
		bytes.n -= step;
	}
	return bytes;
}

uint64_t
text_count(struct span bytes)
{
	uint64_t count = 0;
	bool valid;

	while (bytes.n > 0) {
		size_t run = ascii_run(bytes, bytes.n);
		size_t step = run ? run : text_char(bytes, &valid);

		count += run ? run : 1;
		bytes.p += step;
		bytes.n -= step;
	}
	return count;
}

int
text_add(struct buf *buf, struct span bytes, uint64_t max)
{
	static const uint8_t replacement[] = { 0xef, 0xbf, 0xbd };
	int r = 0;

	while (max > 0 && bytes.n > 0 && r == 0) {
		size_t run = ascii_run(bytes, max);
		bool valid = true;
		size_t step = run ? run : text_char(bytes, &valid);

		r = valid ? buf_add(buf, bytes.p, step)
			  : buf_add(buf, replacement, sizeof(replacement));
		max -= run ? run : 1;
		bytes.p += step;
		bytes.n -= step;
	}
	return r;
}
