/* option_list.h: lists of options, and what their items must look like.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_OPTION_LIST_H
#define CONF_OPTION_LIST_H

#include "conf/option_table.h"

/* Why an item is refused, as the end of a sentence; NULL: it is good. */
const char *option_judge_host(const char *item);
const char *option_judge_origin(const char *item);
const char *option_judge_url(const char *item);
const char *option_judge_word(const char *item);
const char *option_judge_module(const char *item);
const char *option_judge_mount(const char *item);
const char *option_judge_given(const char *item);
const char *option_judge_room(const char *item);

/* Adds what value holds, items with commas between them, to the option's list
 * in conf, or nothing. 0; -EINVAL with a sentence; -ENOMEM. */
int option_list_add(const struct option *option, const char *value,
    struct conf *conf, struct err *err);

#endif
