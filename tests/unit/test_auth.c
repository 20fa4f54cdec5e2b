/* test_auth.c: tokens from a file: the file, the header, rates, reloading; and
 * what clients are told.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/auth.h"

#include "base/base64.h"
#include "front/auth_members.h"
#include "front/auth_rates.h"
#include "front/auth_tokens.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000)
#define START  (UINT64_C(1000) * SECOND)

#define RIGHT "right-token-of-alice-0123456789"
#define OTHER "other-token-of-bob-0123456789"

static const uint8_t here[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };
static const uint8_t there[16] = { [10] = 0xff, 0xff, 192, 0, 2, 1 };

static const struct conf conf = {
	.tokens_path = "/tokens",
	.token_calls = 8,
	.token_queue = 32,
	.token_per_minute = 600,
	.per_minute = 6100,
};

/* ---- the file ---- */

/* "NAME sha256:..." of a token. */
static const char *
line_of(const char *name, const char *token, const char *rest, char *line)
{
	uint8_t digest[TOKEN_DIGEST_SIZE];
	int n = sprintf(line, "%s sha256:", name);

	token_digest(span_of(token), digest);
	for (unsigned i = 0; i < sizeof(digest); i++)
		n += sprintf(line + n, "%02x", digest[i]);
	(void)sprintf(line + n, "%s\n", rest);
	return line;
}

static struct auth *
auth_with(const char *text)
{
	struct auth *auth = NULL;
	struct err err;

	assert_int_equal(auth_new(&conf, &auth, &err), 0);
	if (auth_set_tokens(auth, span_of(text), &err) < 0)
		fail_msg("%s", err.text);
	return auth;
}

static const char *
both(void)
{
	static char text[512];

	(void)line_of("alice", RIGHT, " calls=2 queue=3 per-minute=4", text);
	(void)line_of("bob", OTHER, "", text + strlen(text));
	return text;
}

#define HEX16 "0123456789abcdef"
#define HEX   HEX16 HEX16 HEX16 HEX16
#define HEX2  HEX16 HEX16 HEX16 "0123456789ABCDE0"

static void
file_is_read(void **state)
{
	static const char text[] =
	    "# all of them\n\n"
	    "a sha256:" HEX " # first\r\n"
	    "\tB.c_d-9\tsha256:" HEX2 "  per-minute=1000000 calls=256 queue=1";
	struct token_lines *lines = NULL;
	struct err err;

	(void)state;
	assert_int_equal(tokens_parse(span_of(text), &lines, &err), 0);
	assert_int_equal(lines->n, 2);
	assert_string_equal(lines->lines[0].name, "a");
	assert_int_equal(lines->lines[0].calls, 0);
	assert_int_equal(lines->lines[0].digest[7], 0xef);
	assert_string_equal(lines->lines[1].name, "B.c_d-9");
	assert_int_equal(lines->lines[1].digest[31], 0xe0);
	assert_int_equal(lines->lines[1].calls, 256);
	assert_int_equal(lines->lines[1].queue, 1);
	assert_int_equal(lines->lines[1].per_minute, 1000000);
	free(lines);
	lines = NULL;
	assert_int_equal(tokens_parse(span_of("# none\n"), &lines, &err), 0);
	assert_int_equal(lines->n, 0);
	free(lines);
}

