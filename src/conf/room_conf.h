/* room_conf.h: the configuration of one room: that of the whole, with its own
 * limits. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_ROOM_CONF_H
#define CONF_ROOM_CONF_H

#include "conf/conf.h"

/* Why an item of --room-limit is refused, as the end of a sentence; NULL: its
 * form is good. */
const char *room_limit_judge(const char *item);

/* Reads such an item, whose form is good, and sets what it limits in conf, if
 * conf->room is the room that it is for. 0; -EINVAL with a sentence: the value
 * is not what the limit takes. */
int room_limit_set(const char *item, struct conf *conf, struct err *err);

/* A copy of conf for one of its rooms. It borrows what conf borrows: not for
 * conf_done. */
void conf_for_room(
    const struct conf *conf, enum room_id room, struct conf *ret_conf);

/* True if room is one of those of conf. */
bool conf_has_room(const struct conf *conf, enum room_id room);

/* The first of conf's rooms with that trait, which is not conf->room. False:
 * there is none. */
bool conf_room_with(
    const struct conf *conf, enum room_trait trait, enum room_id *ret_room);

/* What the user gave to make conf->room with, as options and their values, in
 * words. Returns how many: at most ROOM_WORDS_MAX. */
#define ROOM_WORDS_MAX 8u
unsigned conf_room_words(const struct conf *conf, const char **words);

#define ROOM_LIST_MAX 96u

/* "wasm, jail": the rooms of conf. */
void conf_list_rooms(const struct conf *conf, char ret_text[ROOM_LIST_MAX]);

#endif
