/* tool_room.c: from an argument to a kind of room.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/tool_room.h"

#include "base/own.h"
#include "conf/room_conf.h"
#include "mcp/jsonrpc.h"

#include <errno.h>
#include <string.h>

#define ROOM "room"

bool
tool_room_is_choice(const struct conf *conf)
{
	return conf->room_ids_n > 1;
}

json_t *
tool_room_names(const struct conf *conf)
{
	json_t *names = json_array();

	for (unsigned i = 0; i < conf->room_ids_n; i++)
		(void)json_array_append_new(
		    names, json_string(room_id_name(conf->room_ids[i])));
	if (conf->room_ids_n == 0)
		(void)json_array_append_new(
		    names, json_string(room_id_name(conf->room)));
	return names;
}

/* What a room has by itself, where it is not what calls have by default. */
static void
add_limits(struct buf *text, const struct conf *conf, const struct conf *own)
{
	if (own->timeout_ms != conf->timeout_ms)
		(void)buf_printf(text, "; %g s", own->timeout_ms / 1000.0);
	if (own->memory_bytes != conf->memory_bytes)
		(void)buf_printf(text, "; %llu MiB of memory",
		    (unsigned long long)(own->memory_bytes / MIB));
	if (own->files_bytes != conf->files_bytes)
		(void)buf_printf(text, "; %llu MiB of files",
		    (unsigned long long)(own->files_bytes / MIB));
}

void
tool_room_schema(json_t *properties, const struct conf *conf)
{
	own_buf struct buf text = { .max = 4096 };
	struct conf usual;

	if (!tool_room_is_choice(conf))
		return;
	conf_for_room(conf, conf->room, &usual);
	(void)buf_add_text(&text, "Where the program runs.");
	for (unsigned i = 0; i < conf->room_ids_n; i++) {
		const enum room_id id = conf->room_ids[i];
		struct conf own;

		conf_for_room(conf, id, &own);
		(void)buf_printf(&text, " %s%s: %s", room_id_name(id),
		    id == conf->room ? " (default)" : "", room_id_good_for(id));
		if (id == ROOM_JAIL && conf->allow_processes)
			(void)buf_add_text(&text, ", and processes");
		add_limits(&text, &usual, &own);
		(void)buf_add_text(&text, ".");
	}
	(void)buf_add_text(
	    &text, " Calls that go on with a session run in its room.");
	(void)json_object_set_new(properties, ROOM,
	    json_pack("{s:s, s:o, s:s, s:s%}", "type", "string", "enum",
		tool_room_names(conf), "default", room_id_name(conf->room),
		"description", (const char *)text.p, text.n));
}

void
tool_room_text(struct buf *text, const struct conf *conf)
{
	char list[ROOM_LIST_MAX];

	if (!tool_room_is_choice(conf))
		return;
	conf_list_rooms(conf, list);
	(void)buf_printf(text,
	    "The argument room chooses among %s; what is said here is of %s, "
	    "the default.\n",
	    list, room_id_name(conf->room));
}

int
tool_room_take(const json_t *arguments, const struct conf *conf,
    bool *ret_named, enum room_id *ret_room, struct err *err)
{
	const json_t *value = json_object_get(arguments, ROOM);
	char shown[NAME_SHOWN_SIZE], list[ROOM_LIST_MAX];

	*ret_named = false;
	if (!tool_room_is_choice(conf) || !value || json_is_null(value))
		return 0;
	for (unsigned i = 0; i < conf->room_ids_n; i++)
		if (json_is_text(value, room_id_name(conf->room_ids[i]))) {
			*ret_room = conf->room_ids[i];
			*ret_named = true;
			return 0;
		}
	conf_list_rooms(conf, list);
	if (!json_is_string(value))
		return fail(err, EINVAL,
		    "room must be a string: this server has %s", list);
	(void)json_shown(value, shown);
	return fail(err, EINVAL, "there is no room \"%s\": this server has %s",
	    shown, list);
}
