/* option_table.c: the table made from options.def, and its fields.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/option_table.h"

#include "conf/limits.h"
#include "conf/option_list.h"
#include "conf/option_text.h"
#include "conf/option_value.h"
#include "conf/room_conf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* In the order of enum structured and enum log_level. */
static const char *const structured_names[] = { "auto", "always", "never",
	NULL };
static const char *const log_level_names[] = { "error", "warn", "info", "debug",
	NULL };

/* In the order of enum where. */
static const char *const where_names[] = { "main", "admin", "off", NULL };

/* In the order of enum int64. */
static const char *const int64_names[] = { "on", "off", NULL };

/* In the order of enum room_id. */
static const char *const room_names[] = {
#define ROOM_KNOWN(id, name, good_for, traits) name,
#include "conf/rooms_known.def"
#undef ROOM_KNOWN
	NULL
};

#define HOSTS       option_judge_host
#define ORIGINS     option_judge_origin
#define URLS        option_judge_url
#define WORDS       option_judge_word
#define MODULES     option_judge_module
#define MOUNTS      option_judge_mount
#define GIVEN       option_judge_given
#define ROOM_NAMES  option_judge_room
#define ROOM_LIMITS room_limit_judge

/* clang-format off */
#define ROW(s, r, i, d, b, section_, name_, argument_, standard_, kind_, field, \
    help_, ...) \
	{ .name = (name_), \
		.argument = (argument_), \
		.standard = (standard_), \
		.help = (help_), \
		.kind = OPTION_##kind_, \
		.section = SECTION_##section_, \
		.offset = offsetof(struct conf, field), \
		.taken_by = { (s), (r), (i), (d), (b) }, \
		__VA_ARGS__ },
#define VALUE(s, r, i, d, b, section, name, argument, standard, kind, field, \
    min_, max_, help) \
	ROW(s, r, i, d, b, section, name, argument, standard, kind, field, help, \
	    .min = (min_), .max = (max_))
#define CHOICE(s, r, i, d, b, section, name, argument, standard, field, names, \
    help) \
	ROW(s, r, i, d, b, section, name, argument, standard, CHOICE, field, \
	    help, .choices = (names))
#define TEXT(s, r, i, d, b, section, name, argument, standard, field, help) \
	ROW(s, r, i, d, b, section, name, argument, standard, TEXT, field, help, )
#define LIST(s, r, i, d, b, section, name, argument, standard, field, judge_, \
    help) \
	ROW(s, r, i, d, b, section, name, argument, standard, LIST, field, help, \
	    .judge = (judge_))
#define EACH(s, r, i, d, b, section, name, argument, standard, field, judge_, \
    help) \
	ROW(s, r, i, d, b, section, name, argument, standard, LIST, field, help, \
	    .judge = (judge_), .whole = true)
#define WALLS(s, r, i, d, b, section, name, argument, standard, field, help) \
	ROW(s, r, i, d, b, section, name, argument, standard, WALLS, field, \
	    help, )
#define FLAG(s, r, i, d, b, section, name, field, help) \
	ROW(s, r, i, d, b, section, name, NULL, NULL, FLAG, field, help, )

const struct option option_table[] = {
#include "conf/options.def"
};
/* clang-format on */
const size_t option_count = sizeof(option_table) / sizeof(option_table[0]);

_Static_assert(sizeof(option_table) / sizeof(option_table[0]) <= OPTIONS_MAX,
    "arrays beside the table have a place for every option");
_Static_assert(sizeof(enum structured) == sizeof(uint32_t) &&
		   sizeof(enum log_level) == sizeof(uint32_t) &&
		   sizeof(enum where) == sizeof(uint32_t) &&
		   sizeof(enum int64) == sizeof(uint32_t) &&
		   sizeof(enum room_id) == sizeof(uint32_t),
    "a choice is written as 32 bits");
_Static_assert(COMMAND_SERVE == 0 && COMMAND_RUN == 1 && COMMAND_INSTALL == 2 &&
		   COMMAND_DOCTOR == 3 && COMMAND_BENCH == 4,
    "the columns of options.def are in this order");

const char *
option_section_name(enum option_section section)
{
	static const char *const names[SECTIONS] = {
		[SECTION_SERVER] = "server",
		[SECTION_ROOM] = "room wasm",
		[SECTION_JAIL] = "room jail",
		[SECTION_CONTAINER] = "room container",
		[SECTION_DENO] = "room deno",
	};

	return names[section];
}

const struct option *
option_find(enum command command, const char *name, size_t n)
{
	if ((unsigned)command >= OPTION_COMMANDS)
		return NULL;
	for (size_t i = 0; i < option_count; i++) {
		const struct option *option = &option_table[i];

		if (option->taken_by[command] && strlen(option->name) == n &&
		    memcmp(option->name, name, n) == 0)
			return option;
	}
	return NULL;
}

