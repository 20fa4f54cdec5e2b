/* test_web_auth.c: what a server says to web tokens: who somebody is, the
 * challenges, the metadata, other keys; and all of it behind its filter.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/auth.h"

#include "front/jwt_cache.h"
#include "walls/walls.h"
#include "web_tokens.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define START    UINT64_C(1000000000)
#define METADATA "https://run.example/.well-known/oauth-protected-resource/mcp"

static const uint8_t here[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };

/* ---- the verdict ---- */

static struct auth *
auth_ready(const struct conf *with)
{
	struct auth *auth = NULL;
	struct err err;

	assert_int_equal(auth_new(with, &auth, &err), 0);
	assert_int_equal(auth_set_jwks(auth, span_of(issuer.set), &err), 0);
	return auth;
}

/* Takes the token. */
static void
ask(struct auth *auth, char *token, struct auth_verdict *verdict)
{
	char *header_text = NULL;

	if (token)
		assert_true(asprintf(&header_text, "Bearer %s", token) > 0);
	auth_check(auth,
	    token ? span_of(header_text) : (struct span){ NULL, 0 }, here, NOW,
	    START, verdict);
	free(header_text);
	free(token);
}

static char *
good_token(void)
{
	return signed_with("nbf", NULL);
}

static void
verdict_is_as_the_protocol_has_it(void **state)
{
	struct auth *auth = auth_ready(&web_conf);
	struct auth_verdict verdict;

	(void)state;
	ask(auth, NULL, &verdict);
	assert_int_equal(verdict.status, 401);
	assert_string_equal(verdict.challenge,
	    "Bearer resource_metadata=\"" METADATA "\", scope=\"run read\"");
	ask(auth, signed_with("exp", json_integer(NOW - 100)), &verdict);
	assert_int_equal(verdict.status, 401);
	assert_string_equal(verdict.reason, "jwt_time");
	assert_string_equal(verdict.challenge,
	    "Bearer error=\"invalid_token\", resource_metadata=\"" METADATA
	    "\", scope=\"run read\"");
	ask(auth, signed_with("scope", json_string("run")), &verdict);
	assert_int_equal(verdict.status, 403);
	assert_string_equal(verdict.challenge,
	    "Bearer error=\"insufficient_scope\", resource_metadata=\"" METADATA
	    "\", scope=\"run read\"");
	/* No static token without a file of them. */
	ask(auth, strdup("a-token-without-any-dots"), &verdict);
	assert_int_equal(verdict.status, 401);
	ask(auth, good_token(), &verdict);
	assert_int_equal(verdict.status, 0);
	assert_string_equal(verdict.principal->name, "alice");
	assert_int_equal(verdict.principal->calls_max, 8);
	principal_release(verdict.principal);
	auth_free(auth);
}

static void
subjects_are_themselves(void **state)
{
	struct conf other = web_conf;
	struct auth *auth = auth_ready(&web_conf), *second;
	struct auth_verdict first, again, bob, token;
	struct principal *same_name;
	struct err err;

	(void)state;
	ask(auth, good_token(), &first);
	ask(auth, good_token(), &again);
	ask(auth, signed_with("sub", json_string("b o/b")), &bob);
	assert_ptr_equal(first.principal, again.principal);
	assert_false(principal_is(first.principal, bob.principal));
	assert_string_equal(bob.principal->name, "b_o_b");
	/* After a restart it is the same; of another issuer it is not, and a
	 * static token of that name is not either. */
	second = auth_ready(&web_conf);
	ask(second, good_token(), &token);
	assert_true(principal_is(first.principal, token.principal));
	principal_release(token.principal);
	auth_free(second);
	other.issuer = "https://evil.example";
	assert_int_equal(auth_new(&other, &second, &err), 0);
	assert_int_equal(auth_set_jwks(second, span_of(issuer.set), &err), 0);
	ask(second, signed_with("iss", json_string(other.issuer)), &token);
	assert_false(principal_is(first.principal, token.principal));
	principal_release(token.principal);
	auth_free(second);
	same_name = principal_new("token", "alice");
	assert_false(principal_is(first.principal, same_name));
	principal_release(same_name);
	principal_release(first.principal);
	principal_release(again.principal);
	principal_release(bob.principal);
	auth_free(auth);
}

static void
keys_are_exchanged(void **state)
{
	struct auth *auth = auth_ready(&web_conf);
	struct auth_verdict verdict;
	struct err err;
	char *set = web_key_set(&issuer.keys[P384_KEY], 1);

	(void)state;
	/* A broken set changes nothing. */
	assert_int_equal(auth_set_jwks(auth, span_of("{"), &err), -EINVAL);
	ask(auth, good_token(), &verdict);
	assert_int_equal(verdict.status, 0);
	principal_release(verdict.principal);
	assert_int_equal(auth_set_jwks(auth, span_of(set), &err), 0);
	ask(auth, good_token(), &verdict);
	assert_int_equal(verdict.status, 401);
	assert_string_equal(verdict.reason, "jwt_key");
	ask(auth,
	    web_token(issuer.keys[P384_KEY], header("ES384", "p384"), claims()),
	    &verdict);
	assert_int_equal(verdict.status, 0);
	principal_release(verdict.principal);
	free(set);
	auth_free(auth);
}

