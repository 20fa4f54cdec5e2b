/* test_route.c: what reaches a client of what the protocol sends, and when.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/route.h"
#include "front/turns.h"

#include "conf/limits.h"
#include "fake_exchange.h"
#include "fake_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define LATE UINT64_MAX

static const struct sent answer = { SENT_ANSWER, 200, false };
static const struct sent modern_answer = { SENT_ANSWER, 200, true };
static const struct sent refusal = { SENT_ANSWER, 404, true };
static const struct sent note = { SENT_NOTE, 0, false };
static const struct sent modern_note = { SENT_NOTE, 0, true };
static const struct sent free_note = { SENT_FREE, 0, false };
static const struct sent over = { SENT_OVER, 0, false };
static const struct sent drop = { SENT_DROP, 0, false };

struct setting {
	uv_loop_t loop;
	struct refusals refusals;
	struct routes routes;
	struct sessions *sessions;
	struct session *session;
	struct principal *who;
	struct exchange exchanges[8];
	char id[SESSION_ID_SIZE];
};

static int
setup(void **state)
{
	const struct sessions_conf conf = { .idle_ms = 1000,
		.send = route_session_send };
	struct setting *setting = calloc(1, sizeof(*setting));

	assert_non_null(setting);
	assert_int_equal(uv_loop_init(&setting->loop), 0);
	routes_init(&setting->routes, &setting->loop, &setting->refusals);
	setting->who = principal_new("token", "ann");
	setting->sessions = sessions_new(&conf);
	assert_non_null(setting->sessions);
	assert_int_equal(sessions_begin(setting->sessions, setting->who, 0,
			     &setting->session),
	    0);
	assert_true(peer_restore(setting->session->peer, "2025-11-25"));
	assert_true(session_name(setting->session, 0, setting->id));
	*state = setting;
	return 0;
}

static int
teardown(void **state)
{
	struct setting *setting = *state;

	routes_done(&setting->routes);
	sessions_free(setting->sessions);
	assert_int_equal(fake_peers, 0);
	assert_int_equal(setting->who->holds, 1);
	assert_int_equal(setting->routes.bodies, 0);
	assert_int_equal(setting->routes.streams, 0);
	assert_int_equal(setting->who->connections, 0);
	principal_release(setting->who);
	uv_close((uv_handle_t *)&setting->routes.reaper, NULL);
	(void)uv_run(&setting->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&setting->loop), 0);
	for (size_t i = 0; i < 8; i++)
		fake_exchange_done(&setting->exchanges[i]);
	free(setting);
	return 0;
}

/* Lets the loop come by: what is spent goes. */
static void
turn(struct setting *setting)
{
	(void)uv_run(&setting->loop, UV_RUN_NOWAIT);
	assert_true(TAILQ_EMPTY(&setting->routes.spent));
}

static struct route *
coming(
    struct setting *setting, struct exchange *exchange, bool json, bool events)
{
	struct route *route =
	    route_new(&setting->routes, exchange, principal_hold(setting->who));

	assert_non_null(route);
	route->accept = (struct accept){ json, events };
	return route;
}

/* A message that is served alone. */
static struct route *
alone(
    struct setting *setting, struct exchange *exchange, bool json, bool events)
{
	const struct peer_conf conf = { .kind = PEER_STATELESS,
		.send = route_send };
	struct route *route = coming(setting, exchange, json, events);

	route->peer = peer_new(NULL, &conf);
	route_ask(route);
	return route;
}

/* One of the session. */
static struct route *
within(
    struct setting *setting, struct exchange *exchange, bool json, bool events)
{
	struct route *route = coming(setting, exchange, json, events);

	route_join(route, setting->session);
	route_ask(route);
	return route;
}

/* One that begins a session of its own. */
static struct route *
beginning(struct setting *setting, struct exchange *exchange,
    struct session **ret_session)
{
	struct route *route = coming(setting, exchange, true, true);

	assert_int_equal(
	    sessions_begin(setting->sessions, setting->who, 0, ret_session), 0);
	route->session_new = true;
	route_join(route, *ret_session);
	route_ask(route);
	return route;
}

static struct route *
listening(
    struct setting *setting, struct exchange *exchange, const char *last_id)
{
	struct route *route = coming(setting, exchange, true, true);

	route_join(route, setting->session);
	route_listen(route, last_id ? span_of(last_id) : (struct span){ 0 });
	return route;
}

