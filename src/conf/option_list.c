/* option_list.c: lists of options, and what their items must look like.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/option_list.h"

#include "conf/module_name.h"
#include "conf/mount.h"
#include "conf/option_text.h"
#include "conf/room_id.h"
#include "conf/strings.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define DIGITS "0123456789"
#define LETTERS                      \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* The port behind a colon: 1 to 65535. */
static bool
is_port(const char *text)
{
	size_t n = strspn(text, DIGITS);
	unsigned port = 0;

	if (n == 0 || n > 5 || text[n] != '\0')
		return false;
	for (size_t i = 0; i < n; i++)
		port = port * 10 + (unsigned)(text[i] - '0');
	return port >= 1 && port <= 65535;
}

/* "name", "1.2.3.4", "[::1]", each with ":PORT" or without. */
static bool
is_authority(const char *text)
{
	size_t n;

	if (*text == '[') {
		n = 1 + strspn(text + 1, DIGITS "abcdefABCDEF:.");
		if (n < 3 || text[n++] != ']')
			return false;
	} else {
		n = strspn(text, LETTERS DIGITS "-._");
		if (n == 0)
			return false;
	}
	return text[n] == '\0' || (text[n] == ':' && is_port(text + n + 1));
}

/* Behind "https://" or "http://", or NULL. */
static const char *
behind_scheme(const char *item)
{
	if (strncmp(item, "https://", 8) == 0)
		return item + 8;
	if (strncmp(item, "http://", 7) == 0)
		return item + 7;
	return NULL;
}

const char *
option_judge_host(const char *item)
{
	if (strcmp(item, "*") == 0)
		return "any name at all would let a web page reach this server "
		       "through its own";
	return is_authority(item) ? NULL : "it is not NAME or NAME:PORT";
}

const char *
option_judge_origin(const char *item)
{
	const char *rest = behind_scheme(item);

	if (strchr(item, '*'))
		return "that would let web pages of strangers call it";
	if (strcmp(item, "null") == 0)
		return "every sandboxed page has that origin";
	if (!rest || !is_authority(rest))
		return "it is not https://NAME or https://NAME:PORT";
	return NULL;
}

const char *
option_judge_url(const char *item)
{
	const char *rest = behind_scheme(item);

	if (!rest || *rest == '\0' || *rest == '/')
		return "it is not a URL";
	for (const char *p = item; *p; p++)
		if (*p <= ' ' || *p >= 0x7f || strchr("\"\\<>#?,", *p))
			return "it has a character that no such URL has";
	return NULL;
}

/* A scope-token of RFC 6749. */
const char *
option_judge_word(const char *item)
{
	for (const char *p = item; *p; p++)
		if (*p <= ' ' || *p >= 0x7f || *p == '"' || *p == '\\')
			return "it has a character that no scope has";
	return NULL;
}

const char *
option_judge_module(const char *item)
{
	return module_name(span_of(item)) ? NULL
					  : "it is not the name of a module";
}

const char *
option_judge_mount(const char *item)
{
	struct mount mount;

	return mount_read(item, &mount);
}

/* What is wrong with the file itself is said when it is read. */
const char *
option_judge_given(const char *item)
{
	return *item == ':' ? "it has no PATH" : NULL;
}

const char *
option_judge_room(const char *item)
{
	enum room_id id;

	return room_id_find(item, &id) ? NULL : room_id_all();
}

static int
refuse_item(const struct option *option, const char *item, const char *why,
    struct err *err)
{
	char shown[OPTION_SHOWN_MAX];

	option_show(item, shown);
	return fail(err, EINVAL, "--%s takes a %s, not '%s': %s", option->name,
	    option->argument, shown, why);
}

static int
add_item(const struct option *option, const char *item, struct conf_list *list,
    struct err *err)
{
	const char *why = *item ? option->judge(item) : "it is empty";

	if (why)
		return refuse_item(option, item, why, err);
	if (list->n == CONF_LIST_MAX)
		return fail(err, EINVAL, "--%s takes at most %u of them",
		    option->name, CONF_LIST_MAX);
	list->items[list->n++] = item;
	return 0;
}

int
option_list_add(const struct option *option, const char *value,
    struct conf *conf, struct err *err)
{
	void *field = (char *)conf + option->offset;
	struct conf_list list;
	int r = 0;

	memcpy(&list, field, sizeof(list));
	while (!option->whole) {
		size_t n = strcspn(value, ",");
		const char *start = value + strspn(value, " \t");
		size_t blank = (size_t)(start - value);
		size_t length = n > blank ? n - blank : 0;
		const char *item;

		while (length > 0 && strchr(" \t", start[length - 1]))
			length--;
		item = strings_add(&conf->strings, start, length);
		if (!item)
			return fail(err, ENOMEM, "no memory");
		r = add_item(option, item, &list, err);
		if (r < 0)
			return r;
		if (value[n] == '\0')
			break;
		value += n + 1;
	}
	if (option->whole)
		r = add_item(option, value, &list, err);
	if (r == 0)
		memcpy(field, &list, sizeof(list));
	return r;
}
