/* room_id.h: the kinds of room, by number and name, and what the server must
 * know of each; how one is made is in rooms/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_ROOM_ID_H
#define CONF_ROOM_ID_H

#include <stdbool.h>

enum room_id {
#define ROOM_KNOWN(id, name, good_for, traits) ROOM_##id,
#include "conf/rooms_known.def"
#undef ROOM_KNOWN
	ROOMS /* their number, not a room */
};

enum room_trait {
	TRAIT_ARTIFACTS = 1,     /* needs what "breakroom install" makes */
	TRAIT_BRANCHES = 2,      /* a session can be copied (fork_of) */
	TRAIT_DETERMINISTIC = 4, /* --deterministic holds */
	TRAIT_MOUNTS = 8,        /* --mount holds */
	TRAIT_THREADS = 16,      /* threads run at the same time */
	TRAIT_NATIVE = 32,       /* machine code, integers of 64 bits */
	TRAIT_PROCESSES = 64,    /* programs may start others, by default */
	TRAIT_WORKER = 128,      /* a program runs outside of the keeper's */
};

const char *room_id_name(enum room_id id);
const char *room_id_good_for(enum room_id id);
bool room_id_has(enum room_id id, enum room_trait trait);

/* "wasm, jail, ... are known": the end of a sentence. */
const char *room_id_all(void);

/* The kind with this name. False: there is none. */
bool room_id_find(const char *name, enum room_id *ret_id);

#endif