static void
say(struct route *route, const char *text, const struct sent *sent)
{
	struct buf message;

	buf_init(&message, 4096);
	(void)buf_add_text(&message, text);
	route_send(NULL, route, &message, sent);
	buf_done(&message);
}

static void
say_free(struct setting *setting, const char *text)
{
	struct buf message;

	buf_init(&message, 4096);
	(void)buf_add_text(&message, text);
	route_session_send(setting->session, NULL, &message, &free_note);
	buf_done(&message);
}

/* Whether the client was sent text. */
static bool
shows(const struct exchange *exchange, const char *text)
{
	return strstr(fake_exchange_text(exchange), text) != NULL;
}

/* One of the session, with a note on its stream. */
static struct route *
noted(struct setting *setting, struct exchange *exchange)
{
	struct route *route = within(setting, exchange, true, true);

	say(route, "{\"n\":1}", &note);
	return route;
}

/* The id of the event that carries data. */
static const char *
id_of(const struct exchange *exchange, const char *data, char *id)
{
	const char *text = fake_exchange_text(exchange);
	const char *at = strstr(text, data), *found = NULL, *next = text;

	assert_non_null(at);
	while ((next = strstr(next, "id: ")) && next < at)
		found = next++;
	assert_non_null(found);
	(void)snprintf(id, EVENT_ID_SIZE, "%.*s", (int)strcspn(found + 4, "\n"),
	    found + 4);
	return id;
}

/* ---- without a session ---- */

static void
test_json(void **state)
{
	struct setting *setting = *state;
	struct exchange *exchange = &setting->exchanges[0];
	struct route *route = alone(setting, exchange, true, true);

	say(route, "{\"a\":1}", &modern_answer);
	assert_int_equal(exchange->status, 200);
	assert_string_equal(exchange->type, "application/json");
	assert_string_equal(fake_exchange_text(exchange), "{\"a\":1}");
	assert_null(exchange->owner);
	assert_int_equal(fake_peers, 2);
	turn(setting);
	assert_int_equal(fake_peers, 1); /* the session's */
}

static void
test_status(void **state)
{
	struct setting *setting = *state;
	struct exchange *exchange = &setting->exchanges[0];

	/* An error is no stream, even where nothing else is asked for. */
	say(alone(setting, exchange, false, true), "{}", &refusal);
	assert_int_equal(exchange->status, 404);
	assert_string_equal(exchange->type, "application/json");
}

static void
test_only_events(void **state)
{
	struct setting *setting = *state;
	struct exchange *exchange = &setting->exchanges[0];

	say(alone(setting, exchange, false, true), "{\"a\":1}", &answer);
	assert_true(exchange->streaming);
	assert_true(exchange->ended);
	assert_string_equal(fake_exchange_text(exchange),
	    "event: message\ndata: {\"a\":1}\n\n");
	assert_non_null(strstr(exchange->headers, "X-Accel-Buffering: no\r\n"));
	assert_non_null(strstr(exchange->headers, "Cache-Control: no-cache"));
}

static void
test_note_begins_stream(void **state)
{
	struct setting *setting = *state;
	struct exchange *exchange = &setting->exchanges[0];
	struct route *route = alone(setting, exchange, true, true);

	say(route, "{\"n\":1}", &modern_note);
	assert_true(exchange->streaming);
	assert_int_equal(setting->routes.streams, 1);
	say(route, "{\"a\":1}", &modern_answer);
	assert_string_equal(fake_exchange_text(exchange),
	    "event: message\ndata: {\"n\":1}\n\n"
	    "event: message\ndata: {\"a\":1}\n\n");
	assert_true(exchange->ended);
}

static void
test_note_without_events(void **state)
{
	struct setting *setting = *state;
	struct exchange *exchange = &setting->exchanges[0];
	struct route *route = alone(setting, exchange, true, false);

	say(route, "{\"n\":1}", &note);
	route_tick(route, LATE - 1);
	assert_false(exchange->streaming);
	say(route, "{\"a\":1}", &answer);
	assert_string_equal(fake_exchange_text(exchange), "{\"a\":1}");
}

