/* test_rooms.c: a server with several rooms: their configurations, which of
 * them a call goes to, and what is said of the others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "conf/room_conf.h"
#include "mcp/room_hint.h"
#include "mcp_client.h"

#include <errno.h>
#include <fcntl.h>

/* ---- their configurations ---- */

static const struct conf *
parsed(struct conf *conf, const char *const words[])
{
	char *argv[16] = { (char *)"breakroom" };
	struct err err;
	int n = 1;

	while (words[n - 1]) {
		argv[n] = (char *)words[n - 1];
		n++;
	}
	if (conf_parse(n, argv, conf, &err) < 0)
		fail_msg("%s", err.text);
	return conf;
}
#define PARSED(conf, ...) \
	parsed((conf), (const char *const[]){ __VA_ARGS__, NULL })

static void
test_default(void **state)
{
	struct conf conf;

	(void)state;
	PARSED(&conf, "serve");
	assert_int_equal(conf.room_ids_n, 1);
	assert_int_equal(conf.room_ids[0], ROOM_WASM);
	assert_int_equal(conf.room, ROOM_WASM);
	PARSED(&conf, "doctor");
	assert_int_equal(conf.room_ids_n, ROOMS);
	PARSED(&conf, "run", "--room", "deno", "-c", "1");
	assert_int_equal(conf.room_ids_n, 1);
	assert_int_equal(conf.room, ROOM_DENO);
}

static void
test_several(void **state)
{
	struct conf conf;
	char list[ROOM_LIST_MAX];

	(void)state;
	PARSED(&conf, "serve", "--rooms=jail,wasm", "--default-room=wasm");
	assert_int_equal(conf.room_ids_n, 2);
	assert_int_equal(conf.room_ids[0], ROOM_JAIL);
	assert_int_equal(conf.room, ROOM_WASM);
	conf_list_rooms(&conf, list);
	assert_string_equal(list, "jail, wasm");
	conf_done(&conf);
	PARSED(&conf, "serve", "--rooms=jail,wasm");
	assert_int_equal(conf.room, ROOM_JAIL);
	conf_done(&conf);
}

static void
test_limits(void **state)
{
	struct conf conf, jail, wasm;

	(void)state;
	PARSED(&conf, "serve", "--rooms=wasm,jail", "--memory=256M",
	    "--room-limit=jail.memory=1G,jail.cpus=1.5",
	    "--room-limit=jail.timeout=400", "--room-limit=wasm.files=8M",
	    "--room-limit=jail.processes=7");
	conf_for_room(&conf, ROOM_JAIL, &jail);
	conf_for_room(&conf, ROOM_WASM, &wasm);
	assert_int_equal(jail.room, ROOM_JAIL);
	assert_true(jail.memory_bytes == 1024ull * MIB);
	assert_int_equal(jail.cpus_milli, 1500);
	assert_int_equal(jail.processes, 7);
	/* What is given without being asked may be asked for. */
	assert_int_equal(jail.timeout_ms, 400000);
	assert_int_equal(jail.max_timeout_ms, 400000);
	assert_true(jail.files_bytes == FILES_BYTES_DEFAULT);
	assert_true(wasm.memory_bytes == 256ull * MIB);
	assert_true(wasm.files_bytes == 8ull * MIB);
	assert_int_equal(wasm.timeout_ms, WALL_MS_DEFAULT);
	assert_int_equal(wasm.max_timeout_ms, MAX_WALL_MS_DEFAULT);
	assert_int_equal(wasm.cpus_milli, CPUS_MILLI_DEFAULT);
	conf_done(&conf);
}

