/* option_text.h: values of options as one would write them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_OPTION_TEXT_H
#define CONF_OPTION_TEXT_H

#include "base/buf.h"
#include "conf/option_table.h"

#define OPTION_RANGE_MAX 64

/* "from 0.01 to 86400", in the option's own units. */
void option_range(const struct option *option, char ret_text[OPTION_RANGE_MAX]);

/* Adds its value in conf, as option_set reads it; items of a list, and walls,
 * with commas between them. 0; what buf_add says. */
int option_text(
    const struct option *option, const struct conf *conf, struct buf *into);

#define OPTION_SHOWN_MAX 44

/* A value in a sentence: short, and no control characters. */
void option_show(const char *value, char ret_text[OPTION_SHOWN_MAX]);

#define OPTION_VARIABLE_MAX 64

/* The environment variable that sets it: "BREAKROOM_MAX_TIMEOUT". */
void option_variable(
    const struct option *option, char ret_name[OPTION_VARIABLE_MAX]);

#endif