static void
test_kept_alive(void **state)
{
	struct setting *setting = *state;
	struct exchange *exchange = &setting->exchanges[0];
	struct route *route = alone(setting, exchange, true, true);
	uint64_t due_us = route->due_us;

	route_tick(route, due_us - 1);
	assert_false(exchange->streaming);
	route_tick(route, due_us);
	assert_true(exchange->streaming);
	assert_string_equal(fake_exchange_text(exchange), ":\n\n");
	assert_true(route->due_us > due_us - SSE_AFTER_MS * 1000ull);
	route_tick(route, route->due_us);
	assert_string_equal(fake_exchange_text(exchange), ":\n\n:\n\n");
	say(route, "{}", &answer);
	assert_true(exchange->ended);
}

static void
test_gone_cancels(void **state)
{
	struct setting *setting = *state;
	struct route *route =
	    alone(setting, &setting->exchanges[0], true, true);

	route_gone(route);
	assert_int_equal(fake_peers, 1); /* at once: its call is cancelled */
	turn(setting);
}

static void
test_slow_reader(void **state)
{
	struct setting *setting = *state;
	struct exchange *exchange = &setting->exchanges[0];
	struct route *route = alone(setting, exchange, true, true);

	exchange->slow = true;
	say(route, "{\"n\":1}", &note);
	say(route, "{\"n\":2}", &note);
	assert_string_equal(fake_exchange_text(exchange), "");
	say(route, "{}",
	    &answer); /* before the loop could say that it is gone */
	assert_false(exchange->ended);
	assert_null(exchange->owner);
}

static void
test_bodies(void **state)
{
	struct setting *setting = *state;
	struct principal *bob = principal_new("token", "bob");
	struct route *a = coming(setting, &setting->exchanges[0], true, true);
	struct route *b = coming(setting, &setting->exchanges[1], true, true);
	struct route *c =
	    route_new(&setting->routes, &setting->exchanges[2], bob);

	assert_true(route_reserve(a, HTTP_BODIES_OF_ONE - 10));
	assert_false(route_reserve(b, 11));
	assert_true(route_reserve(c, HTTP_BODIES_OF_ONE));
	route_ask(a);
	assert_true(route_reserve(b, HTTP_BODIES_OF_ONE));
}

/* ---- turns ---- */

struct served {
	struct route *routes[8];
	unsigned n;
};

static void
on_turn(void *arg, struct route *route)
{
	struct served *served = arg;

	served->routes[served->n++] = route;
}

static void
test_turns(void **state)
{
	struct setting *setting = *state;
	struct exchange *exchanges = setting->exchanges;
	struct principal *bob = principal_new("token", "bob");
	struct route *ann[4], *other;
	struct served served = { .n = 0 };
	struct turns turns;

	turns_init(&turns, &setting->loop, on_turn, &served);
	for (size_t i = 0; i < 4; i++) {
		ann[i] = coming(setting, &exchanges[i], true, true);
		turns_take(&turns, ann[i]);
	}
	other = route_new(&setting->routes, &exchanges[4], bob);
	turns_take(&turns, other);
	/* One of each, and whoever sent many waits. */
	assert_int_equal(served.n, 2);
	assert_ptr_equal(served.routes[0], ann[0]);
	assert_ptr_equal(served.routes[1], other);
	turn(setting);
	assert_int_equal(served.n, 3);
	assert_ptr_equal(served.routes[2], ann[1]);
	route_gone(ann[2]); /* while it waits */
	turn(setting);
	assert_int_equal(served.n, 4);
	assert_ptr_equal(served.routes[3], ann[3]);
	assert_false(uv_is_active((uv_handle_t *)&turns.idle));
	turn(setting);
	assert_int_equal(served.n, 4);
	uv_close((uv_handle_t *)&turns.check, NULL);
	uv_close((uv_handle_t *)&turns.idle, NULL);
	turn(setting);
}

/* ---- with one ---- */

static void
test_new_session(void **state)
{
	struct setting *setting = *state;
	struct exchange *exchange = &setting->exchanges[0];
	struct session *session;
	struct route *route = beginning(setting, exchange, &session);
	char expected[SESSION_ID_SIZE + 32];

	assert_true(peer_restore(session->peer, "2025-06-18"));
	say(route, "{}", &answer);
	assert_true(session->listed);
	(void)snprintf(expected, sizeof(expected), "Mcp-Session-Id: %s\r\n",
	    route->session_id);
	assert_string_equal(exchange->headers, expected);
	assert_int_equal(session->routes_n, 0);
}

static void
test_no_session_for_an_error(void **state)
{
	struct setting *setting = *state;
	struct exchange *exchange = &setting->exchanges[0];
	const struct sent error = { SENT_ANSWER, 400, false };
	struct session *session;
	struct route *route = beginning(setting, exchange, &session);

	say(route, "{}", &error);
	assert_false(session->listed);
	assert_string_equal(exchange->headers, "");
}

