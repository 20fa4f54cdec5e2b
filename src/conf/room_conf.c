/* room_conf.c: limits of single rooms.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/room_conf.h"

#include "conf/option_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Those that no option sets for all rooms. Of processors, thousandths are read
 * as those of seconds are. */
static const struct option own_limits[] = {
	{ .name = "cpus",
	    .kind = OPTION_SECONDS,
	    .offset = offsetof(struct conf, cpus_milli),
	    .min = CPUS_MILLI_MIN,
	    .max = CPUS_MILLI_MAX },
	{ .name = "processes",
	    .kind = OPTION_COUNT,
	    .offset = offsetof(struct conf, processes),
	    .min = PROCESSES_MIN,
	    .max = PROCESSES_MAX },
	{ .name = "ready",
	    .kind = OPTION_COUNT,
	    .offset = offsetof(struct conf, ready),
	    .min = READY_MIN,
	    .max = READY_MAX },
};

/* Those that are options as well. */
static const char *const shared_limits[] = { "memory", "timeout", "files",
	"concurrency" };

/* An item taken apart. */
struct room_limit {
	enum room_id room;
	const struct option *option;
	const char *value;
};

static const struct option *
find_limit(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(own_limits) / sizeof(own_limits[0]); i++)
		if (strlen(own_limits[i].name) == n &&
		    memcmp(own_limits[i].name, name, n) == 0)
			return &own_limits[i];
	for (size_t i = 0; i < sizeof(shared_limits) / sizeof(shared_limits[0]);
	     i++)
		if (strlen(shared_limits[i]) == n &&
		    memcmp(shared_limits[i], name, n) == 0)
			return option_find(COMMAND_SERVE, name, n);
	return NULL;
}

static const char *
take_apart(const char *item, struct room_limit *ret_limit)
{
	const size_t room_n = strcspn(item, ".=");
	char room[16];
	const char *name, *sign;

	if (item[room_n] != '.')
		return "it is not ROOM.NAME=VALUE";
	if (room_n >= sizeof(room))
		return room_id_all();
	memcpy(room, item, room_n);
	room[room_n] = '\0';
	name = item + room_n + 1;
	sign = strchr(name, '=');
	if (!room_id_find(room, &ret_limit->room))
		return room_id_all();
	if (!sign || sign[1] == '\0')
		return "it is not ROOM.NAME=VALUE";
	ret_limit->option = find_limit(name, (size_t)(sign - name));
	ret_limit->value = sign + 1;
	return ret_limit->option ? NULL
				 : "the limits are memory, timeout, files, "
				   "concurrency, cpus, processes and ready";
}

const char *
room_limit_judge(const char *item)
{
	struct room_limit limit = { .option = NULL };

	return take_apart(item, &limit);
}

int
room_limit_set(const char *item, struct conf *conf, struct err *err)
{
	struct conf scratch = { .strings = NULL };
	struct room_limit limit = { .option = NULL };
	const char *why = take_apart(item, &limit);
	struct err refused;
	int r;

	if (why)
		return fail(err, EINVAL, "--room-limit %.40s: %s", item, why);
	r = option_set(limit.option, limit.value,
	    limit.room == conf->room ? conf : &scratch, &refused);
	/* The sentence begins with the option's name. */
	return r < 0 ? fail(err, EINVAL, "--room-limit %s.%s",
			   room_id_name(limit.room), refused.text + 2)
		     : 0;
}

void
conf_for_room(const struct conf *conf, enum room_id room, struct conf *ret_conf)
{
	struct err err;

	*ret_conf = *conf;
	ret_conf->room = room;
	for (unsigned i = 0; i < conf->room_limits.n; i++)
		(void)room_limit_set(
		    conf->room_limits.items[i], ret_conf, &err);
	/* What the operator gives without being asked may be asked for. */
	if (ret_conf->max_timeout_ms < ret_conf->timeout_ms)
		ret_conf->max_timeout_ms = ret_conf->timeout_ms;
}

bool
conf_has_room(const struct conf *conf, enum room_id room)
{
	for (unsigned i = 0; i < conf->room_ids_n; i++)
		if (conf->room_ids[i] == room)
			return true;
	return false;
}

bool
conf_room_with(
    const struct conf *conf, enum room_trait trait, enum room_id *ret_room)
{
	for (unsigned i = 0; i < conf->room_ids_n; i++) {
		enum room_id room = conf->room_ids[i];

		if (room == conf->room || !room_id_has(room, trait))
			continue;
		*ret_room = room;
		return true;
	}
	return false;
}

void
conf_list_rooms(const struct conf *conf, char ret_text[ROOM_LIST_MAX])
{
	size_t n = 0;

	ret_text[0] = '\0';
	for (unsigned i = 0; i < conf->room_ids_n && n < ROOM_LIST_MAX; i++)
		n += (size_t)snprintf(ret_text + n, ROOM_LIST_MAX - n, "%s%s",
		    i ? ", " : "", room_id_name(conf->room_ids[i]));
}

unsigned
conf_room_words(const struct conf *conf, const char **words)
{
	const struct {
		const char *name, *value;
	} given[ROOM_WORDS_MAX / 2] = {
		{ "--python", conf->python },
		{ "--engine", conf->engine },
		{ "--image", conf->image },
		{ "--pyodide-packages", conf->pyodide_packages },
	};
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (given[i].value) {
			words[n++] = given[i].name;
			words[n++] = given[i].value;
		}
	return n;
}
