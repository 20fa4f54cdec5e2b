/* strings.h: the strings of a configuration that nobody else holds.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_STRINGS_H
#define CONF_STRINGS_H

#include <stddef.h>

struct conf_strings;

/* A copy of the n bytes at text as a string, which lives until strings_free.
 * *strings may be NULL at first. NULL: no memory. */
const char *strings_add(
    struct conf_strings **strings, const char *text, size_t n);

void strings_free(struct conf_strings *strings); /* NULL is fine */

#endif
