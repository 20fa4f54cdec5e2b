/* suggest.c: edit distance between short words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/suggest.h"

#include <string.h>

static unsigned
least(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Insertions, deletions and replacements that make b of a. */
static unsigned
edit_distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned row[SUGGEST_WORD_MAX + 1];

	for (size_t j = 0; j <= m; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned above = row[j];

			row[j] = least(above + 1, row[j - 1] + 1,
			    diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[m];
}

void
suggest(
    struct suggestion *best, const char *candidate, const char *typed, size_t n)
{
	size_t m = strlen(candidate);
	size_t distance;

	if (n == 0 || n > SUGGEST_WORD_MAX || m > SUGGEST_WORD_MAX)
		return;
	distance = edit_distance(typed, n, candidate, m);
	/* A third of the letters wrong is a slip, more is another word. */
	if (distance * 3 > m + 1)
		return;
	if (!best->word || distance < best->distance)
		*best = (struct suggestion){ candidate, (unsigned)distance };
}