static void
file_is_checked(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "empty" },
		{ "a\n", "line 1: the second word" },
		{ "\n#\na sha256:12\n", "line 3: the second word" },
		{ "a sha512:" HEX "\n", "line 1: the second word" },
		{ "a sha256:" HEX "0\n", "line 1: the second word" },
		{ "a sha256:g123456789abcdef" HEX16 HEX16 HEX16 "\n",
		    "line 1: the second word" },
		{ "secret-token-of-somebody\n", "line 1: the second word" },
		{ "a/b sha256:" HEX "\n", "line 1: a name" },
		{ "a sha256:" HEX " calls=0", "calls= takes" },
		{ "a sha256:" HEX " calls=257", "calls= takes" },
		{ "a sha256:" HEX " calls=-1", "calls= takes" },
		{ "a sha256:" HEX " calls=", "calls= takes" },
		{ "a sha256:" HEX " calls=01", "calls= takes" },
		{ "a sha256:" HEX " queue=18446744073709551617",
		    "queue= takes" },
		{ "a sha256:" HEX " per-minute=1000001", "per-minute= takes" },
		{ "a sha256:" HEX " calls=1 calls=1", "twice" },
		{ "a sha256:" HEX " call=1", "unknown word" },
		{ "a sha256:" HEX "\nb sha256:" HEX "\n",
		    "line 2: a line above has the same token" },
		{ "a sha256:" HEX "\na sha256:" HEX2 "\n",
		    "line 2: a line above has the same name" },
	};
	struct token_lines *lines;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
		    tokens_parse(span_of(cases[i].text), &lines, &err),
		    -EINVAL);
		if (!strstr(err.text, cases[i].says))
			fail_msg("%s: %s", cases[i].text, err.text);
		/* What is no line may be a token that was put there. */
		assert_null(strstr(err.text, "secret"));
	}
}

static void
tokens_are_counted(void **state)
{
	struct token_lines *lines;
	struct buf text;
	struct err err;

	(void)state;
	buf_init(&text, MIB);
	for (unsigned i = 0; i <= TOKENS_MAX; i++)
		assert_int_equal(
		    buf_printf(&text, "n%u sha256:%064x\n", i, i), 0);
	assert_int_equal(tokens_parse(buf_span(&text), &lines, &err), -EINVAL);
	assert_non_null(strstr(err.text, "line 1001: more than 1000"));
	buf_done(&text);
}

/* ---- the header ---- */

static void
ask(struct auth *auth, const char *header, const uint8_t *address,
    uint64_t now_us, struct auth_verdict *verdict)
{
	struct span span = { NULL, 0 };

	if (header)
		span = span_of(header);
	auth_check(auth, span, address, 0, now_us, verdict);
}

static void
header_is_judged(void **state)
{
	static const char wrong[] = "Bearer realm=\"breakroom\"";
	static const char invalid[] =
	    "Bearer error=\"invalid_token\", realm=\"breakroom\"";
	static const char broken[] =
	    "Bearer error=\"invalid_request\", realm=\"breakroom\"";
	static const struct {
		const char *header;
		unsigned status;
		const char *challenge;
	} cases[] = {
		{ "Bearer " RIGHT, 0, "" },
		{ "bEARER " RIGHT, 0, "" },
		{ NULL, 401, wrong },
		{ "", 401, wrong },
		{ RIGHT, 401, wrong },
		{ "Basic " RIGHT, 401, wrong },
		{ "Bearers " RIGHT, 401, wrong },
		{ "Bearer", 400, broken },
		{ "Bearer ", 400, broken },
		{ "Bearer  " RIGHT, 400, broken },
		{ "Bearer\t" RIGHT, 400, broken },
		{ "Bearer " RIGHT " ", 400, broken },
		{ "Bearer " RIGHT ",x", 400, broken },
		{ "Bearer \"" RIGHT "\"", 400, broken },
		{ "Bearer =" RIGHT, 400, broken },
		{ "Bearer a=b", 400, broken },
		{ "Bearer " RIGHT "=", 401, invalid },
		{ "Bearer right-token-of-alice-012345678", 401, invalid },
		{ "Bearer a.b.c", 401, invalid },
		{ "Bearer x", 401, invalid },
	};
	struct auth *auth = auth_with(both());
	struct auth_verdict verdict;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* Far apart: not as guesses. */
		ask(auth, cases[i].header, here, START + i * 60 * SECOND,
		    &verdict);
		if (verdict.status != cases[i].status ||
		    strcmp(verdict.challenge, cases[i].challenge) != 0)
			fail_msg("%s: %u, %s", cases[i].header, verdict.status,
			    verdict.challenge);
		assert_int_equal(
		    verdict.principal == NULL, verdict.status != 0);
		assert_int_equal(*verdict.reason == '\0', verdict.status == 0);
		principal_release(verdict.principal);
	}
	auth_free(auth);
}

