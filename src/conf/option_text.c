/* option_text.c: values of options as one would write them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/option_text.h"

#include "conf/limits.h"

#include <stdio.h>
#include <string.h>

#define NUMBER_TEXT_MAX 32

static void
seconds_text(uint64_t ms, char ret_text[NUMBER_TEXT_MAX])
{
	int n = snprintf(ret_text, NUMBER_TEXT_MAX, "%llu.%03u",
	    (unsigned long long)(ms / 1000), (unsigned)(ms % 1000));

	while (ret_text[n - 1] == '0')
		n--;
	if (ret_text[n - 1] == '.')
		n--;
	ret_text[n] = '\0';
}

static void
size_text(uint64_t bytes, char ret_text[NUMBER_TEXT_MAX])
{
	static const char units[] = "KMG";
	char unit[2] = "";

	for (int i = 0; units[i] && bytes > 0 && bytes % KIB == 0; i++) {
		bytes /= KIB;
		unit[0] = units[i];
	}
	(void)snprintf(ret_text, NUMBER_TEXT_MAX, "%llu%s",
	    (unsigned long long)bytes, unit);
}

static void
number_text(
    enum option_kind kind, uint64_t number, char ret_text[NUMBER_TEXT_MAX])
{
	if (kind == OPTION_SECONDS)
		seconds_text(number, ret_text);
	else if (kind == OPTION_SIZE)
		size_text(number, ret_text);
	else
		(void)snprintf(ret_text, NUMBER_TEXT_MAX, "%llu",
		    (unsigned long long)number);
}

void
option_range(const struct option *option, char ret_text[OPTION_RANGE_MAX])
{
	char min[NUMBER_TEXT_MAX], max[NUMBER_TEXT_MAX];

	number_text(option->kind, option->min, min);
	number_text(option->kind, option->max, max);
	(void)snprintf(
	    ret_text, OPTION_RANGE_MAX, "from %.24s to %.24s", min, max);
}

void
option_show(const char *value, char ret_text[OPTION_SHOWN_MAX])
{
	const size_t most = OPTION_SHOWN_MAX - 4;
	size_t n = strlen(value);
	size_t shown = n > most ? most : n;

	memcpy(ret_text, value, shown);
	for (size_t i = 0; i < shown; i++)
		if ((unsigned char)ret_text[i] < ' ' || ret_text[i] == 0x7f)
			ret_text[i] = '?';
	memcpy(ret_text + shown, n > shown ? "..." : "", n > shown ? 4 : 1);
}

void
option_variable(const struct option *option, char ret_name[OPTION_VARIABLE_MAX])
{
	(void)snprintf(
	    ret_name, OPTION_VARIABLE_MAX, "BREAKROOM_%s", option->name);
	for (char *p = ret_name; *p; p++)
		if (*p == '-')
			*p = '_';
		else if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - ('a' - 'A'));
}

static int
list_text(const struct conf_list *list, struct buf *into)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < list->n; i++)
		r = buf_printf(into, "%s%s", i ? "," : "", list->items[i]);
	return r;
}

int
option_text(
    const struct option *option, const struct conf *conf, struct buf *into)
{
	const void *field = (const char *)conf + option->offset;
	char number[NUMBER_TEXT_MAX], walls[WALL_NAMES_MAX];
	const char *text;
	wall_set set;
	uint64_t wide;
	uint32_t narrow;

	switch (option->kind) {
	case OPTION_FLAG:
		return buf_add_text(into, *(const bool *)field ? "yes" : "no");
	case OPTION_TEXT:
		memcpy(&text, field, sizeof(text));
		return buf_add_text(into, text ? text : "");
	case OPTION_LIST:
		return list_text(field, into);
	case OPTION_WALLS:
		memcpy(&set, field, sizeof(set));
		wall_names(set, walls);
		return buf_add_text(into, walls);
	case OPTION_CHOICE:
		memcpy(&narrow, field, sizeof(narrow));
		return buf_add_text(into, option->choices[narrow]);
	case OPTION_SIZE:
		memcpy(&wide, field, sizeof(wide));
		number_text(option->kind, wide, number);
		return buf_add_text(into, number);
	case OPTION_SECONDS:
	case OPTION_COUNT:
		memcpy(&narrow, field, sizeof(narrow));
		number_text(option->kind, narrow, number);
		return buf_add_text(into, number);
	}
	BUG("an option of no kind");
}
