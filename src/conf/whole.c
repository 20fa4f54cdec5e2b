/* whole.c: what follows from other settings, and what can only be judged when
 * all of them are known.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/address.h"
#include "conf/mount.h"
#include "conf/option_list.h"
#include "conf/option_text.h"
#include "conf/room_conf.h"
#include "conf/settings.h"
#include "conf/strings.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Which source gave the field; and the name that a reader of the sentence can
 * search for. */
static enum source
source_of(const struct settings *settings, size_t offset)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].offset == offset)
			return settings->from[i];
	BUG("a field of no option");
}
#define SOURCE_OF(settings, field) \
	source_of((settings), offsetof(struct conf, field))

/* ---- what follows from others ---- */

static uint32_t
half(uint32_t of)
{
	return of - of / 2;
}

/* A keeper has a directory of its own: paths become whole. */
static void
complete_mounts(struct settings *settings)
{
	struct conf *conf = &settings->conf;
	char here[PATH_MAX], whole[2 * PATH_MAX];

	for (unsigned i = 0; i < conf->mounts.n; i++) {
		const char *text = conf->mounts.items[i];
		int n;

		if (text[0] == '/')
			continue;
		if (!getcwd(here, sizeof(here))) {
			faults_add(&settings->faults,
			    "--mount: the current directory: %s",
			    strerror(errno));
			return;
		}
		n = snprintf(whole, sizeof(whole), "%s/%s", here, text);
		text = n < (int)sizeof(whole)
			   ? strings_add(&conf->strings, whole, (size_t)n)
			   : NULL;
		if (text)
			conf->mounts.items[i] = text;
		else
			faults_add(&settings->faults, "--mount: too long");
	}
}

/* Which kinds of room there are, and which is meant by default. */
static void
compute_rooms(struct settings *settings)
{
	struct conf *conf = &settings->conf;
	const bool all =
	    conf->command == COMMAND_DOCTOR || conf->command == COMMAND_BENCH;
	enum room_id id;

	for (unsigned i = 0; i < conf->rooms.n; i++) {
		if (!room_id_find(conf->rooms.items[i], &id))
			continue;
		if (conf_has_room(conf, id))
			faults_add(&settings->faults, "--rooms names %s twice",
			    room_id_name(id));
		else
			conf->room_ids[conf->room_ids_n++] = id;
	}
	for (unsigned i = 0; conf->rooms.n == 0 && all && i < ROOMS; i++)
		conf->room_ids[conf->room_ids_n++] = (enum room_id)i;
	if (conf->room_ids_n == 0)
		conf->room_ids[conf->room_ids_n++] = conf->room;
	if (conf->command == COMMAND_RUN || conf->command == COMMAND_INSTALL)
		return;
	if (SOURCE_OF(settings, default_room) == SOURCE_DEFAULT)
		conf->default_room = conf->room_ids[0];
	conf->room = conf->default_room;
}

static void
compute(struct settings *settings)
{
	struct conf *conf = &settings->conf;
	/* Where everybody is the same principal, nobody else needs the rest. */
	bool shared = conf->tokens_path || conf->jwks_path;

	compute_rooms(settings);
	complete_mounts(settings);
	if (conf->timeout_ms > conf->max_timeout_ms &&
	    SOURCE_OF(settings, max_timeout_ms) == SOURCE_DEFAULT)
		conf->max_timeout_ms = conf->timeout_ms;
	/* One line of each call is what an operator of many expects. */
	if ((conf->http || conf->log_content) &&
	    SOURCE_OF(settings, log_level) == SOURCE_DEFAULT)
		conf->log_level = LOG_INFO;
	if (conf->command != COMMAND_SERVE)
		conf->keep_bytes = conf->keep_ms = 0; /* nobody asks later */
	/* Many clients would each keep a process: the operator says so. */
	if (conf->command != COMMAND_SERVE ||
	    (conf->http && SOURCE_OF(settings, max_sessions) == SOURCE_DEFAULT))
		conf->max_sessions = 0;
	if (!conf->token_calls)
		conf->token_calls =
		    shared ? half(conf->concurrency) : conf->concurrency;
	if (!conf->token_queue)
		conf->token_queue = shared ? half(conf->queue) : conf->queue;
	if (!conf->audience)
		conf->audience = conf->resource;
	if (conf->auth_servers.n == 0 && conf->issuer && conf->jwks_path)
		conf->auth_servers.items[conf->auth_servers.n++] = conf->issuer;
}