static void
test_faults(void **state)
{
	static const char *const rows[][3] = {
		{ "--rooms=jial", NULL,
		    "wasm, jail, container, deno are known" },
		{ "--rooms=wasm,wasm", NULL, "--rooms names wasm twice" },
		{ "--default-room=jail", NULL,
		    "--default-room jail is none of --rooms: wasm" },
		{ "--rooms=wasm,jail", "--default-room=deno",
		    "is none of --rooms: wasm, jail" },
		{ "--room-limit=jail", NULL, "it is not ROOM.NAME=VALUE" },
		{ "--room-limit=jail.memory", NULL,
		    "it is not ROOM.NAME=VALUE" },
		{ "--room-limit=cell.memory=1G", NULL, "are known" },
		{ "--room-limit=jail.speed=1", NULL, "the limits are memory" },
		{ "--room-limit=jail.memory=1K", NULL,
		    "--room-limit jail.memory takes a size" },
		{ "--room-limit=jail.cpus=0", NULL,
		    "jail.cpus takes a number from 0.01 to 256, not '0'" },
		{ "--room-limit=jail.processes=1", NULL, "from 2 to 4096" },
		{ "--room-limit=wasm.ready=65", NULL, "from 1 to 64" },
		{ "--rooms=jail", "--deterministic",
		    "--deterministic has no effect in room jail" },
		{ "--rooms=jail", "--mount=/etc:/data:ro",
		    "--mount has no effect in room jail" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *argv[] = { (char *)"breakroom", (char *)"serve",
			(char *)rows[i][0], (char *)rows[i][1] };
		struct conf conf;
		struct err err;

		assert_int_equal(
		    conf_parse(rows[i][1] ? 4 : 3, argv, &conf, &err), -EINVAL);
		if (!strstr(err.text, rows[i][2]))
			fail_msg("\"%s\" has no \"%s\"", err.text, rows[i][2]);
	}
}

/* ---- what could have done it ---- */

static void
hint_of(const char *message, const struct conf *conf, const char *expected)
{
	char line[HINT_SHOWN_MAX + 1] = "";
	struct result result;

	result_init(&result);
	result.outcome = OUTCOME_RAISED;
	(void)buf_add_text(&result.err.text, message);
	assert_int_equal(room_hint(&result, conf, line), expected != NULL);
	if (expected && !strstr(line, expected))
		fail_msg("\"%s\" has no \"%s\"", line, expected);
	result_done(&result);
}

static void
test_hints(void **state)
{
	struct conf conf = { .room = ROOM_WASM,
		.room_ids = { ROOM_WASM, ROOM_JAIL, ROOM_CONTAINER },
		.room_ids_n = 3 };
	const char *const module =
	    "ModuleNotFoundError: No module named 'torch'\n";
	const char *const process = "OSError: no process can be started\n";

	(void)state;
	hint_of(module, &conf, "pass room: \"jail\"");
	hint_of(process, &conf, "pass room: \"container\"");
	conf.allow_processes = true;
	hint_of(process, &conf, "pass room: \"jail\"");
	hint_of("ValueError: no\n", &conf, NULL);
	hint_of("", &conf, NULL);
	/* A room that has it gives no hint; nor does one without company. */
	conf.room = ROOM_JAIL;
	hint_of(module, &conf, NULL);
	conf = (struct conf){ .room_ids = { ROOM_WASM }, .room_ids_n = 1 };
	hint_of(module, &conf, NULL);
	conf = (struct conf){ .room_ids = { ROOM_WASM, ROOM_DENO },
		.room_ids_n = 2 };
	hint_of(module, &conf, NULL);
}

/* ---- calls ---- */

/* A client of a server with two rooms. */
struct two {
	struct client client; /* its room is the first, wasm */
	struct room *jail;
	struct conf confs[2];
};

static int
setup_two(void **state)
{
	struct two *two = calloc(1, sizeof(*two));
	struct client *client = &two->client;
	struct conf *conf = &client->conf;
	struct room *rooms[2];

	*conf = (struct conf){
		.timeout_ms = 30000,
		.max_timeout_ms = 300000,
		.output_chars = 50000,
		.max_sessions = 3,
		.session_memory_bytes = SESSION_MEMORY_DEFAULT,
		.session_rest_ms = SESSION_REST_MS_DEFAULT,
		.session_life_ms = SESSION_LIFE_MS_DEFAULT,
		.room_ids = { ROOM_WASM, ROOM_JAIL },
		.room_ids_n = 2,
		.room_limits = { 1, { "jail.timeout=7" } },
	};
	(void)uv_loop_init(&client->loop);
	for (unsigned i = 0; i < 2; i++) {
		conf_for_room(conf, conf->room_ids[i], &two->confs[i]);
		(void)room_open(
		    &client->loop, NULL, NULL, NULL, &rooms[i], NULL);
	}
	client->room = rooms[0];
	two->jail = rooms[1];
	client->catalog = run_catalog_new(conf, "the description");
	client->mcp = mcp_new_of(&client->loop, rooms, two->confs, 2, conf,
	    run_catalog_face(client->catalog));
	client->peer = peer_new(client->mcp,
	    &(struct peer_conf){ .send = on_message, .arg = client });
	client->got = json_array();
	handshake(client, HANDSHAKE("2025-11-25"));
	*state = two;
	return 0;
}

static int
teardown_two(void **state)
{
	struct two *two = *state;
	struct client *client = &two->client;

	peer_close(client->peer);
	mcp_close(client->mcp);
	room_close(client->room);
	room_close(two->jail);
	(void)uv_run(&client->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&client->loop), 0);
	run_catalog_free(client->catalog);
	json_decref(client->got);
	free(two);
	return 0;
}

/* Calls with these further arguments; returns the result's place. */
static void
call(struct two *two, const char *more)
{
	char text[1024];

	(void)snprintf(text, sizeof(text),
	    "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{"
	    "'name':'run_python','arguments':{'code':'1'%s}}}",
	    more);
	say(&two->client, text);
}

/* The next message says this in its text, and is of that room. */
static void
hears_text(struct two *two, const char *expected, const char *room)
{
	json_t *message = hear(&two->client);
	const char *text =
	    json_string_value(at(message, "result>content>0>text"));

	if (!text || !strstr(text, expected))
		fail_msg("\"%s\" has no \"%s\"", text, expected);
	assert_string_equal(json_string_value(at(
				message, "result>_meta>breakroom/result>room")),
	    room);
	json_decref(message);
	silence(&two->client);
}

