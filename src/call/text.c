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

/* Most characters that are not ASCII, without the cases at the borders. */
static size_t
plain_char(struct span bytes)
{
	const uint8_t *p = bytes.p;

	if (bytes.n >= 2 && p[0] >= 0xc2 && p[0] <= 0xdf)
		return (p[1] & 0xc0) == 0x80 ? 2 : 0;
	if (bytes.n >= 3 && p[0] > 0xe0 && p[0] < 0xf0 && p[0] != 0xed)
		return (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80 ? 3 : 0;
	return 0;
}

/* The length of the run of valid characters at the front, at most *max of
 * them; *max loses as many. */
static size_t
valid_run(struct span bytes, uint64_t *max)
{
	size_t whole = bytes.n;

	while (*max > 0 && bytes.n > 0) {
		bool valid = true;
		uint64_t chars = 1;
		size_t n;

		if (bytes.p[0] < 0x80)
			chars = n = ascii_run(bytes, *max);
		else
			n = plain_char(bytes);
		if (n == 0)
			n = text_char(bytes, &valid);
		if (!valid)
			break;
		*max -= chars;
		bytes.p += n;
		bytes.n -= n;
	}
	return whole - bytes.n;
}

/* Takes valid characters off the front, then one that is not, if max allows.
 * What was valid, and whether one was not. */
static struct span
take_run(struct span *bytes, uint64_t *max, bool *ret_bad)
{
	struct span run = { bytes->p, valid_run(*bytes, max) };

	bytes->p += run.n;
	bytes->n -= run.n;
	*ret_bad = *max > 0 && bytes->n > 0;
	if (*ret_bad) {
		bool valid;
		size_t n = text_char(*bytes, &valid);

		bytes->p += n;
		bytes->n -= n;
		*max -= 1;
	}
	return run;
}

struct span
text_skip(struct span bytes, uint64_t n)
{
	bool bad;

	while (n > 0 && bytes.n > 0)
		(void)take_run(&bytes, &n, &bad);
	return bytes;
}

uint64_t
text_count(struct span bytes)
{
	uint64_t left = UINT64_MAX;
	bool bad;

	while (bytes.n > 0)
		(void)take_run(&bytes, &left, &bad);
	return UINT64_MAX - left;
}

uint64_t
text_count_valid(struct span bytes)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t inner = 0; /* bytes of 10xxxxxx */
	size_t n = 0;

	for (; n + sizeof(uint64_t) <= bytes.n; n += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, bytes.p + n, sizeof(word));
		inner += ((word >> 7 & ~word >> 6 & ones) * ones) >> 56;
	}
	for (; n < bytes.n; n++)
		inner += (bytes.p[n] & 0xc0) == 0x80;
	return bytes.n - inner;
}

struct span
text_last_valid(struct span bytes, uint64_t n)
{
	size_t at = bytes.n;

	while (n > 0 && at > 0)
		n -= (bytes.p[--at] & 0xc0) != 0x80;
	if (at > 0) { /* what is empty has no pointer */
		bytes.p += at;
		bytes.n -= at;
	}
	return bytes;
}

int
text_take(struct buf *buf, struct span *bytes, uint64_t *max)
{
	static const uint8_t replacement[] = { 0xef, 0xbf, 0xbd };
	int r = 0;

	while (*max > 0 && bytes->n > 0 && r == 0) {
		bool bad;
		struct span run = take_run(bytes, max, &bad);

		r = buf_add(buf, run.p, run.n);
		if (r == 0 && bad)
			r = buf_add(buf, replacement, sizeof(replacement));
	}
	return r;
}

int
text_add(struct buf *buf, struct span bytes, uint64_t max)
{
	return text_take(buf, &bytes, &max);
}