/* One that was verified is known, until it ends or the keys change. */
static void
good_tokens_are_known(void **state)
{
	struct jwt jwt = { .subject = "a", .ends_s = NOW }, found;
	struct jwt_cache *cache = jwt_cache_new();
	char token[32];
	unsigned known = 0;

	(void)state;
	assert_non_null(cache);
	assert_false(jwt_cache_find(cache, span_of("a.b.c"), 0, &found));
	jwt_cache_add(cache, span_of("a.b.c"), &jwt);
	assert_true(jwt_cache_find(cache, span_of("a.b.c"), NOW - 1, &found));
	assert_string_equal(found.subject, "a");
	assert_false(jwt_cache_find(cache, span_of("a.b.c"), NOW, &found));
	assert_false(jwt_cache_find(cache, span_of("a.b.d"), 0, &found));
	for (unsigned i = 0; i < 2 * JWT_CACHE_MAX; i++) {
		(void)sprintf(token, "a.%u.c", i);
		jwt_cache_add(cache, span_of(token), &jwt);
		assert_true(jwt_cache_find(cache, span_of(token), 0, &found));
	}
	for (unsigned i = 0; i < 2 * JWT_CACHE_MAX; i++) {
		(void)sprintf(token, "a.%u.c", i);
		known += jwt_cache_find(cache, span_of(token), 0, &found);
	}
	assert_in_range(known, JWT_CACHE_MAX / 2, JWT_CACHE_MAX);
	jwt_cache_clear(cache);
	assert_false(jwt_cache_find(cache, span_of(token), 0, &found));
	jwt_cache_free(cache);
}

/* Forged ones cost a few looks, and nobody else's token is refused for it. */
static void
forgeries_are_limited(void **state)
{
	struct auth *auth = auth_ready(&web_conf);
	char *first = good_token();
	char *forged =
	    web_token(issuer.stranger, header("RS256", "rsa"), claims());
	struct auth_verdict verdict;
	unsigned looked_at = 0;

	(void)state;
	ask(auth, strdup(first), &verdict);
	principal_release(verdict.principal);
	for (unsigned i = 0; i < 2000; i++) {
		ask(auth, strdup(forged), &verdict);
		assert_int_equal(
		    verdict.status, i < AUTH_FAILURES_MAX ? 401 : 429);
		looked_at += verdict.retry_after_s != 1;
	}
	assert_int_equal(looked_at, AUTH_FAILURES_MAX + AUTH_LOOKS_MAX);
	ask(auth, first, &verdict);
	assert_int_equal(verdict.status, 0);
	principal_release(verdict.principal);
	free(forged);
	auth_free(auth);
}

/* A verified one ends all the same. */
static void
known_tokens_end(void **state)
{
	struct auth *auth = auth_ready(&web_conf);
	char *token = good_token();
	struct auth_verdict verdict;
	char *text;

	(void)state;
	assert_true(asprintf(&text, "Bearer %s", token) > 0);
	for (int i = 0; i < 100; i++) { /* until 60 and the leeway */
		auth_check(auth, span_of(text), here, NOW + i, START, &verdict);
		assert_int_equal(verdict.status, i < 90 ? 0 : 401);
		principal_release(verdict.principal);
	}
	free(token);
	free(text);
	auth_free(auth);
}

static void
metadata_is_published(void **state)
{
	struct conf other = web_conf;
	struct auth *auth = auth_ready(&web_conf);
	struct auth_verdict verdict;

	(void)state;
	assert_string_equal(auth_metadata_path(auth),
	    "/.well-known/oauth-protected-resource/mcp");
	assert_string_equal(auth_metadata(auth),
	    "{\"resource\":\"" RESOURCE
	    "\",\"authorization_servers\":[\"" ISSUER
	    "\"],\"bearer_methods_supported\":[\"header\"],"
	    "\"resource_name\":\"breakroom\","
	    "\"scopes_supported\":[\"run\",\"read\"]}");
	auth_free(auth);
	other.resource = "https://run.example:444";
	other.auth_servers =
	    (struct conf_list){ .n = 1, .items = { "https://a.example/x" } };
	other.scopes.n = 0;
	auth = auth_ready(&other);
	assert_null(auth_metadata_path(auth));
	assert_non_null(strstr(auth_metadata(auth),
	    "\"authorization_servers\":[\"https://a.example/x\"]"));
	assert_null(strstr(auth_metadata(auth), "scopes_supported"));
	ask(auth, NULL, &verdict);
	assert_string_equal(verdict.challenge,
	    "Bearer resource_metadata=\"https://run.example:444/.well-known/"
	    "oauth-protected-resource\"");
	auth_free(auth);
}

