/* tool_options.c: the object that the room's Python reads.
 * Hostile input: a caller's lists. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/tool_options.h"

#include "conf/limits.h"
#include "conf/module_name.h"
#include "mcp/jsonrpc.h"

#include <errno.h>
#include <string.h>

const char *
tool_options_judge(const json_t *names)
{
	size_t n = json_array_size(names);

	if (!json_is_array(names))
		return "must be a list of names of modules";
	if (n > CONF_LIST_MAX)
		return "has too many names";
	for (size_t i = 0; i < n; i++) {
		const json_t *name = json_array_get(names, i);

		if (!json_is_string(name))
			return "must be a list of strings";
		if (!module_name(
			(struct span){ (const uint8_t *)json_string_value(name),
			    json_string_length(name) }))
			return "has something that is no name of a module";
	}
	return NULL;
}

/* ---- two lists to one ---- */

static bool
holds(const json_t *names, const char *name)
{
	for (size_t i = 0; i < json_array_size(names); i++)
		if (json_is_text(json_array_get(names, i), name))
			return true;
	return false;
}

static void
add_once(json_t *names, const char *name)
{
	if (!holds(names, name))
		(void)json_array_append_new(names, json_string(name));
}

static const char *
name_at(const json_t *names, size_t i)
{
	return json_string_value(json_array_get(names, i));
}

static json_t *
array_of(const struct conf_list *list)
{
	json_t *names = json_array();

	for (unsigned i = 0; i < list->n; i++)
		add_once(names, list->items[i]);
	return names;
}

/* A new array of what either denies. */
static json_t *
both_deny(const struct conf_list *operator_s, const json_t *caller_s)
{
	json_t *names = array_of(operator_s);

	for (size_t i = 0; i < json_array_size(caller_s); i++)
		add_once(names, name_at(caller_s, i));
	return names;
}

/* Adds what is in one list and covered by the other. */
static void
add_covered(json_t *into, const json_t *names, const json_t *by)
{
	for (size_t i = 0; i < json_array_size(names); i++)
		for (size_t j = 0; j < json_array_size(by); j++)
			if (module_covers(name_at(by, j), name_at(names, i)))
				add_once(into, name_at(names, i));
}

/* A new array of what both allow, which may be nothing; NULL: neither has a
 * list. */
static json_t *
both_allow(const struct conf_list *operator_s, const json_t *caller_s)
{
	json_t *own, *names;

	if (operator_s->n == 0)
		return caller_s ? json_copy((json_t *)caller_s) : NULL;
	own = array_of(operator_s);
	if (!caller_s)
		return own;
	names = json_array();
	add_covered(names, caller_s, own);
	add_covered(names, own, caller_s);
	json_decref(own);
	return names;
}

/* ---- the object ---- */

static int
write_object(const json_t *object, struct buf *options)
{
	int r = jsonrpc_dump(object, options);

	if (r < 0)
		options->n = 0;
	return r;
}

int
tool_options_write(const struct conf *conf, const struct tool_options *asked,
    struct buf *options)
{
	json_t *object, *deny, *allow;
	int r = 0;

	/* The common case costs nothing. */
	if (!asked->silent && !conf->no_echo && !asked->deny && !asked->allow &&
	    conf->deny_imports.n == 0 && conf->allow_imports.n == 0)
		return 0;
	object = json_object();
	deny = both_deny(&conf->deny_imports, asked->deny);
	allow = both_allow(&conf->allow_imports, asked->allow);
	if (!object || !deny)
		r = -ENOMEM;
	if (asked->silent || conf->no_echo)
		(void)json_object_set_new(object, "echo", json_false());
	if (json_array_size(deny) > 0)
		(void)json_object_set(object, "deny", deny);
	if (allow)
		(void)json_object_set(object, "allow", allow);
	if (r == 0 && json_object_size(object) > 0)
		r = write_object(object, options);
	json_decref(allow);
	json_decref(deny);
	json_decref(object);
	return r;
}
