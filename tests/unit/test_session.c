/* test_session.c: sessions, and the ids that name them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/session.h"

#include "conf/limits.h"
#include "fake_peer.h"
#include "front/ended.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define WALL_S   1800000000
#define IDLE_MS  1000u
#define US_PER_S 1000000u

struct setting {
	struct sessions *sessions;
	struct principal *ann, *bob;
};

static struct sessions *
fresh(uint8_t key)
{
	struct sessions_conf conf = { .idle_ms = IDLE_MS };
	struct sessions *sessions;

	memset(conf.key, key, sizeof(conf.key));
	sessions = sessions_new(&conf);
	assert_non_null(sessions);
	return sessions;
}

static int
setup(void **state)
{
	struct setting *setting = calloc(1, sizeof(*setting));

	assert_non_null(setting);
	setting->sessions = fresh(1);
	setting->ann = principal_new("token", "ann");
	setting->bob = principal_new("token", "bob");
	assert_non_null(setting->ann);
	assert_non_null(setting->bob);
	*state = setting;
	return 0;
}

static int
teardown(void **state)
{
	struct setting *setting = *state;

	sessions_free(setting->sessions);
	assert_int_equal(fake_peers, 0);
	assert_int_equal(setting->ann->holds, 1);
	principal_release(setting->ann);
	principal_release(setting->bob);
	free(setting);
	return 0;
}

/* A session after its handshake. */
static struct session *
begin(
    struct sessions *sessions, struct principal *who, uint64_t now_us, char *id)
{
	struct session *session;

	assert_int_equal(sessions_begin(sessions, who, now_us, &session), 0);
	assert_true(peer_restore(session->peer, "2025-11-25"));
	assert_true(session_name(session, WALL_S, id));
	return session;
}

static struct session *
find(struct sessions *sessions, const char *id, struct principal *who,
    int64_t wall_s, int *code)
{
	return sessions_find(sessions, span_of(id), who, wall_s, 0, code);
}

static void
test_found(void **state)
{
	struct setting *setting = *state;
	char id[SESSION_ID_SIZE], other[SESSION_ID_SIZE];
	struct session *session = begin(setting->sessions, setting->ann, 0, id);
	int code;

	assert_int_equal(strlen(id), SESSION_ID_SIZE - 2);
	for (size_t i = 0; id[i]; i++)
		assert_true(id[i] > ' ' && id[i] < 0x7f);
	assert_ptr_equal(
	    find(setting->sessions, id, setting->ann, WALL_S, &code), session);
	assert_int_equal(code, 0);
	(void)begin(setting->sessions, setting->ann, 0, other);
	assert_string_not_equal(id, other);
	assert_int_equal(sessions_count(setting->sessions), 2);
}

static void
test_not_found(void **state)
{
	struct setting *setting = *state;
	char id[SESSION_ID_SIZE], changed[SESSION_ID_SIZE + 1];
	struct sessions *stranger = fresh(2);
	int code = 0;

	(void)begin(setting->sessions, setting->ann, 0, id);
	assert_null(find(setting->sessions, id, setting->bob, WALL_S, &code));
	assert_int_equal(code, -ENOENT);
	assert_null(find(stranger, id, setting->ann, WALL_S, &code));
	assert_null(find(setting->sessions, "", setting->ann, WALL_S, &code));
	assert_null(sessions_find(setting->sessions, (struct span){ 0 },
	    setting->ann, WALL_S, 0, &code));
	for (size_t i = 0; id[i]; i++) {
		memcpy(changed, id, sizeof(id));
		changed[i] = id[i] == 'A' ? 'B' : 'A';
		assert_null(find(
		    setting->sessions, changed, setting->ann, WALL_S, &code));
		assert_int_equal(code, -ENOENT);
	}
	(void)snprintf(changed, sizeof(changed), "%sA", id);
	assert_null(
	    find(setting->sessions, changed, setting->ann, WALL_S, &code));
	id[strlen(id) - 1] = '\0';
	assert_null(find(setting->sessions, id, setting->ann, WALL_S, &code));
	assert_int_equal(sessions_count(setting->sessions), 1);
	sessions_free(stranger);
}

/* The same key, another process. */
static void
test_restart(void **state)
{
	struct setting *setting = *state;
	struct sessions *next = fresh(1);
	char id[SESSION_ID_SIZE];
	struct session *session;
	int code;

	(void)begin(setting->sessions, setting->ann, 0, id);
	session = find(next, id, setting->ann, WALL_S + 60, &code);
	assert_non_null(session);
	assert_string_equal(peer_revision(session->peer), "2025-11-25");
	assert_ptr_equal(
	    find(next, id, setting->ann, WALL_S + 60, &code), session);
	assert_int_equal(sessions_count(next), 1);
	sessions_free(next);
}

static void
test_life(void **state)
{
	struct setting *setting = *state;
	char id[SESSION_ID_SIZE];
	int code;

	(void)begin(setting->sessions, setting->ann, 0, id);
	assert_non_null(find(setting->sessions, id, setting->ann,
	    WALL_S + SESSION_LIFE_S, &code));
	assert_null(find(setting->sessions, id, setting->ann,
	    WALL_S + SESSION_LIFE_S + 1, &code));
	assert_int_equal(code, -ENOENT);
	assert_null(find(setting->sessions, id, setting->ann,
	    WALL_S - SESSION_LIFE_S - 1, &code));
}