/* ---- what does not go together ---- */

static void
judge_address(struct settings *settings, const char *name, const char *text,
    struct address *ret_address)
{
	struct err err;

	if (text && address_parse(text, ret_address, &err) < 0)
		faults_add(&settings->faults, "--%s: %s", name, err.text);
}

static void
judge_addresses(struct settings *settings)
{
	const struct conf *conf = &settings->conf;
	struct faults *faults = &settings->faults;
	struct address main = { .n = 0 }, admin = { .n = 0 };

	judge_address(settings, "http", conf->http, &main);
	judge_address(settings, "admin-http", conf->admin_http, &admin);
	if (main.n && !address_is_local(&main) && !conf->tokens_path &&
	    !conf->jwks_path && !conf->insecure_no_auth)
		faults_add(faults,
		    "--http %.60s can be reached by other machines, and "
		    "neither --tokens nor --jwks says who may call; "
		    "--insecure-no-auth lets everybody",
		    conf->http);
	if (conf->ui && main.n && !address_is_loopback(&main))
		faults_add(faults,
		    "--ui is for this machine's own browser: --http %.60s is "
		    "no loopback address",
		    conf->http);
	if (conf->admin_http && !conf->http)
		faults_add(faults, "--admin-http is of no use without --http");
	if (conf->admin_http && conf->http &&
	    strcmp(conf->admin_http, conf->http) == 0 &&
	    !strstr(conf->http, ":0"))
		faults_add(faults, "--admin-http and --http are the same");
	if (conf->readyz == WHERE_ADMIN && !conf->admin_http)
		faults_add(faults, "--readyz admin needs --admin-http");
	if (conf->metrics == WHERE_ADMIN && !conf->admin_http)
		faults_add(faults, "--metrics admin needs --admin-http");
}

/* What a setting is of no use without. */
static void
judge_need(struct settings *settings, bool given, const char *name, bool needed,
    const char *need)
{
	if (given && !needed)
		faults_add(&settings->faults, "--%s is of no use without --%s",
		    name, need);
}

static void
judge_auth(struct settings *settings)
{
	const struct conf *conf = &settings->conf;
	struct faults *faults = &settings->faults;
	const bool http = conf->http != NULL;
	const bool jwks = conf->jwks_path != NULL;

	judge_need(settings, conf->tokens_path != NULL, "tokens", http, "http");
	judge_need(settings, jwks, "jwks", http, "http");
	judge_need(settings, conf->sessions, "sessions", http, "http");
	judge_need(settings, conf->ui, "ui", http, "http");
	judge_need(
	    settings, conf->insecure_no_auth, "insecure-no-auth", http, "http");
	judge_need(settings, conf->session_key_path != NULL, "session-key",
	    conf->sessions, "sessions");
	judge_need(settings, conf->issuer != NULL, "issuer", jwks, "jwks");
	judge_need(
	    settings, conf->auth_servers.n > 0, "auth-server", jwks, "jwks");
	judge_need(settings, conf->scopes.n > 0, "scope", jwks, "jwks");
	if (jwks && !conf->issuer)
		faults_add(faults,
		    "--jwks needs --issuer: a key signs for whoever has it");
	if (jwks && !conf->resource)
		faults_add(faults,
		    "--jwks needs --resource, this server's address for "
		    "clients: a token for another must not be taken here");
	if (conf->insecure_no_auth && (conf->tokens_path || jwks))
		faults_add(faults,
		    "--insecure-no-auth contradicts --tokens and --jwks");
}

static void
judge_urls(struct settings *settings)
{
	const struct conf *conf = &settings->conf;
	const struct {
		const char *name, *url;
	} urls[] = { { "issuer", conf->issuer },
		{ "resource", conf->resource } };

	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		const char *why =
		    urls[i].url ? option_judge_url(urls[i].url) : NULL;
		char shown[OPTION_SHOWN_MAX];

		if (!why)
			continue;
		option_show(urls[i].url, shown);
		faults_add(&settings->faults, "--%s takes a URL, not '%s': %s",
		    urls[i].name, shown, why);
	}
	if (conf->resource && *conf->resource &&
	    conf->resource[strlen(conf->resource) - 1] == '/')
		faults_add(&settings->faults,
		    "--resource must not end with a slash: tokens name it so");
}

