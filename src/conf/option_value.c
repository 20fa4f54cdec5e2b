/* option_value.c: numbers and lists as people write them on a command line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/option_value.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads digits, at least one; *text moves behind them. */
static int
digits(const char **text, uint64_t *ret_number)
{
	const char *p = *text;
	uint64_t number = 0;

	if (!is_digit(*p))
		return -EINVAL;
	for (; is_digit(*p); p++)
		if (__builtin_mul_overflow(number, 10u, &number) ||
		    __builtin_add_overflow(
			number, (uint64_t)(*p - '0'), &number))
			return -ERANGE;
	*text = p;
	*ret_number = number;
	return 0;
}

int
value_count(const char *text, uint64_t *ret_number)
{
	uint64_t number = 0;
	int r = digits(&text, &number);

	if (r < 0)
		return r;
	if (*text != '\0')
		return -EINVAL;
	*ret_number = number;
	return 0;
}

int
value_seconds(const char *text, uint64_t *ret_ms)
{
	uint64_t whole = 0, ms;
	uint64_t worth = 100;
	int r = digits(&text, &whole);

	if (r < 0)
		return r;
	if (__builtin_mul_overflow(whole, 1000u, &ms))
		return -ERANGE;
	if (*text == '.') {
		if (!is_digit(*++text))
			return -EINVAL;
		for (; worth > 0 && is_digit(*text); text++, worth /= 10)
			if (__builtin_add_overflow(
				ms, worth * (uint64_t)(*text - '0'), &ms))
				return -ERANGE;
	}
	if (*text != '\0')
		return -EINVAL;
	*ret_ms = ms;
	return 0;
}

/* The power of two of a unit, or -EINVAL. */
static int
unit_shift(const char *unit)
{
	static const char letters[] = "KMG";
	const char *letter;

	if (*unit == '\0' || strcasecmp(unit, "B") == 0)
		return 0;
	letter = strchr(letters, *unit & ~0x20);
	if (!letter || *letter == '\0')
		return -EINVAL;
	unit++;
	if (*unit != '\0' && strcasecmp(unit, "B") != 0 &&
	    strcasecmp(unit, "iB") != 0)
		return -EINVAL;
	return 10 * (int)(letter - letters + 1);
}

int
value_size(const char *text, uint64_t *ret_bytes)
{
	uint64_t number = 0;
	int r = digits(&text, &number);
	int shift;

	if (r < 0)
		return r;
	shift = unit_shift(text);
	if (shift < 0)
		return shift;
	if (number > UINT64_MAX >> shift)
		return -ERANGE;
	*ret_bytes = number << shift;
	return 0;
}

#define WALL_NAME_MAX 32 /* longer than any name */

int
value_walls(const char *text, wall_set *ret_walls)
{
	wall_set set = 0;

	for (;;) {
		size_t n = strcspn(text, ",");
		char name[WALL_NAME_MAX];
		enum wall wall;

		if (n >= sizeof(name))
			return -EINVAL;
		memcpy(name, text, n);
		name[n] = '\0';
		if (!wall_find(name, &wall))
			return -EINVAL;
		set |= WALL_BIT(wall);
		if (text[n] == '\0')
			break;
		text += n + 1;
	}
	*ret_walls = set;
	return 0;
}