/* Each is who it is, with what its line says or the server. */
static void
principals_are_those_of_the_file(void **state)
{
	struct auth *auth = auth_with(both());
	struct auth_verdict alice, bob;

	(void)state;
	ask(auth, "Bearer " RIGHT, here, START, &alice);
	ask(auth, "Bearer " OTHER, here, START, &bob);
	assert_string_equal(alice.principal->name, "alice");
	assert_int_equal(alice.principal->calls_max, 2);
	assert_int_equal(alice.principal->queue_max, 3);
	assert_int_equal(alice.principal->per_minute, 4);
	assert_string_equal(bob.principal->name, "bob");
	assert_int_equal(bob.principal->calls_max, 8);
	assert_int_equal(bob.principal->queue_max, 32);
	assert_int_equal(bob.principal->per_minute, 600);
	assert_false(principal_is(alice.principal, bob.principal));
	/* Holds outlive the table. */
	auth_free(auth);
	principal_release(alice.principal);
	principal_release(bob.principal);
}

static void
huge_tokens_are_wrong(void **state)
{
	struct auth *auth = auth_with(both());
	struct auth_verdict verdict;
	char *huge = malloc(MIB + 8);

	(void)state;
	assert_non_null(huge);
	memcpy(huge, "Bearer ", 7);
	memset(huge + 7, 'a', MIB);
	auth_check(auth, (struct span){ (uint8_t *)huge, MIB + 7 }, here, 0,
	    START, &verdict);
	assert_int_equal(verdict.status, 401);
	free(huge);
	auth_free(auth);
}

static void
without_files_all_are_one(void **state)
{
	static const struct conf open = { .token_calls = 1 };
	struct auth_verdict first, second;
	struct auth *auth = NULL;
	unsigned retry_s;
	struct err err;

	(void)state;
	assert_int_equal(auth_new(&open, &auth, &err), 0);
	ask(auth, NULL, here, START, &first);
	ask(auth, "Bearer  whatever", there, START, &second);
	assert_ptr_equal(first.principal, second.principal);
	assert_string_equal(first.principal->name, "anonymous");
	assert_int_equal(first.principal->calls_max, CONCURRENCY_MAX);
	for (unsigned i = 0; i < 10000; i++)
		assert_true(auth_admit(auth, first.principal, START, &retry_s));
	assert_null(auth_metadata(auth));
	assert_null(auth_metadata_path(auth));
	principal_release(first.principal);
	principal_release(second.principal);
	auth_free(auth);
}

/* ---- rates ---- */

static void
guesses_are_limited(void **state)
{
	struct auth *auth = auth_with(both());
	struct auth_verdict verdict;
	char guess[64];

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		(void)sprintf(guess, "Bearer guess-of-a-token-%u", i);
		ask(auth, guess, here, START, &verdict);
		assert_int_equal(
		    verdict.status, i < AUTH_FAILURES_MAX ? 401 : 429);
		if (verdict.status == 429)
			assert_int_equal(verdict.retry_after_s, 3);
	}
	assert_string_equal(verdict.challenge, "");
	/* Neither those that know it, nor those that have none, nor others. */
	ask(auth, "Bearer " RIGHT, here, START, &verdict);
	assert_int_equal(verdict.status, 0);
	principal_release(verdict.principal);
	ask(auth, NULL, here, START, &verdict);
	assert_int_equal(verdict.status, 401);
	ask(auth, guess, there, START, &verdict);
	assert_int_equal(verdict.status, 401);
	/* One in three seconds. */
	ask(auth, guess, here, START + 3 * SECOND, &verdict);
	assert_int_equal(verdict.status, 401);
	ask(auth, guess, here, START + 3 * SECOND, &verdict);
	assert_int_equal(verdict.status, 429);
	auth_free(auth);
}

