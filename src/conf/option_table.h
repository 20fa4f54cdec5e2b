/* option_table.h: the options as a table, and reading one value of it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_OPTION_TABLE_H
#define CONF_OPTION_TABLE_H

#include "conf/conf.h"

#include <stddef.h>

enum option_kind {
	OPTION_FLAG,    /* bool; takes no value */
	OPTION_TEXT,    /* const char *, borrowed */
	OPTION_SECONDS, /* uint32_t milliseconds */
	OPTION_SIZE,    /* uint64_t bytes */
	OPTION_COUNT,   /* uint32_t */
	OPTION_CHOICE,  /* an enum: the place among the choices */
	OPTION_WALLS,   /* wall_set; names with commas are added to it */
};

#define OPTION_COMMANDS 4 /* serve, run, install, doctor */

struct option {
	const char *name;     /* without the dashes */
	const char *argument; /* its name in --help; NULL for a flag */
	const char *standard; /* the default, as one would write it */
	const char *help;
	const char *const *choices; /* ended by NULL */
	size_t offset;              /* in struct conf */
	uint64_t min, max;
	enum option_kind kind;
	bool taken_by[OPTION_COMMANDS];
};

extern const struct option option_table[];
extern const size_t option_count;

/* The option that command takes under a name of n bytes, or NULL. */
const struct option *option_find(
    enum command command, const char *name, size_t n);

/* Reads value (NULL for a flag) into its field. 0; -EINVAL with a sentence
 * that names the option and what it takes. */
int option_set(const struct option *option, const char *value,
    struct conf *conf, struct err *err);

#define OPTION_RANGE_MAX 64

/* "from 0.01 to 86400", in the option's own units. */
void option_range(const struct option *option, char ret_text[OPTION_RANGE_MAX]);

#endif
