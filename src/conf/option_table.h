/* option_table.h: the options as a table, and reading one value of it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_OPTION_TABLE_H
#define CONF_OPTION_TABLE_H

#include "conf/conf.h"

#include <stddef.h>

enum option_kind {
	OPTION_FLAG,    /* bool; no value is yes */
	OPTION_TEXT,    /* const char *, borrowed */
	OPTION_SECONDS, /* uint32_t milliseconds */
	OPTION_SIZE,    /* uint64_t bytes */
	OPTION_COUNT,   /* uint32_t */
	OPTION_CHOICE,  /* an enum: the place among the choices */
	OPTION_WALLS,   /* wall_set; names with commas are added to it */
	OPTION_LIST, /* struct conf_list; items with commas are added to it */
};

/* The section of a configuration file that has it. */
enum option_section {
	SECTION_NOWHERE,
	SECTION_SERVER,
	SECTION_ROOM,
	SECTION_JAIL,
	SECTION_CONTAINER,
	SECTION_DENO,
	SECTIONS /* their number, not a section */
};

#define OPTION_COMMANDS 5  /* serve, run, install, doctor, bench */
#define OPTIONS_MAX     96 /* rows, for arrays beside the table */

struct option {
	const char *name;     /* without the dashes */
	const char *argument; /* its name in --help; NULL for a flag */
	const char *standard; /* the default, as one would write it */
	const char *help;
	const char *const *choices; /* ended by NULL */
	/* Of a list: why an item is refused, or NULL. */
	const char *(*judge)(const char *item);
	size_t offset; /* in struct conf */
	uint64_t min, max;
	enum option_kind kind;
	enum option_section section;
	bool whole; /* its items may have commas: each is given alone */
	bool taken_by[OPTION_COMMANDS];
};

extern const struct option option_table[];
extern const size_t option_count;

/* "server", "room wasm", ...: as a configuration file has it. NULL for
 * SECTION_NOWHERE. */
const char *option_section_name(enum option_section section);

/* The option that command takes under a name of n bytes, or NULL. */
const struct option *option_find(
    enum command command, const char *name, size_t n);

/* Reads value (NULL for a flag that is given) into its field. 0; -EINVAL with
 * a sentence that begins with --NAME and says what it takes. */
int option_set(const struct option *option, const char *value,
    struct conf *conf, struct err *err);

/* False for a text that is NULL and an empty list: nothing to write down. */
bool option_is_set(const struct option *option, const struct conf *conf);

#endif