/* A client has a network of 2^64 addresses to itself. */
static void
networks_are_one(void **state)
{
	struct failures *failures = failures_new();
	uint8_t address[16] = { 0x20, 0x01, 0x0d, 0xb8 };
	unsigned retry_s, refused = 0;

	(void)state;
	assert_non_null(failures);
	for (unsigned i = 0; i < 100; i++) {
		address[15] = (uint8_t)i;
		address[8] = (uint8_t)(i * 7);
		refused += !failures_add(failures, address, START, &retry_s);
	}
	assert_int_equal(refused, 100 - AUTH_FAILURES_MAX);
	address[7] = 1;
	assert_true(failures_add(failures, address, START, &retry_s));
	failures_free(failures);
}

/* However many there are, the table does not grow, and the last ones are
 * known. */
static void
addresses_are_forgotten(void **state)
{
	struct failures *failures = failures_new();
	unsigned retry_s;

	(void)state;
	assert_non_null(failures);
	for (uint32_t i = 0; i < 1000000; i++) {
		uint8_t address[16] = { [10] = 0xff, 0xff };

		memcpy(address + 12, &i, sizeof(i));
		(void)failures_add(failures, address, START + i, &retry_s);
	}
	for (unsigned i = 0; i < AUTH_FAILURES_MAX; i++)
		assert_true(
		    failures_add(failures, here, START + 2 * SECOND, &retry_s));
	assert_false(
	    failures_add(failures, here, START + 2 * SECOND, &retry_s));
	failures_free(failures);
}

/* Costly looks: as many as anybody wants, until the address failed too often;
 * then some. */
static void
looks_are_limited(void **state)
{
	struct failures *failures = failures_new();
	unsigned retry_s, looks = 0;

	(void)state;
	assert_non_null(failures);
	for (unsigned i = 0; i < 10000; i++)
		assert_true(failures_may_look(failures, here, START, &retry_s));
	for (unsigned i = 0; i < AUTH_FAILURES_MAX; i++)
		assert_true(failures_add(failures, here, START, &retry_s));
	for (unsigned i = 0; i < 10000; i++)
		looks += failures_may_look(failures, here, START, &retry_s);
	assert_int_equal(looks, AUTH_LOOKS_MAX);
	assert_int_equal(retry_s, 1);
	assert_true(failures_may_look(failures, there, START, &retry_s));
	failures_free(failures);
}

static void
calls_are_counted(void **state)
{
	struct auth *auth = auth_with(both());
	struct auth_verdict alice, bob;
	unsigned retry_s = 0;

	(void)state;
	ask(auth, "Bearer " RIGHT, here, START, &alice);
	ask(auth, "Bearer " OTHER, here, START, &bob);
	for (unsigned i = 0; i < 4; i++)
		assert_true(auth_admit(auth, alice.principal, START, &retry_s));
	assert_false(auth_admit(auth, alice.principal, START, &retry_s));
	assert_int_equal(retry_s, 15);
	assert_true(auth_admit(auth, bob.principal, START, &retry_s));
	/* A refused one costs nothing; a quarter of a minute gives one. */
	assert_true(
	    auth_admit(auth, alice.principal, START + 15 * SECOND, &retry_s));
	assert_false(
	    auth_admit(auth, alice.principal, START + 15 * SECOND, &retry_s));
	/* An hour gives no more than a minute. */
	for (unsigned i = 0; i < 4; i++)
		assert_true(auth_admit(
		    auth, alice.principal, START + 3600 * SECOND, &retry_s));
	assert_false(
	    auth_admit(auth, alice.principal, START + 3600 * SECOND, &retry_s));
	principal_release(alice.principal);
	principal_release(bob.principal);
	auth_free(auth);
}

/* ---- the file again ---- */