static void
test_ended(void **state)
{
	struct setting *setting = *state;
	char id[SESSION_ID_SIZE], other[SESSION_ID_SIZE];
	struct session *session = begin(setting->sessions, setting->ann, 0, id);
	int code;

	(void)begin(setting->sessions, setting->ann, 0, other);
	session_end(session, WALL_S);
	assert_null(find(setting->sessions, id, setting->ann, WALL_S, &code));
	assert_int_equal(code, -ENOENT);
	assert_non_null(
	    find(setting->sessions, other, setting->ann, WALL_S, &code));
}

static void
test_failed_handshake(void **state)
{
	struct setting *setting = *state;
	char id[SESSION_ID_SIZE];
	struct session *session;

	assert_int_equal(
	    sessions_begin(setting->sessions, setting->ann, 0, &session), 0);
	assert_false(session_name(session, WALL_S, id));
	session_end(session, WALL_S);
	assert_int_equal(sessions_count(setting->sessions), 0);
}

static void
test_idle(void **state)
{
	struct setting *setting = *state;
	char old[SESSION_ID_SIZE], busy[SESSION_ID_SIZE], new[SESSION_ID_SIZE];
	struct session *session;
	int code;

	(void)begin(setting->sessions, setting->ann, 0, old);
	session = begin(setting->sessions, setting->ann, 0, busy);
	session->routes_n++;
	(void)begin(setting->sessions, setting->ann, US_PER_S, new);
	sessions_expire(setting->sessions, WALL_S, US_PER_S - 1);
	assert_int_equal(sessions_count(setting->sessions), 3);
	sessions_expire(setting->sessions, WALL_S, US_PER_S);
	assert_int_equal(sessions_count(setting->sessions), 2);
	assert_null(find(setting->sessions, old, setting->ann, WALL_S, &code));
	assert_non_null(
	    find(setting->sessions, busy, setting->ann, WALL_S, &code));
	assert_non_null(
	    find(setting->sessions, new, setting->ann, WALL_S, &code));
	session->routes_n--;
}

/* A flood of handshakes costs a bounded number of sessions, and those of
 * others none. */
static void
test_cap_of_one(void **state)
{
	struct setting *setting = *state;
	char first[SESSION_ID_SIZE], bobs[SESSION_ID_SIZE], id[SESSION_ID_SIZE];
	struct session *session;
	int code;

	session = begin(setting->sessions, setting->bob, 0, bobs);
	(void)begin(setting->sessions, setting->ann, 0, first);
	for (unsigned i = 1; i < SESSIONS_OF_ONE_MAX + 50; i++)
		(void)begin(setting->sessions, setting->ann, i, id);
	assert_int_equal(
	    sessions_count(setting->sessions), SESSIONS_OF_ONE_MAX + 1);
	assert_ptr_equal(
	    find(setting->sessions, bobs, setting->bob, WALL_S, &code),
	    session);
	/* What made room was not ended: its id is good for a new start. */
	assert_non_null(
	    find(setting->sessions, first, setting->ann, WALL_S, &code));
	assert_int_equal(
	    sessions_count(setting->sessions), SESSIONS_OF_ONE_MAX + 1);
}

static void
test_cap_all_busy(void **state)
{
	struct setting *setting = *state;
	char id[SESSION_ID_SIZE];
	struct session *session;

	for (unsigned i = 0; i < SESSIONS_OF_ONE_MAX; i++)
		begin(setting->sessions, setting->ann, i, id)->routes_n++;
	assert_int_equal(
	    sessions_begin(setting->sessions, setting->ann, 0, &session),
	    -EBUSY);
	assert_int_equal(
	    sessions_begin(setting->sessions, setting->bob, 0, &session), 0);
	assert_int_equal(
	    sessions_count(setting->sessions), SESSIONS_OF_ONE_MAX + 1);
}

static void
test_ended_bounded(void **state)
{
	struct ended *ended = ended_new();
	struct session_id id = { .issued_s = WALL_S }, first, later;

	(void)state;
	assert_non_null(ended);
	first = id;
	for (uint32_t i = 0; i < SESSIONS_ENDED_MAX; i++) {
		memcpy(id.nonce, &i, sizeof(i));
		id.issued_s = WALL_S + i;
		ended_add(ended, &id, WALL_S);
	}
	later = id;
	later.issued_s++;
	later.nonce[15] = 1;
	assert_true(ended_has(ended, &first));
	assert_true(ended_has(ended, &id));
	assert_false(ended_has(ended, &later));
	/* One more than it can remember: the first is still ended. */
	ended_add(ended, &later, WALL_S);
	assert_true(ended_has(ended, &first));
	assert_true(ended_has(ended, &later));
	ended_free(ended);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_found, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_not_found, setup, teardown),
		cmocka_unit_test_setup_teardown(test_restart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_life, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_failed_handshake, setup, teardown),
		cmocka_unit_test_setup_teardown(test_idle, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_cap_of_one, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_cap_all_busy, setup, teardown),
		cmocka_unit_test(test_ended_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