static void
test_primed_and_resumed(void **state)
{
	struct setting *setting = *state;
	struct exchange *first = &setting->exchanges[0];
	struct exchange *second = &setting->exchanges[1];
	struct route *route = noted(setting, first);
	char id[EVENT_ID_SIZE];

	assert_true(shows(first, "retry: 1000\ndata: \n\n"));
	say(route, "{\"n\":2}", &note);
	route_gone(route); /* and the call goes on */
	turn(setting);
	say(route, "{\"n\":3}", &note);
	(void)listening(setting, second, id_of(first, "{\"n\":1}", id));
	assert_true(second->streaming);
	assert_false(shows(second, "{\"n\":1}"));
	assert_true(shows(second, "{\"n\":2}"));
	assert_true(shows(second, "{\"n\":3}"));
	say(route, "{\"a\":1}", &answer);
	assert_true(shows(second, "{\"a\":1}"));
	assert_true(second->ended);
	turn(setting);
	assert_int_equal(setting->session->routes_n, 0);
}

static void
test_resumed_after_the_end(void **state)
{
	struct setting *setting = *state;
	struct exchange *first = &setting->exchanges[0];
	struct exchange *second = &setting->exchanges[1];
	struct route *route = noted(setting, first);
	char id[EVENT_ID_SIZE];

	route_gone(route);
	say(route, "{\"a\":1}", &answer);
	turn(setting);
	(void)listening(setting, second, id_of(first, "{\"n\":1}", id));
	assert_true(shows(second, "{\"a\":1}"));
	assert_false(shows(second, "{\"n\":1}"));
	assert_true(second->ended);
}

static void
test_resumed_while_read(void **state)
{
	struct setting *setting = *state;
	struct exchange *first = &setting->exchanges[0];
	struct exchange *second = &setting->exchanges[1];
	struct route *route = noted(setting, first);
	char id[EVENT_ID_SIZE];

	(void)listening(setting, second, id_of(first, "{\"n\":1}", id));
	assert_true(first->ended); /* a message goes on one stream only */
	say(route, "{\"a\":1}", &answer);
	assert_false(shows(first, "{\"a\":1}"));
	assert_true(shows(second, "{\"a\":1}"));
}

static void
test_streams_apart(void **state)
{
	struct setting *setting = *state;
	struct exchange *third = &setting->exchanges[2];
	struct route *a = within(setting, &setting->exchanges[0], true, true);
	struct route *b = within(setting, &setting->exchanges[1], true, true);
	char id[EVENT_ID_SIZE];

	say(a, "{\"n\":\"a1\"}", &note);
	say(b, "{\"n\":\"b1\"}", &note);
	say(a, "{\"n\":\"a2\"}", &note);
	say(b, "{\"n\":\"b2\"}", &note);
	(void)listening(
	    setting, third, id_of(&setting->exchanges[0], "\"a1\"", id));
	/* With their quotes: the letters alone may be in an identity. */
	assert_true(shows(third, "\"a2\""));
	assert_false(shows(third, "\"b2\""));
	say(a, "{}", &answer);
	say(b, "{}", &answer);
}

static void
test_dropped(void **state)
{
	struct setting *setting = *state;
	struct exchange *first = &setting->exchanges[0];
	struct exchange *second = &setting->exchanges[1];
	struct route *route = within(setting, first, true, true);
	char id[EVENT_ID_SIZE];

	say(route, "", &drop);
	assert_true(first->ended);
	assert_null(first->owner);
	say(route, "{\"a\":1}", &answer);
	turn(setting);
	(void)listening(setting, second, id_of(first, "retry:", id));
	assert_true(shows(second, "{\"a\":1}"));
	assert_true(second->ended);
}

static void
test_cancelled(void **state)
{
	struct setting *setting = *state;
	struct route *begun = noted(setting, &setting->exchanges[0]);

	say(begun, "", &over);
	assert_true(setting->exchanges[0].ended);
	say(within(setting, &setting->exchanges[1], true, true), "", &over);
	assert_int_equal(setting->exchanges[1].status, 202);
	turn(setting);
	assert_int_equal(setting->session->routes_n, 0);
}