/* Lists and polls are requests too: so many of a principal, and of all. */
static void
requests_have_a_rate(void **state)
{
	struct auth *auth = auth_with(both());
	struct auth_verdict alice, bob;
	struct principal *other = principal_new("anonymous", "");
	unsigned retry_s = 0;

	(void)state;
	ask(auth, "Bearer " RIGHT, here, START, &alice);
	ask(auth, "Bearer " OTHER, here, START, &bob);
	for (unsigned i = 0; i < 4 * REQUESTS_A_CALL; i++)
		assert_int_equal(
		    auth_admit_request(auth, alice.principal, START, &retry_s),
		    0);
	assert_int_equal(
	    auth_admit_request(auth, alice.principal, START, &retry_s), 429);
	assert_int_equal(retry_s, 2);
	/* Her refusal took nothing from what is left for all. */
	for (unsigned i = 0; i < 6000; i++)
		assert_int_equal(
		    auth_admit_request(auth, bob.principal, START, &retry_s),
		    0);
	assert_int_equal(
	    auth_admit_request(auth, bob.principal, START, &retry_s), 429);
	for (unsigned i = 0; i < 6100 - 6000 - 4 * REQUESTS_A_CALL; i++)
		assert_int_equal(
		    auth_admit_request(auth, other, START, &retry_s), 0);
	assert_int_equal(auth_admit_request(auth, other, START, &retry_s), 503);
	assert_int_equal(
	    auth_admit_request(auth, other, START + SECOND, &retry_s), 0);
	principal_release(other);
	principal_release(alice.principal);
	principal_release(bob.principal);
	auth_free(auth);
}

static void
reloading_keeps_who_stays(void **state)
{
	struct auth *auth = auth_with(both());
	struct auth_verdict before, after;
	unsigned retry_s;
	struct err err;
	char text[256];

	(void)state;
	ask(auth, "Bearer " RIGHT, here, START, &before);
	for (unsigned i = 0; i < 4; i++)
		assert_true(
		    auth_admit(auth, before.principal, START, &retry_s));
	/* Alice has a new token and other limits; bob is gone. */
	(void)line_of("alice", OTHER, " per-minute=3", text);
	assert_int_equal(auth_set_tokens(auth, span_of(text), &err), 0);
	ask(auth, "Bearer " RIGHT, here, START, &after);
	assert_int_equal(after.status, 401);
	ask(auth, "Bearer " OTHER, here, START, &after);
	assert_ptr_equal(after.principal, before.principal);
	assert_int_equal(after.principal->per_minute, 3);
	assert_false(auth_admit(auth, after.principal, START, &retry_s));
	principal_release(before.principal);
	principal_release(after.principal);
	auth_free(auth);
}

static void
broken_file_changes_nothing(void **state)
{
	struct auth *auth = auth_with(both());
	struct auth_verdict verdict;
	struct err err;

	(void)state;
	assert_int_equal(auth_set_tokens(auth, span_of(""), &err), -EINVAL);
	assert_int_equal(
	    auth_set_tokens(auth, span_of("alice sha256:0"), &err), -EINVAL);
	ask(auth, "Bearer " RIGHT, here, START, &verdict);
	assert_int_equal(verdict.status, 0);
	principal_release(verdict.principal);
	/* One without a token is no broken one. */
	assert_int_equal(auth_set_tokens(auth, span_of("#\n"), &err), 0);
	ask(auth, "Bearer " RIGHT, here, START, &verdict);
	assert_int_equal(verdict.status, 401);
	auth_free(auth);
}

/* ---- members ---- */

static void
members_are_bounded(void **state)
{
	struct members *members = members_new();
	struct member *pinned, *held, *idle;
	char name[32];
	bool new;

	(void)state;
	assert_non_null(members);
	pinned = members_take(members, "sub", "pinned", false, START, &new);
	pinned->pins = 1;
	held = members_take(members, "sub", "held", false, START, &new);
	assert_true(new);
	(void)principal_hold(held->principal);
	for (unsigned i = 2; i < SUBJECTS_MAX; i++) {
		(void)sprintf(name, "%u", i);
		assert_non_null(
		    members_take(members, "sub", name, false, START + i, &new));
	}
	/* All were there a moment ago: a new one has to wait, a token not. */
	assert_null(
	    members_take(members, "sub", "x", false, START + SECOND, &new));
	assert_non_null(
	    members_take(members, "token", "x", true, START + SECOND, &new));
	/* A minute later there are idle ones, but never those. */
	for (unsigned i = 0; i < 100; i++) {
		(void)sprintf(name, "new %u", i);
		assert_non_null(members_take(
		    members, "sub", name, false, START + 62 * SECOND, &new));
	}
	idle = members_take(
	    members, "sub", "held", false, START + 62 * SECOND, &new);
	assert_ptr_equal(idle, held);
	assert_ptr_equal(members_find(members, pinned->principal), pinned);
	principal_release(held->principal);
	members_free(members);
}