static void
test_choice(void **state)
{
	struct two *two = *state;

	call(two, "");
	assert_int_equal(two->client.room->held, 1);
	assert_int_equal(two->client.room->calls[0]->id, 1);
	fake_room_finish(two->client.room, 0, OUTCOME_OK, "a\n", "");
	hears_text(two, "a", "wasm");
	call(two, ",'room':'jail'");
	assert_int_equal(two->jail->held, 1);
	/* Ids are of the server; limits are of the room. */
	assert_int_equal(two->jail->calls[0]->id, 2);
	assert_int_equal(two->jail->calls[0]->wall_ms, 7000);
	fake_room_finish(two->jail, 0, OUTCOME_OK, "b\n", "");
	hears_text(two, "b", "jail");
	call(two, ",'room':null");
	fake_room_finish(two->client.room, 0, OUTCOME_RAISED, "",
	    "ModuleNotFoundError: No module named 'x'\n");
	hears_text(two, "pass room: \"jail\"", "wasm");
	assert_int_equal(
	    mcp_stats(two->client.mcp)->calls[ROOM_JAIL][OUTCOME_OK], 1);
}

static void
test_refused(void **state)
{
	struct two *two = *state;

	call(two, ",'room':'container'");
	hears_text(two,
	    "there is no room \"container\": this server has wasm, jail",
	    "wasm");
	call(two, ",'room':7");
	hears_text(two, "room must be a string", "wasm");
	call(two, ",'room':'jail','fork_of':"
		  "'0123456789abcdef0123456789abcdef'");
	hears_text(two, "room jail cannot copy a session, which room wasm can",
	    "jail");
	assert_int_equal(two->client.room->submitted, 0);
	assert_int_equal(two->jail->submitted, 0);
}

/* A call that is cancelled is so in its own room. */
static void
test_cancel(void **state)
{
	struct two *two = *state;

	call(two, ",'room':'jail'");
	say(&two->client, "{'jsonrpc':'2.0','method':'notifications/cancelled',"
			  "'params':{'requestId':1}}");
	assert_int_equal(two->jail->cancelled, 1);
	assert_int_equal(two->client.room->cancelled, 0);
	fake_room_finish(two->jail, 0, OUTCOME_KILLED, "", "");
	silence(&two->client);
}

/* Ends the jail's call; its session lives. Returns the id, to be freed. */
static char *
session_of_jail(struct two *two)
{
	struct result result;
	json_t *message;
	char *id;

	result_init(&result);
	result.session_alive = true;
	result.session_bytes = 4096;
	fake_room_end(two->jail, 0, &result);
	result_done(&result);
	message = hear(&two->client);
	id = strdup(json_string_value(
	    at(message, "result>_meta>breakroom/result>session")));
	json_decref(message);
	return id;
}

static void
test_session(void **state)
{
	struct two *two = *state;
	own_mem char *id = NULL;
	char more[128];

	call(two, ",'room':'jail','session':'new'");
	assert_int_equal(two->jail->held, 1);
	id = session_of_jail(two);
	/* Its room need not be named, and no other can be. */
	(void)snprintf(more, sizeof(more), ",'session':'%s'", id);
	call(two, more);
	assert_int_equal(two->jail->held, 1);
	own_mem char *same = session_of_jail(two);
	assert_string_equal(same, id);
	(void)snprintf(more, sizeof(more), ",'room':'wasm','session':'%s'", id);
	call(two, more);
	hears_text(two, "that session is in room jail, not wasm", "wasm");
	(void)snprintf(more, sizeof(more), ",'fork_of':'%s'", id);
	call(two, more);
	hears_text(two, "room jail cannot copy a session", "jail");
	assert_int_equal(two->client.room->submitted, 0);
}

static void
test_schema(void **state)
{
	struct two *two = *state;
	json_t *message, *tool;
	const char *text;

	say(&two->client, OLD("2", "tools/list", ""));
	message = hear(&two->client);
	tool = at(message, "result>tools>0");
	assert_string_equal(
	    json_string_value(at(tool, "inputSchema>properties>room>enum>1")),
	    "jail");
	assert_string_equal(
	    json_string_value(at(tool, "inputSchema>properties>room>default")),
	    "wasm");
	text = json_string_value(
	    at(tool, "inputSchema>properties>room>description"));
	assert_non_null(strstr(text, "wasm (default): "));
	assert_non_null(strstr(text, room_id_good_for(ROOM_JAIL)));
	assert_non_null(strstr(text, "; 7 s"));
	assert_string_equal(
	    json_string_value(at(tool, "_meta>breakroom/rooms>1")), "jail");
	json_decref(message);
}

#define TWO(name) cmocka_unit_test_setup_teardown(name, setup_two, teardown_two)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_hints),
		TWO(test_choice),
		TWO(test_refused),
		TWO(test_cancel),
		TWO(test_session),
		TWO(test_schema),
	};

	log_setup(open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