static void
configuration_is_checked(void **state)
{
	static char long_path[1200];
	struct conf cases[9];
	struct auth *auth;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < 9; i++)
		cases[i] = web_conf;
	memset(long_path, 'a', sizeof(long_path) - 1);
	memcpy(long_path, "https://h/", 10);
	cases[0].issuer = NULL;
	cases[1].resource = NULL;
	cases[2].resource = "run.example/mcp";
	cases[3].resource = "https://run.example/";
	cases[4].resource = "https://run.example/mcp?x";
	cases[5].resource = "https://run.example/\"";
	cases[6].scopes.items[1] = "two words";
	cases[7].resource = long_path;
	cases[8].auth_servers.n = 1;
	cases[8].auth_servers.items[0] = "id.example";
	for (unsigned i = 0; i < 9; i++) {
		if (auth_new(&cases[i], &auth, &err) != -EINVAL)
			fail_msg("case %u was taken", i);
	}
}

/* ---- behind the walls ---- */

/* A process in which nobody used OpenSSL before auth_new: forked before all
 * tests, told by a pipe what to verify. */
static struct {
	pid_t pid;
	int fd;
} fresh;

/* A sanitizer's allocator asks for what the server's filter refuses. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED false
#endif

#define FRESH_TOKENS 5

/* The server's filter would only refuse it, and OpenSSL go on without its
 * configuration. */
static int
die_at_open(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

static int
verify_behind_the_filter(FILE *file)
{
	char set[8192], token[8192];
	struct auth_verdict verdict;
	struct auth *auth;
	struct err err;

	if (auth_new(&web_conf, &auth, &err) < 0 ||
	    wall_no_new_privs(&err) < 0 || die_at_open() < 0 ||
	    wall_seccomp(SECCOMP_SERVER, &err) < 0)
		return 1;
	if (!fgets(set, sizeof(set), file) ||
	    auth_set_jwks(auth, span_of(set), &err) < 0)
		return 2;
	for (int i = 0; i < FRESH_TOKENS; i++) {
		if (!fgets(token, sizeof(token), file))
			return 3;
		token[strcspn(token, "\n")] = '\0';
		ask(auth, strdup(token), &verdict);
		if (!verdict.principal)
			return 10 + i;
		principal_release(verdict.principal);
	}
	auth_free(auth);
	return 0;
}

static void
fresh_start(void)
{
	int ends[2];

	if (pipe(ends) < 0)
		abort();
	fresh.pid = fork();
	if (fresh.pid == 0) {
		FILE *file = fdopen(ends[0], "r");

		(void)close(ends[1]);
		_exit(file ? verify_behind_the_filter(file) : 4);
	}
	(void)close(ends[0]);
	fresh.fd = ends[1];
}

/* OpenSSL must have read and fetched all it needs: there it can open nothing
 * any more. */
static void
works_behind_the_filter(void **state)
{
	static const struct {
		const char *algorithm, *kid;
		unsigned key;
	} cases[FRESH_TOKENS] = {
		{ "RS512", "rsa", RSA_KEY },
		{ "PS384", "rsa", RSA_KEY },
		{ "ES256", "p256", P256_KEY },
		{ "ES384", "p384", P384_KEY },
		{ "ES512", "p521", P521_KEY },
	};
	int status;

	(void)state;
	(void)dprintf(fresh.fd, "%s\n", issuer.set);
	for (unsigned i = 0; i < FRESH_TOKENS; i++) {
		char *token = web_token(issuer.keys[cases[i].key],
		    header(cases[i].algorithm, cases[i].kid), claims());

		(void)dprintf(fresh.fd, "%s\n", token);
		free(token);
	}
	(void)close(fresh.fd);
	assert_int_equal(waitpid(fresh.pid, &status, 0), fresh.pid);
	assert_int_equal(status, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdict_is_as_the_protocol_has_it),
		cmocka_unit_test(subjects_are_themselves),
		cmocka_unit_test(keys_are_exchanged),
		cmocka_unit_test(good_tokens_are_known),
		cmocka_unit_test(forgeries_are_limited),
		cmocka_unit_test(known_tokens_end),
		cmocka_unit_test(metadata_is_published),
		cmocka_unit_test(configuration_is_checked),
		cmocka_unit_test(works_behind_the_filter),
	};

	size_t n = sizeof(tests) / sizeof(tests[0]);

	if (SANITIZED) {
		print_message("# left out: the filter refuses what the "
			      "sanitizer's allocator needs\n");
		n--; /* the last */
	} else {
		fresh_start();
	}
	return _cmocka_run_group_tests(
	    "web_auth", tests, n, issuer_new, issuer_free);
}
