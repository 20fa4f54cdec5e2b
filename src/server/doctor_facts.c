/* doctor_facts.c: lines of a name, a tab and a value.
 * Hostile input: all of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/doctor_facts.h"

#include <stdio.h>
#include <string.h>

const char *const fact_names[FACTS] = { "python", "system", "uid",
	"capabilities", "no_new_privs", "seccomp", "memory", "processes",
	"cpus", "workspace", "tmp", "root", "interfaces" };

/* The part of text before the byte c; *ret_rest is what follows it. False:
 * there is no such byte. */
static bool
cut(struct span text, char c, struct span *ret_part, struct span *ret_rest)
{
	const uint8_t *end = text.n > 0 ? memchr(text.p, c, text.n) : NULL;
	const size_t n = end ? (size_t)(end - text.p) : text.n;

	*ret_part = (struct span){ text.p, n };
	*ret_rest = end ? (struct span){ end + 1, text.n - n - 1 }
			: (struct span){ NULL, 0 };
	return end != NULL;
}

static void
take(struct span value, char ret_text[FACT_MAX])
{
	const size_t n = value.n < FACT_MAX ? value.n : FACT_MAX - 1;

	for (size_t i = 0; i < n; i++)
		ret_text[i] =
		    (char)(value.p[i] >= ' ' && value.p[i] < 0x7f ? value.p[i]
								  : '?');
	ret_text[n] = '\0';
}

bool
facts_read(struct span lines, struct facts *ret_facts)
{
	bool told = false;

	memset(ret_facts, 0, sizeof(*ret_facts));
	while (lines.n > 0) {
		struct span line, name, value;

		(void)cut(lines, '\n', &line, &lines);
		if (!cut(line, '\t', &name, &value))
			continue;
		for (unsigned i = 0; i < FACTS; i++) {
			if (!span_is(name, fact_names[i]))
				continue;
			take(value, ret_facts->text[i]);
			told = told || value.n > 0;
		}
	}
	return told;
}

void
facts_line(const struct facts *facts, char *ret_line, size_t n)
{
	size_t used = 0;

	ret_line[0] = '\0';
	for (unsigned i = 0; i < FACTS; i++) {
		if (!facts->text[i][0] || used >= n)
			continue;
		used += (size_t)snprintf(ret_line + used, n - used, "%s%s %s",
		    used > 0 ? ", " : "", fact_names[i], facts->text[i]);
	}
}