static void
test_old_clients_are_not_primed(void **state)
{
	struct setting *setting = *state;
	struct exchange *exchange = &setting->exchanges[0];
	struct route *route = within(setting, exchange, true, true);

	assert_true(peer_restore(setting->session->peer, "2025-06-18"));
	say(route, "{\"n\":1}", &note);
	assert_false(shows(exchange, "retry:"));
	assert_true(shows(exchange, "id: "));
	say(route, "{}", &answer);
}

static void
test_notes(void **state)
{
	struct setting *setting = *state;
	char id[EVENT_ID_SIZE];
	struct route *route;

	say_free(setting, "{\"f\":0}"); /* to nobody */
	route = listening(setting, &setting->exchanges[0], NULL);
	assert_true(setting->exchanges[0].streaming);
	say_free(setting, "{\"f\":1}");
	assert_true(shows(&setting->exchanges[0], "{\"f\":1}"));
	route_gone(route);
	turn(setting);
	say_free(setting, "{\"f\":2}");
	(void)listening(setting, &setting->exchanges[1],
	    id_of(&setting->exchanges[0], "{\"f\":1}", id));
	assert_true(shows(&setting->exchanges[1], "{\"f\":2}"));
	say_free(setting, "{\"f\":3}");
	assert_true(shows(&setting->exchanges[1], "{\"f\":3}"));
	assert_false(setting->exchanges[1].ended);
}

static void
test_notes_go_once(void **state)
{
	struct setting *setting = *state;

	for (unsigned i = 0; i < SESSION_STREAMS_MAX + 1; i++)
		(void)listening(setting, &setting->exchanges[i], NULL);
	assert_true(setting->exchanges[0].ended); /* one too many */
	say_free(setting, "{\"f\":1}");
	for (unsigned i = 0; i < SESSION_STREAMS_MAX; i++)
		assert_false(shows(&setting->exchanges[i], "{\"f\":1}"));
	assert_true(
	    shows(&setting->exchanges[SESSION_STREAMS_MAX], "{\"f\":1}"));
}

static void
test_strange_last_id(void **state)
{
	struct setting *setting = *state;
	struct route *route = noted(setting, &setting->exchanges[0]);

	(void)listening(setting, &setting->exchanges[1], "-1");
	assert_true(setting->exchanges[1].streaming);
	assert_false(shows(&setting->exchanges[1], "{\"n\":1}"));
	assert_false(setting->exchanges[1].ended);
	say(route, "{}", &answer);
}

static void
test_session_ends(void **state)
{
	struct setting *setting = *state;
	struct route *waits, *comes;

	waits = within(setting, &setting->exchanges[0], true, false);
	(void)listening(setting, &setting->exchanges[1], NULL);
	comes = coming(setting, &setting->exchanges[2], true, true);
	route_join(comes, setting->session);
	routes_end_session(setting->session);
	assert_true(waits->spent);
	assert_int_equal(setting->exchanges[0].status, 404);
	assert_true(setting->exchanges[1].ended);
	assert_true(comes->session_lost);
	assert_null(comes->session);
	assert_int_equal(setting->session->routes_n, 0);
}

static void
test_refusal(void **state)
{
	static const struct http_refusal why = { 415, "content_type", "no",
		NULL };
	struct setting *setting = *state;
	struct exchange *exchange = &setting->exchanges[0];

	for (int i = 0; i < 2; i++) {
		route_refuse(coming(setting, exchange, true, true), &why);
		assert_string_equal(fake_exchange_text(exchange),
		    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,"
		    "\"message\":\"no\"}}");
		fake_exchange_done(exchange);
	}
	assert_int_equal(setting->refusals.n, 1);
	assert_int_equal(setting->refusals.counts[0].n, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_json),
		TEST(test_status),
		TEST(test_only_events),
		TEST(test_note_begins_stream),
		TEST(test_note_without_events),
		TEST(test_kept_alive),
		TEST(test_gone_cancels),
		TEST(test_slow_reader),
		TEST(test_bodies),
		TEST(test_turns),
		TEST(test_new_session),
		TEST(test_no_session_for_an_error),
		TEST(test_primed_and_resumed),
		TEST(test_resumed_after_the_end),
		TEST(test_resumed_while_read),
		TEST(test_streams_apart),
		TEST(test_dropped),
		TEST(test_cancelled),
		TEST(test_old_clients_are_not_primed),
		TEST(test_notes),
		TEST(test_notes_go_once),
		TEST(test_strange_last_id),
		TEST(test_session_ends),
		TEST(test_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
