/* conf.h: what the command line asked for, parsed once and passed as const.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include "base/err.h"
#include "base/log.h"
#include "conf/limits.h"
#include "conf/room_id.h"
#include "conf/wall.h"

#include <stdbool.h>
#include <stdint.h>

enum command {
	COMMAND_SERVE,
	COMMAND_RUN,
	COMMAND_INSTALL,
	COMMAND_DOCTOR,
	COMMAND_BENCH,
	COMMAND_TOKEN,
	COMMAND_PACKAGES,
	COMMAND_VERSION,
	COMMAND_HELP,
};

/* When a tool result carries structuredContent; see breakroom(1). */
enum structured {
	STRUCTURED_AUTO,
	STRUCTURED_ALWAYS,
	STRUCTURED_NEVER
};

/* Who is served a page about the server: those at the endpoint's address, at
 * the admin's alone, or nobody. */
enum where {
	WHERE_MAIN,
	WHERE_ADMIN,
	WHERE_OFF
};

/* Whether numpy's default integer has 64 bits in the room; see int64.h. */
enum int64 {
	INT64_ON,
	INT64_OFF
};

/* Words given one after another, or with commas; borrowed. */
struct conf_list {
	unsigned n;
	const char *items[CONF_LIST_MAX];
};

struct conf {
	enum command command;

	/* The kind that this is about: of run and install, by --room; of one
	 * room's own configuration (conf/room_conf.h), its; else that of calls
	 * which name none. */
	enum room_id room;

	/* serve, doctor, bench: the kinds that there are. room_ids is made of
	 * rooms: in that order, wasm without any; in doctor and bench all. */
	struct conf_list rooms;
	enum room_id default_room; /* serve: one of them */
	unsigned room_ids_n;
	enum room_id room_ids[ROOMS];
	struct conf_list room_limits; /* "ROOM.NAME=VALUE": room_conf.h */

	/* What rooms of a kind are made of; NULL: the kind's own choice. */
	const char *python, *root;
	struct conf_list preload; /* modules */
	const char *engine, *runtime, *image;
	const char *deno, *pyodide, *pyodide_packages;
	/* Of a worker in such a room. */
	uint32_t cpus_milli; /* thousandths of a processor */
	uint32_t processes;
	uint32_t ready; /* of any room: children made while it is idle */

	/* serve and run: the limits of a call */
	uint32_t timeout_ms;
	uint32_t max_timeout_ms;
	uint32_t output_chars;
	uint64_t memory_bytes;
	uint64_t files_bytes;

	/* serve */
	uint32_t concurrency;
	uint32_t queue;
	enum structured structured;
	wall_set allow_missing;  /* serve, run, doctor */
	struct conf_list mounts; /* likewise: conf/mount.h */
	enum int64 int64;        /* serve, run, install, doctor */
	struct conf_list deny_imports, allow_imports; /* serve, run */
	bool deterministic;                           /* serve, run */
	bool allow_processes;                         /* in the jail */
	uint32_t max_sessions;         /* of rooms; 0: there are none */
	uint64_t session_memory_bytes; /* that they hold together */
	uint32_t session_rest_ms;      /* unused for so long, one ends */
	uint32_t session_life_ms;
	uint64_t keep_bytes; /* of outputs and files kept as resources */
	uint32_t keep_ms;
	bool log_content; /* code and output too */

	/* serve: no settings themselves */
	bool check_config, dump_config;
	const char *config_path; /* NULL: no file */

	/* serve --http */
	const char *http;       /* "ADDR:PORT" or "unix:PATH"; NULL: stdio */
	const char *admin_http; /* likewise, for what follows; NULL: none */
	enum where readyz, metrics;
	struct conf_list allow_hosts;   /* beside those of the address */
	struct conf_list allow_origins; /* "https://host[:port]" */
	const char *tokens_path;        /* NULL: no such tokens */
	const char *jwks_path;          /* NULL: no web tokens */
	const char *issuer, *audience, *resource;
	struct conf_list auth_servers, scopes;
	const char *session_key_path; /* NULL: a key of this process */
	uint32_t session_idle_ms;
	uint32_t connections;
	uint32_t per_minute; /* requests of all clients */
	uint64_t body_bytes;
	uint32_t head_ms, body_ms, idle_ms, write_ms;
	/* of each principal, where its token does not say */
	uint32_t token_calls, token_queue, token_per_minute;
	enum log_level log_level;
	const char *log_path; /* NULL: stderr */
	bool insecure_no_auth;
	bool ui; /* the playground, at "/" */
	bool sessions;

	/* run: exactly one of code and file ("-": standard input) */
	bool json;
	bool no_echo;
	const char *figures; /* "beside", "inline", a directory; NULL: none */
	const char *code;
	const char *file;
	const char *stdin_path; /* NULL: empty */
	struct conf_list given; /* "PATH" or "PATH:NAME" */
	const char *out_dir;    /* for the program's files; NULL: they go */

	/* install */
	const char *from;          /* NULL: found beside the program */
	struct conf_list packages; /* to add: package_wanted_is */

	/* doctor */
	bool verify;

	/* token */
	const char *token_name;

	/* help: the command it was asked for */
	enum command about;

	/* What the strings that came from lists and files borrow from; NULL
	 * while there are none; see conf_done. */
	struct conf_strings *strings;
};

/* Parses argv alone. Strings are borrowed from argv. 0; -EINVAL with one clear
 * line in err for a usage error. conf/settings.h reads the environment and
 * files too. */
int conf_parse(int argc, char **argv, struct conf *ret_conf, struct err *err);

/* Frees what conf holds: its lists' items, and strings of a file. */
void conf_done(struct conf *conf);

/* The text of --help for command (COMMAND_HELP: the overview). */
const char *conf_help(enum command command);

#endif
