/* suggest.h: the word that somebody probably meant.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_SUGGEST_H
#define CONF_SUGGEST_H

#include <stddef.h>

#define SUGGEST_WORD_MAX 32 /* longer words are nobody's slip */

struct suggestion {
	const char *word; /* NULL: nothing is near */
	unsigned distance;
};

/* Keeps in *best whichever is nearer to the n bytes at typed: candidate or
 * what *best holds. Borrows candidate. */
void suggest(struct suggestion *best, const char *candidate, const char *typed,
    size_t n);

#endif