/* ---- where it may listen ---- */

static void
open_server_is_local(void **state)
{
	static const char *const local[] = { "127.0.0.1:8080", "127.9.8.7:1",
		"[::1]:8080", "[::ffff:127.0.0.1]:1", "localhost:80",
		"unix:/run/x" };
	static const char *const wide[] = { "0.0.0.0:8080", "[::]:8080",
		"192.168.1.2:80", "[::ffff:1.2.3.4]:1", "128.0.0.1:1",
		"127.0.0.1.example:80", "", ":80", "[]:80" };
	const struct conf open = { 0 };
	const struct conf insecure = { .insecure_no_auth = true };
	const struct conf keys = { .jwks_path = "/keys" };
	struct err err;

	(void)state;
	for (unsigned i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		assert_int_equal(auth_bind_check(&open, local[i], &err), 0);
	for (unsigned i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		assert_int_equal(
		    auth_bind_check(&open, wide[i], &err), -EACCES);
		assert_non_null(strstr(err.text, "--insecure-no-auth"));
		assert_int_equal(auth_bind_check(&conf, wide[i], &err), 0);
		assert_int_equal(auth_bind_check(&keys, wide[i], &err), 0);
		assert_int_equal(auth_bind_check(&insecure, wide[i], &err), 0);
	}
}

/* ---- the text of tokens ---- */

static void
base64url_has_one_spelling(void **state)
{
	static const char *const wrong[] = { "A", "AAAAA", "AB", "AAB",
		"AA=", "AA==", "A A", "AA\n", "A+AA", "A/AA", "=" };
	struct buf bytes, text;

	(void)state;
	for (unsigned n = 0; n < 200; n++) {
		uint8_t data[200];

		for (unsigned i = 0; i < n; i++)
			data[i] = (uint8_t)(i * 89 + n * 7);
		buf_init(&bytes, 200);
		buf_init(&text, 300);
		assert_int_equal(
		    base64_write(BASE64_URL, (struct span){ data, n }, &text),
		    0);
		assert_int_equal(
		    base64_read(BASE64_URL, buf_span(&text), &bytes), 0);
		assert_int_equal(bytes.n, n);
		if (n > 0)
			assert_memory_equal(bytes.p, data, n);
		buf_done(&bytes);
		buf_done(&text);
	}
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		buf_init(&bytes, 200);
		assert_int_equal(
		    base64_read(BASE64_URL, span_of(wrong[i]), &bytes),
		    -EINVAL);
		buf_done(&bytes);
	}
	buf_init(&bytes, 2);
	assert_int_equal(
	    base64_read(BASE64_URL, span_of("AAAA"), &bytes), -ENOBUFS);
	buf_done(&bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_is_read),
		cmocka_unit_test(file_is_checked),
		cmocka_unit_test(tokens_are_counted),
		cmocka_unit_test(header_is_judged),
		cmocka_unit_test(principals_are_those_of_the_file),
		cmocka_unit_test(huge_tokens_are_wrong),
		cmocka_unit_test(without_files_all_are_one),
		cmocka_unit_test(guesses_are_limited),
		cmocka_unit_test(networks_are_one),
		cmocka_unit_test(addresses_are_forgotten),
		cmocka_unit_test(looks_are_limited),
		cmocka_unit_test(calls_are_counted),
		cmocka_unit_test(requests_have_a_rate),
		cmocka_unit_test(reloading_keeps_who_stays),
		cmocka_unit_test(broken_file_changes_nothing),
		cmocka_unit_test(members_are_bounded),
		cmocka_unit_test(open_server_is_local),
		cmocka_unit_test(base64url_has_one_spelling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
