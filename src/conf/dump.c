/* dump.c: a configuration as a file that gives the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/own.h"
#include "conf/option_text.h"
#include "conf/paths.h"
#include "conf/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define VALUE_MAX (CONF_FILE_MAX / 2u)

/* "default", "FILE:LINE", "BREAKROOM_NAME" or "--name" */
static int
add_source(const struct settings *settings, size_t i, struct buf *into)
{
	char variable[OPTION_VARIABLE_MAX];

	switch (settings->from[i]) {
	case SOURCE_FILE:
		return buf_printf(into, "%s:%u", settings->conf.config_path,
		    settings->line[i]);
	case SOURCE_VARIABLE:
		option_variable(&option_table[i], variable);
		return buf_add_text(into, variable);
	case SOURCE_OPTION:
		return buf_printf(into, "--%s", option_table[i].name);
	case SOURCE_DEFAULT:
		break;
	}
	return buf_add_text(into, "default");
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Would libinih read the n bytes as they are, in a line that has room for
 * them? A ; behind a blank begins a comment. */
static bool
fits_line(const char *text, size_t n, size_t room)
{
	if (n == 0 || n > room || is_blank(text[0]) || is_blank(text[n - 1]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\t') ||
		    text[i] == 0x7f ||
		    (i > 0 && text[i] == ';' && is_blank(text[i - 1])))
			return false;
	return true;
}

/* "name = value", as tight as it must be. False: no line can hold it. */
static bool
add_line(const char *name, const char *text, size_t n, struct buf *into)
{
	const size_t tight = CONF_LINE_MAX - strlen(name) - 1;
	const char *sign =
	    n + 2 > tight || text[0] == ';' || text[0] == '#' ? "=" : " = ";

	return fits_line(text, n, tight) &&
	       buf_printf(into, "%s%s%.*s\n", name, sign, (int)n, text) == 0;
}

/* Items of a list: a line each. */
static bool
add_items(
    const struct option *option, const struct buf *value, struct buf *into)
{
	const char *text = (const char *)value->p;
	bool held = true;

	for (size_t at = 0; held && at < value->n;) {
		const char *comma = memchr(text + at, ',', value->n - at);
		size_t n = comma ? (size_t)(comma - text) - at : value->n - at;

		if (at == 0)
			held = add_line(option->name, text, n, into);
		else
			held = text[at] != ';' && text[at] != '#' &&
			       fits_line(text + at, n, CONF_LINE_MAX - 1) &&
			       buf_printf(
				   into, "\t%.*s\n", (int)n, text + at) == 0;
		at += n + 1;
	}
	return held;
}

static int
add_value(
    const struct option *option, const struct buf *value, struct buf *into)
{
	const bool list =
	    option->kind == OPTION_LIST || option->kind == OPTION_WALLS;
	const size_t before = into->n;

	if (list ? add_items(option, value, into)
		 : add_line(
		       option->name, (const char *)value->p, value->n, into))
		return 0;
	/* It came from elsewhere: a file's lines are shorter. */
	into->n = before;
	return buf_printf(
	    into, "# %s: a file cannot hold its value\n", option->name);
}

static int
add_setting(const struct settings *settings, size_t i, struct buf *into)
{
	const struct option *option = &option_table[i];
	own_buf struct buf value;
	int r = buf_add_text(into, "\n# ");

	buf_init(&value, VALUE_MAX);
	if (r == 0)
		r = add_source(settings, i, into);
	if (r == 0 && !option_is_set(option, &settings->conf))
		return buf_printf(into, ": %s\n# %s =\n",
		    option->standard ? option->standard : "no", option->name);
	if (r == 0)
		r = buf_add_text(into, "\n");
	if (r == 0)
		r = option_text(option, &settings->conf, &value);
	if (r == 0)
		r = add_value(option, &value, into);
	return r;
}

static int
add_section(const struct settings *settings, enum option_section section,
    struct buf *into)
{
	int r = buf_printf(into, "\n[%s]\n", option_section_name(section));

	for (size_t i = 0; r == 0 && i < option_count; i++)
		if (option_table[i].section == section)
			r = add_setting(settings, i, into);
	return r;
}

int
settings_dump(const struct settings *settings, struct buf *into)
{
	int r = buf_printf(into,
	    "# breakroom %s: the configuration in force, and where each "
	    "setting came from\n",
	    BREAKROOM_VERSION);

	for (unsigned i = SECTION_SERVER; r == 0 && i < SECTIONS; i++)
		r = add_section(settings, (enum option_section)i, into);
	return r;
}