static void
judge_mounts(struct settings *settings)
{
	const struct conf_list *mounts = &settings->conf.mounts;

	for (unsigned i = 0; i < mounts->n; i++)
		for (unsigned j = 0; j < i; j++) {
			struct mount one, other;

			if (!mount_read(mounts->items[i], &one) &&
			    !mount_read(mounts->items[j], &other) &&
			    mounts_clash(&one, &other))
				faults_add(&settings->faults,
				    "--mount: %.*s and %.*s are one within the "
				    "other",
				    (int)one.guest.n, (const char *)one.guest.p,
				    (int)other.guest.n,
				    (const char *)other.guest.p);
		}
}

/* What some kinds of room cannot do. Where another can, it is only a note. */
static void
judge_trait(struct settings *settings, bool asked, const char *name,
    enum room_trait trait)
{
	const struct conf *conf = &settings->conf;
	enum room_id lacking = ROOMS;
	unsigned have = 0;

	for (unsigned i = 0; i < conf->room_ids_n; i++)
		if (room_id_has(conf->room_ids[i], trait))
			have++;
		else
			lacking = conf->room_ids[i];
	if (asked && lacking != ROOMS)
		faults_add(have > 0 ? &settings->notes : &settings->faults,
		    "--%s has no effect in room %s", name,
		    room_id_name(lacking));
}

static void
judge_rooms(struct settings *settings)
{
	const struct conf *conf = &settings->conf;
	char list[ROOM_LIST_MAX];
	struct err err;

	conf_list_rooms(conf, list);
	if (!conf_has_room(conf, conf->room))
		faults_add(&settings->faults,
		    "--default-room %s is none of --rooms: %s",
		    room_id_name(conf->room), list);
	for (unsigned i = 0; i < conf->room_limits.n; i++) {
		struct conf scratch = { .room = ROOMS };

		if (room_limit_set(conf->room_limits.items[i], &scratch, &err) <
		    0)
			faults_add(&settings->faults, "%s", err.text);
	}
	if (conf->command != COMMAND_SERVE && conf->command != COMMAND_RUN)
		return;
	judge_trait(settings, conf->mounts.n > 0, "mount", TRAIT_MOUNTS);
	judge_trait(settings, conf->deterministic, "deterministic",
	    TRAIT_DETERMINISTIC);
}

void
settings_finish(struct settings *settings)
{
	const struct conf *conf = &settings->conf;

	compute(settings);
	if (conf->timeout_ms > conf->max_timeout_ms)
		faults_add(&settings->faults,
		    "--timeout is longer than --max-timeout");
	judge_mounts(settings);
	judge_rooms(settings);
	if (conf->command != COMMAND_SERVE)
		return;
	judge_addresses(settings);
	judge_auth(settings);
	judge_urls(settings);
}

/* ---- files ---- */

static void
judge_file(struct settings *settings, const char *name, const char *path)
{
	if (path && access(path, R_OK) < 0)
		faults_add(&settings->faults, "--%s: open %.150s: %s", name,
		    path, strerror(errno));
}

/* A file that is made where there is none. */
static void
judge_made_file(
    struct settings *settings, const char *name, const char *path, int mode)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char dir[PATH_MAX] = ".";

	if (!path)
		return;
	if (access(path, F_OK) < 0 && errno == ENOENT) {
		/* "/name" is in "/". */
		if (slash && slash - path < PATH_MAX)
			(void)snprintf(dir, sizeof(dir), "%.*s",
			    slash == path ? 1 : (int)(slash - path), path);
		path = dir;
		mode = W_OK | X_OK;
	}
	if (access(path, mode) < 0)
		faults_add(&settings->faults, "--%s: open %.150s: %s", name,
		    path, strerror(errno));
}

void
settings_judge_files(struct settings *settings)
{
	const struct conf *conf = &settings->conf;

	judge_file(settings, "tokens", conf->tokens_path);
	judge_file(settings, "jwks", conf->jwks_path);
	judge_made_file(settings, "session-key", conf->session_key_path, R_OK);
	judge_made_file(settings, "log", conf->log_path, W_OK);
	for (unsigned i = 0; i < conf->mounts.n; i++) {
		struct err err;

		if (mount_look(conf->mounts.items[i], &err) < 0)
			faults_add(&settings->faults, "%s", err.text);
	}
}
