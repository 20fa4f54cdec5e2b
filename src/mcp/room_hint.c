/* room_hint.c: what a room said that another has.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/room_hint.h"

#include "conf/room_conf.h"

#include <stdio.h>
#include <string.h>

/* Python's message is at the end of what it wrote. */
#define TAIL_MAX 2048u

/* In the order in which they are looked for. */
static const struct {
	const char *message;
	enum room_trait trait; /* of rooms that may do it */
	const char *may;
} lacks[] = {
	{ "no process can be started", TRAIT_PROCESSES,
	    "programs can be started" },
	{ "can't start new thread", TRAIT_THREADS, "threads can be started" },
	{ "ModuleNotFoundError: No module named", TRAIT_NATIVE,
	    "that module may be there" },
	{ "No module named", TRAIT_NATIVE, "that module may be there" },
	{ "Missing optional dependency", TRAIT_NATIVE,
	    "that module may be there" },
	{ "index-sized integer", TRAIT_NATIVE, "Python has 64 bits" },
	{ "array is too big", TRAIT_NATIVE, "Python has 64 bits" },
	{ "C ssize_t", TRAIT_NATIVE, "Python has 64 bits" },
	{ "out of bounds for int32", TRAIT_NATIVE, "integers have 64 bits" },
	{ "mmap is unavailable", TRAIT_NATIVE, "files can be mapped" },
	{ "ctypes is unavailable", TRAIT_NATIVE,
	    "native libraries can be loaded" },
};

static bool
ends_with_message(const struct result *result, const char *message)
{
	const struct buf *text = &result->err.text;
	const size_t n = text->n < TAIL_MAX ? text->n : TAIL_MAX;

	return n > 0 &&
	       memmem(text->p + text->n - n, n, message, strlen(message));
}

static bool
can(const struct conf *conf, enum room_id room, enum room_trait trait)
{
	return room_id_has(room, trait) ||
	       (trait == TRAIT_PROCESSES && room == ROOM_JAIL &&
		   conf->allow_processes);
}

/* The first other room that can; ROOMS: none, or this one can, too. */
static enum room_id
who_can(const struct conf *conf, enum room_trait trait)
{
	if (can(conf, conf->room, trait))
		return ROOMS;
	for (unsigned i = 0; i < conf->room_ids_n; i++)
		if (can(conf, conf->room_ids[i], trait))
			return conf->room_ids[i];
	return ROOMS;
}

bool
room_hint(const struct result *result, const struct conf *conf,
    char ret_line[HINT_SHOWN_MAX + 1])
{
	if (result->outcome != OUTCOME_RAISED || conf->room_ids_n < 2)
		return false;
	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		enum room_id room;

		if (!ends_with_message(result, lacks[i].message))
			continue;
		room = who_can(conf, lacks[i].trait);
		if (room == ROOMS)
			continue;
		(void)snprintf(ret_line, HINT_SHOWN_MAX + 1,
		    "%s in room %s of this server: pass room: \"%s\"",
		    lacks[i].may, room_id_name(room), room_id_name(room));
		return true;
	}
	return false;
}
