/* tool_session.c: from arguments to the use of a session.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/tool_session.h"

#include "conf/room_conf.h"
#include "mcp/jsonrpc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SESSION "session"
#define FORK_OF "fork_of"
#define NEW     "new"

bool
tool_session_is_argument(const char *name)
{
	return strcmp(name, SESSION) == 0 || strcmp(name, FORK_OF) == 0;
}

/* Whether a session can be copied in the room that calls have by default. */
static bool
branches(const struct conf *conf)
{
	return room_id_has(conf->room, TRAIT_BRANCHES);
}

void
tool_session_schema(json_t *properties, const struct conf *conf)
{
	enum room_id other;

	if (conf->max_sessions == 0)
		return;
	(void)json_object_set_new(properties, SESSION,
	    json_pack("{s:s, s:s}", "type", "string", "description",
		"\"new\" keeps the interpreter for later calls; the session id "
		"of an earlier result goes on with it: variables, imports and "
		"files are still there."));
	if (!branches(conf) && !conf_room_with(conf, TRAIT_BRANCHES, &other))
		return;
	(void)json_object_set_new(properties, FORK_OF,
	    json_pack("{s:s, s:s}", "type", "string", "description",
		"The session id of an earlier result: runs in a new session "
		"that is a copy of it, which itself stays as it is. Not "
		"together with session."));
}

static void
say_minutes(uint32_t ms, char ret_text[24])
{
	if (ms % 60000 == 0)
		(void)snprintf(ret_text, 24, "%u min", ms / 60000);
	else
		(void)snprintf(ret_text, 24, "%g s", ms / 1000.0);
}

void
tool_session_text(struct buf *text, const struct conf *conf)
{
	char rest[24];

	if (conf->max_sessions == 0)
		return;
	say_minutes(conf->session_rest_ms, rest);
	(void)buf_printf(text,
	    "To go on with variables and files, pass session: \"new\", then "
	    "the session id of the result%s. At most %u are kept, each until "
	    "it was idle for %s.\n",
	    branches(conf) ? "; fork_of: id tries something in a copy" : "",
	    conf->max_sessions, rest);
}

/* The argument of that name; NULL if it is absent, or null. */
static const json_t *
argument(const json_t *arguments, const char *name)
{
	const json_t *value = json_object_get(arguments, name);

	return json_is_null(value) ? NULL : value;
}

static bool
is_id(const json_t *value)
{
	const char *text = json_string_value(value);

	return json_string_length(value) == RANDOM_ID_SIZE - 1 &&
	       strspn(text, "0123456789abcdef") == RANDOM_ID_SIZE - 1;
}

static int
take_id(const json_t *value, const char *name, const char *what,
    struct call *call, struct err *err)
{
	char shown[NAME_SHOWN_SIZE];

	if (is_id(value)) {
		memcpy(
		    call->session_id, json_string_value(value), RANDOM_ID_SIZE);
		return 0;
	}
	if (!json_is_string(value))
		return fail(err, EINVAL, "%s must be a string: %s", name, what);
	(void)json_shown(value, shown);
	return fail(
	    err, EINVAL, "%s must be %s, not \"%s\"", name, what, shown);
}

static int
refuse_branch(const struct conf *conf, struct err *err)
{
	enum room_id other;

	if (conf_room_with(conf, TRAIT_BRANCHES, &other))
		return fail(err, EINVAL,
		    "fork_of is refused: room %s cannot copy a session, which "
		    "room %s can",
		    room_id_name(conf->room), room_id_name(other));
	return fail(err, EINVAL,
	    "fork_of is refused: room %s cannot copy a session, and this "
	    "server has no room that can",
	    room_id_name(conf->room));
}

int
tool_session_take(const json_t *arguments, const struct conf *conf,
    struct call *call, struct err *err)
{
	const json_t *session = argument(arguments, SESSION);
	const json_t *origin = argument(arguments, FORK_OF);

	if (!session && !origin)
		return 0;
	if (conf->max_sessions == 0)
		return fail(err, EINVAL,
		    "%s is refused: this server keeps no sessions, which its "
		    "operator allows with --max-sessions; call without it",
		    session ? SESSION : FORK_OF);
	if (session && origin)
		return fail(err, EINVAL,
		    "session and fork_of exclude each other: fork_of alone "
		    "starts a session that is a copy");
	if (origin && !branches(conf))
		return refuse_branch(conf, err);
	if (origin) {
		call->use = SESSION_BRANCH;
		return take_id(origin, FORK_OF,
		    "the session id of an earlier result", call, err);
	}
	if (json_is_string(session) &&
	    strcmp(json_string_value(session), NEW) == 0) {
		call->use = SESSION_NEW;
		return 0;
	}
	call->use = SESSION_GO_ON;
	return take_id(session, SESSION,
	    "\"new\" or the session id of an earlier result", call, err);
}