static int
refuse_number(const struct option *option, const char *value, struct err *err)
{
	static const char *const what[] = {
		[OPTION_SECONDS] = "a number of seconds",
		[OPTION_SIZE] = "a size like 1048576, 64M or 1G",
		[OPTION_COUNT] = "a whole number",
	};
	char range[OPTION_RANGE_MAX];
	char shown[OPTION_SHOWN_MAX];

	option_range(option, range);
	option_show(value, shown);
	return fail(err, EINVAL, "--%s takes %s %s, not '%s'", option->name,
	    option->argument ? what[option->kind] : "a number", range, shown);
}

static int
set_number(const struct option *option, const char *value, void *field,
    struct err *err)
{
	uint64_t number = 0;
	uint32_t narrow;
	int r;

	if (option->kind == OPTION_SECONDS)
		r = value_seconds(value, &number);
	else if (option->kind == OPTION_SIZE)
		r = value_size(value, &number);
	else
		r = value_count(value, &number);
	if (r < 0 || number < option->min || number > option->max)
		return refuse_number(option, value, err);
	if (option->kind == OPTION_SIZE) {
		memcpy(field, &number, sizeof(number));
		return 0;
	}
	narrow = (uint32_t)number;
	memcpy(field, &narrow, sizeof(narrow));
	return 0;
}

static int
set_choice(const struct option *option, const char *value, void *field,
    struct err *err)
{
	char shown[OPTION_SHOWN_MAX];
	char list[96] = "";
	uint32_t i;

	for (i = 0; option->choices[i]; i++) {
		size_t n = strlen(list);

		if (strcmp(option->choices[i], value) == 0) {
			memcpy(field, &i, sizeof(i));
			return 0;
		}
		(void)snprintf(list + n, sizeof(list) - n, "%s%s",
		    i == 0                   ? ""
		    : option->choices[i + 1] ? ", "
					     : " or ",
		    option->choices[i]);
	}
	option_show(value, shown);
	return fail(
	    err, EINVAL, "--%s takes %s, not '%s'", option->name, list, shown);
}

/* Adds the walls named in value, or none at all. */
static int
add_walls(const struct option *option, const char *value, void *field,
    struct err *err)
{
	char all[WALL_NAMES_MAX], shown[OPTION_SHOWN_MAX];
	wall_set set, named = 0;

	if (value_walls(value, &named) == 0) {
		memcpy(&set, field, sizeof(set));
		set |= named;
		memcpy(field, &set, sizeof(set));
		return 0;
	}
	option_show(value, shown);
	wall_names(WALLS_ALL, all);
	return fail(
	    err, EINVAL, "--%s takes %s, not '%s'", option->name, all, shown);
}

static int
set_flag(const struct option *option, const char *value, bool *field,
    struct err *err)
{
	static const char *const yes[] = { "yes", "true", "on", "1" };
	static const char *const no[] = { "no", "false", "off", "0" };
	char shown[OPTION_SHOWN_MAX];

	for (size_t i = 0; value && i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (strcmp(value, no[i]) == 0) {
			*field = false;
			return 0;
		}
		if (strcmp(value, yes[i]) == 0)
			value = NULL;
	}
	if (!value) {
		*field = true;
		return 0;
	}
	option_show(value, shown);
	return fail(
	    err, EINVAL, "--%s takes yes or no, not '%s'", option->name, shown);
}

static int
set_text(const struct option *option, const char *value, void *field,
    struct err *err)
{
	if (value[0] == '\0')
		return fail(err, EINVAL, "--%s takes a %s, not ''",
		    option->name, option->argument);
	memcpy(field, &value, sizeof(value));
	return 0;
}

bool
option_is_set(const struct option *option, const struct conf *conf)
{
	const void *field = (const char *)conf + option->offset;
	const char *text;
	wall_set walls;

	switch (option->kind) {
	case OPTION_TEXT:
		memcpy(&text, field, sizeof(text));
		return text != NULL;
	case OPTION_LIST:
		return ((const struct conf_list *)field)->n > 0;
	case OPTION_WALLS:
		memcpy(&walls, field, sizeof(walls));
		return walls != 0;
	case OPTION_COUNT:
	case OPTION_SECONDS:
	case OPTION_SIZE:
	case OPTION_FLAG:
	case OPTION_CHOICE:
		break;
	}
	return true;
}

int
option_set(const struct option *option, const char *value, struct conf *conf,
    struct err *err)
{
	void *field = (char *)conf + option->offset;

	switch (option->kind) {
	case OPTION_FLAG:
		return set_flag(option, value, field, err);
	case OPTION_TEXT:
		return set_text(option, value, field, err);
	case OPTION_LIST:
		return option_list_add(option, value, conf, err);
	case OPTION_CHOICE:
		return set_choice(option, value, field, err);
	case OPTION_WALLS:
		return add_walls(option, value, field, err);
	case OPTION_SECONDS:
	case OPTION_SIZE:
	case OPTION_COUNT:
		return set_number(option, value, field, err);
	}
	BUG("an option of no kind");
}
