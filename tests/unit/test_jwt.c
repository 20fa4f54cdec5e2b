/* test_jwt.c: web tokens as an issuer signs them, and as others would like
 * them to be taken; sets of keys; the challenges; and all of it behind the
 * server's filter.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/auth.h"

#include "front/jwks.h"
#include "front/jwt.h"
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

#define SECOND UINT64_C(1000000)
#define START  (UINT64_C(1000) * SECOND)
#define NOW    1800000000

#define ISSUER   "https://id.example"
#define RESOURCE "https://run.example/mcp"
#define METADATA "https://run.example/.well-known/oauth-protected-resource/mcp"

static const uint8_t here[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };

static const struct conf conf = {
	.jwks_path = "/keys",
	.issuer = ISSUER,
	.resource = RESOURCE,
	.scopes = { .n = 2, .items = { "run", "read" } },
	.token_calls = 8,
	.token_queue = 32,
	.token_per_minute = 600,
};

enum {
	RSA_KEY,
	P256_KEY,
	P384_KEY,
	P521_KEY,
	KEYS
};

static struct {
	json_t *keys[KEYS];
	json_t *stranger; /* of the same kid as the first */
	char *set;
	struct jwks *jwks;
} issuer;

static int
issuer_new(void **state)
{
	struct err err;

	(void)state;
	issuer.keys[RSA_KEY] = web_key("RS256", "rsa");
	/* It signs by all of RSA's. */
	(void)json_object_del(issuer.keys[RSA_KEY], "alg");
	issuer.keys[P256_KEY] = web_key("ES256", "p256");
	issuer.keys[P384_KEY] = web_key("ES384", "p384");
	issuer.keys[P521_KEY] = web_key("ES512", "p521");
	issuer.stranger = web_key("RS256", "rsa");
	issuer.set = web_key_set(issuer.keys, KEYS);
	return jwks_parse(span_of(issuer.set), &issuer.jwks, &err);
}

static int
issuer_free(void **state)
{
	(void)state;
	for (unsigned i = 0; i < KEYS; i++)
		json_decref(issuer.keys[i]);
	json_decref(issuer.stranger);
	jwks_free(issuer.jwks);
	free(issuer.set);
	return 0;
}

static json_t *
claims(void)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:s}", "iss", ISSUER,
	    "aud", RESOURCE, "sub", "alice", "exp", NOW + 60, "nbf", NOW - 1,
	    "iat", NOW, "scope", "read run");
}

static json_t *
header(const char *algorithm, const char *kid)
{
	json_t *value =
	    json_pack("{s:s, s:s}", "alg", algorithm, "typ", "at+jwt");

	if (kid)
		(void)json_object_set_new(value, "kid", json_string(kid));
	return value;
}

/* Takes the token. NULL: it is good. */
static const char *
check_at(char *token, int64_t now_s, struct jwt *ret_jwt)
{
	const char *why =
	    jwt_check(issuer.jwks, &conf, span_of(token), now_s, ret_jwt);

	free(token);
	return why;
}

static const char *
check(char *token)
{
	struct jwt jwt;

	return check_at(token, NOW, &jwt);
}

#define assert_refused(token, why) assert_string_equal(check(token), why)

/* ---- signatures ---- */

static void
all_algorithms_are_verified(void **state)
{
	static const struct {
		const char *algorithm, *kid;
		unsigned key;
	} cases[] = {
		{ "RS256", "rsa", RSA_KEY },
		{ "RS384", "rsa", RSA_KEY },
		{ "RS512", "rsa", RSA_KEY },
		{ "PS256", "rsa", RSA_KEY },
		{ "PS384", "rsa", RSA_KEY },
		{ "PS512", "rsa", RSA_KEY },
		{ "ES256", "p256", P256_KEY },
		{ "ES384", "p384", P384_KEY },
		{ "ES512", "p521", P521_KEY },
	};
	struct jwt jwt;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *token = web_token(issuer.keys[cases[i].key],
		    header(cases[i].algorithm, cases[i].kid), claims());
		char *changed = strdup(token);
		char *payload = strchr(changed, '.') + 1;

		payload[5] = payload[5] == 'A' ? 'B' : 'A';
		assert_null(check_at(token, NOW, &jwt));
		assert_string_equal(jwt.subject, "alice");
		assert_true(jwt.has_scopes);
		assert_refused(changed, "jwt_signature");
	}
}

/* A signature of every bit. */
static void
signatures_are_whole(void **state)
{
	char *good =
	    web_token(issuer.keys[P256_KEY], header("ES256", "p256"), claims());
	size_t n = strlen(good);
	size_t at = (size_t)(strrchr(good, '.') - good) + 1;

	(void)state;
	for (size_t i = at; i < n; i++) {
		char *changed = strdup(good);

		changed[i] = changed[i] == 'A' ? 'Q' : 'A';
		assert_refused(changed, "jwt_signature");
		changed = strdup(good);
		changed[i] = '\0'; /* cut short */
		assert_refused(changed, i == at ? "jwt_form" : "jwt_signature");
	}
	free(good);
}

/* "none", and the public key as if it were a shared secret. */
static void
other_algorithms_are_refused(void **state)
{
	static const char *const headers[] = { "{\"alg\":\"none\"}",
		"{\"alg\":\"None\"}", "{\"alg\":\"\"}", "{}",
		"{\"alg\":\"HS256\",\"kid\":\"rsa\"}", "{\"alg\":\"HS512\"}",
		"{\"alg\":\"RSA1_5\"}", "{\"alg\":\"EdDSA\"}",
		"{\"alg\":\"rs256\"}", "{\"alg\":[\"RS256\"]}",
		"{\"alg\":null}", "{\"alg\":256}" };
	char *text = json_dumps(claims(), 0);
	json_t *secret, *public;

	(void)state;
	for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		assert_refused(
		    web_token_of(headers[i], text, "AAAA"), "jwt_algorithm");
		assert_refused(web_token_of(headers[i], text, ""), "jwt_form");
	}
	public = json_object_get(issuer.keys[RSA_KEY], "n");
	secret = json_pack(
	    "{s:s, s:s, s:O}", "kty", "oct", "alg", "HS256", "k", public);
	assert_refused(web_token(secret, header("HS256", "rsa"), claims()),
	    "jwt_algorithm");
	json_decref(secret);
	free(text);
}

static void
keys_are_those_of_the_set(void **state)
{
	json_t *own = header("RS256", "rsa");
	json_t *public = json_deep_copy(issuer.stranger);

	(void)state;
	assert_refused(
	    web_token(issuer.stranger, header("RS256", "rsa"), claims()),
	    "jwt_signature");
	/* The token's own key, wherever it says that it is. */
	(void)json_object_del(public, "d");
	(void)json_object_set_new(own, "jwk", public);
	(void)json_object_set_new(own, "jku", json_string("https://evil"));
	assert_refused(
	    web_token(issuer.stranger, own, claims()), "jwt_signature");
	/* No such kid; a kid of another algorithm's key. */
	assert_refused(
	    web_token(issuer.keys[RSA_KEY], header("RS256", "gone"), claims()),
	    "jwt_key");
	assert_refused(
	    web_token(issuer.keys[P256_KEY], header("ES256", "p384"), claims()),
	    "jwt_key");
	assert_refused(
	    web_token(issuer.keys[RSA_KEY], header("RS256", "p256"), claims()),
	    "jwt_key");
	/* Without one, the only key that it can be. */
	assert_null(check(
	    web_token(issuer.keys[P384_KEY], header("ES384", NULL), claims())));
}

static void
header_is_strict(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "{\"alg\":\"ES256\",\"alg\":\"ES256\"}", "jwt_header" },
		{ "{\"alg\":\"ES256\",\"crit\":[\"exp\"]}", "jwt_header" },
		{ "{\"alg\":\"ES256\",\"b64\":false}", "jwt_header" },
		{ "{\"alg\":\"ES256\",\"typ\":\"dpop+jwt\"}", "jwt_header" },
		{ "{\"alg\":\"ES256\",\"typ\":5}", "jwt_header" },
		{ "{\"alg\":\"ES256\",\"kid\":5}", "jwt_header" },
		{ "{\"alg\":\"ES256\",\"kid\":null}", "jwt_header" },
		{ "{\"alg\":\"ES256\"} x", "jwt_header" },
		{ "{\"alg\":\"ES256\",\"x\":\"\\u0000\"}", "jwt_header" },
		{ "{\"alg\":\"ES256\",\"x\":\"\xff\"}", "jwt_header" },
		{ "[\"ES256\"]", "jwt_header" },
		{ "", "jwt_form" },
		{ "{\"alg\":\"ES256\",\"kid\":\"\"}", "jwt_key" },
	};
	char *deep = malloc(6000);

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_refused(
		    web_token_of(cases[i].text, "{}", "AAAA"), cases[i].why);
	assert_non_null(deep);
	memset(deep, '[', 5999);
	deep[5999] = '\0';
	assert_refused(web_token_of(deep, "{}", "AAAA"), "jwt_header");
	free(deep);
}

static void
form_is_strict(void **state)
{
	static const char *const wrong[] = { "", ".", "..", "...", "a.b",
		"a.b.", ".b.c", "a..c", "a.b.c.d" };
	char *good =
	    web_token(issuer.keys[P256_KEY], header("ES256", "p256"), claims());
	char *text;

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_refused(strdup(wrong[i]), "jwt_form");
	assert_true(asprintf(&text, "%s=", good) > 0);
	assert_refused(text, "jwt_signature");
	assert_true(asprintf(&text, "A%s", good) > 0);
	assert_refused(text, "jwt_header");
	text = malloc(TOKEN_BYTES_MAX + 2);
	assert_non_null(text);
	memset(text, 'A', TOKEN_BYTES_MAX + 1);
	text[TOKEN_BYTES_MAX + 1] = '\0';
	text[10] = text[20] = '.';
	assert_refused(text, "jwt_form");
	free(good);
}

/* ---- claims ---- */

static char *
signed_with(const char *name, json_t *value)
{
	json_t *changed = claims();

	if (value)
		(void)json_object_set_new(changed, name, value);
	else
		(void)json_object_del(changed, name);
	return web_token(
	    issuer.keys[P256_KEY], header("ES256", "p256"), changed);
}

static void
claims_are_checked(void **state)
{
	char long_subject[SUBJECT_BYTES_MAX + 2];

	(void)state;
	assert_refused(signed_with("iss", NULL), "jwt_issuer");
	assert_refused(
	    signed_with("iss", json_string(ISSUER "/")), "jwt_issuer");
	assert_refused(
	    signed_with("iss", json_pack("[s]", ISSUER)), "jwt_issuer");
	assert_refused(signed_with("aud", NULL), "jwt_audience");
	assert_refused(signed_with("aud", json_string("https://run.example")),
	    "jwt_audience");
	assert_refused(signed_with("aud", json_array()), "jwt_audience");
	assert_refused(
	    signed_with("aud", json_pack("[[s]]", RESOURCE)), "jwt_audience");
	assert_null(check(
	    signed_with("aud", json_pack("[s, i, s]", "other", 5, RESOURCE))));
	assert_refused(signed_with("sub", NULL), "jwt_subject");
	assert_refused(signed_with("sub", json_string("")), "jwt_subject");
	assert_refused(signed_with("sub", json_integer(5)), "jwt_subject");
	memset(long_subject, 'a', sizeof(long_subject));
	long_subject[sizeof(long_subject) - 1] = '\0';
	assert_refused(
	    signed_with("sub", json_string(long_subject)), "jwt_subject");
}

static void
times_are_checked(void **state)
{
	static const struct {
		const char *name;
		double at_s;
		bool good;
	} cases[] = {
		{ "exp", NOW - 29, true },
		{ "exp", NOW - 29.5, true },
		{ "exp", NOW - 30, false },
		{ "exp", 1e18, true },
		{ "exp", -1, false },
		{ "nbf", NOW + 30, true },
		{ "nbf", NOW + 30.5, false },
		{ "nbf", -5, false },
		{ "iat", NOW + 30, true },
		{ "iat", NOW + 31, false },
		{ "iat", 0, true },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *why =
		    check(signed_with(cases[i].name, json_real(cases[i].at_s)));

		if (cases[i].good ? why != NULL
				  : !why || strcmp(why, "jwt_time") != 0)
			fail_msg("%s %f: %s", cases[i].name, cases[i].at_s,
			    why ? why : "taken");
	}
	assert_refused(signed_with("exp", NULL), "jwt_time");
	assert_refused(signed_with("exp", json_string("never")), "jwt_time");
	assert_refused(signed_with("exp", json_null()), "jwt_time");
	assert_refused(signed_with("nbf", json_true()), "jwt_time");
	assert_null(check(signed_with("nbf", NULL)));
	assert_null(check(signed_with("iat", NULL)));
}

static bool
has_scopes(const char *name, json_t *value)
{
	json_t *changed = claims();
	struct jwt jwt = { 0 };

	(void)json_object_del(changed, "scope");
	if (value)
		(void)json_object_set_new(changed, name, value);
	assert_null(check_at(
	    web_token(issuer.keys[P256_KEY], header("ES256", "p256"), changed),
	    NOW, &jwt));
	return jwt.has_scopes;
}

static void
scopes_are_checked(void **state)
{
	(void)state;
	assert_true(has_scopes("scope", json_string("run read")));
	assert_true(has_scopes("scope", json_string("xrun run2 read run")));
	assert_true(has_scopes("scp", json_pack("[s, s]", "read", "run")));
	assert_true(has_scopes("scp", json_string("read run")));
	assert_false(has_scopes("scope", NULL));
	assert_false(has_scopes("scope", json_string("")));
	assert_false(has_scopes("scope", json_string("run")));
	assert_false(has_scopes("scope", json_string("run reads")));
	assert_false(has_scopes("scope", json_string("run,read")));
	assert_false(has_scopes("scope", json_pack("[s, s]", "run", "read")));
	assert_false(has_scopes("scp", json_pack("[s]", "run read")));
	assert_false(has_scopes("scp", json_pack("[i]", 5)));
}

/* A member twice in signed claims: nobody knows which one others took. */
static void
claims_are_strict(void **state)
{
	struct jwks *jwks = issuer.jwks;
	struct jwt jwt;
	char *token;
	json_t *one = claims();

	(void)state;
	/* Text that looks so in a string is no member. */
	(void)json_object_set_new(one, "twice", json_string("\",\"iss\":\"x"));
	token = web_token(issuer.keys[P256_KEY], header("ES256", "p256"), one);
	assert_null(jwt_check(jwks, &conf, span_of(token), NOW, &jwt));
	free(token);
	token = web_token_signed(issuer.keys[P256_KEY], header("ES256", "p256"),
	    "{\"iss\":\"" ISSUER "\",\"iss\":\"" ISSUER "\"}");
	assert_refused(token, "jwt_claims");
	token = web_token_signed(
	    issuer.keys[P256_KEY], header("ES256", "p256"), "[]");
	assert_refused(token, "jwt_claims");
	token = web_token_signed(
	    issuer.keys[P256_KEY], header("ES256", "p256"), "{\"exp\":1e999}");
	assert_refused(token, "jwt_claims");
}

/* ---- sets of keys ---- */

#define X43   "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4"
#define Y43   "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"
#define POINT "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" X43 "\",\"y\":\""

static void
sets_are_checked(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "not a JSON object" },
		{ "{\"keys\":[]", "not a JSON object" },
		{ "[]", "not a JSON object" },
		{ "{\"keys\":[],\"keys\":[]}", "not a JSON object" },
		{ "{}", "no array \"keys\"" },
		{ "{\"keys\":{}}", "no array \"keys\"" },
		{ "{\"keys\":[]}", "no key that signs" },
		{ "{\"keys\":[5]}", "key 1: not an object" },
		{ "{\"keys\":[{}]}", "key 1: kty must be a string" },
		{ "{\"keys\":[{\"kty\":\"OKP\"}]}", "no key that signs" },
		{ "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AA\"}]}",
		    "key 1: it is a secret key" },
		{ "{\"keys\":[{" POINT Y43 "\",\"d\":\"AA\"}]}",
		    "key 1: it is a secret key" },
		{ "{\"keys\":[{" POINT Y43 "\",\"kid\":5}]}",
		    "key 1: kid, alg and use" },
		{ "{\"keys\":[{" POINT X43 "\"}]}",
		    "key 1: its numbers are no key" },
		{ "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\"}]}",
		    "key 1: x and y" },
		{ "{\"keys\":[{\"kty\":\"RSA\",\"e\":\"AQAB\"}]}",
		    "key 1: n and e" },
		{ "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]"
		  "}",
		    "key 1: an RSA key has 2048" },
		{ "{\"keys\":[{" POINT Y43 "\",\"use\":\"enc\"}]}",
		    "no key that signs" },
		{ "{\"keys\":[{" POINT Y43 "\",\"alg\":\"ECDH-ES\"}]}",
		    "no key that signs" },
		{ "{\"keys\":[{" POINT Y43 "\",\"key_ops\":[\"sign\"]}]}",
		    "no key that signs" },
		{ "{\"keys\":[{" POINT Y43 "\",\"kid\":\"a\"},{" POINT Y43
		  "\",\"kid\":\"a\"}]}",
		    "key 2: a key above has the same kid" },
	};
	struct jwks *jwks;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
		    jwks_parse(span_of(cases[i].text), &jwks, &err), -EINVAL);
		if (!strstr(err.text, cases[i].says))
			fail_msg("%s: %s", cases[i].text, err.text);
	}
	assert_int_equal(
	    jwks_parse(span_of("{\"keys\":[{" POINT Y43 "\"},{\"kty\":\"OKP\"},"
			       "{" POINT Y43 "\",\"use\":\"enc\"}]}"),
		&jwks, &err),
	    0);
	assert_non_null(jwks_find(jwks, NULL, jws_algorithm_find("ES256")));
	assert_null(jwks_find(jwks, "a", jws_algorithm_find("ES256")));
	assert_null(jwks_find(jwks, NULL, jws_algorithm_find("ES384")));
	assert_null(jwks_find(jwks, NULL, jws_algorithm_find("RS256")));
	jwks_free(jwks);
}

static void
sets_are_bounded(void **state)
{
	struct jwks *jwks;
	struct buf text;
	struct err err;

	(void)state;
	buf_init(&text, MIB);
	assert_int_equal(buf_add_text(&text, "{\"keys\":[{}"), 0);
	for (unsigned i = 0; i < JWKS_KEYS_MAX; i++)
		assert_int_equal(buf_add_text(&text, ",{}"), 0);
	assert_int_equal(buf_add_text(&text, "]}"), 0);
	assert_int_equal(jwks_parse(buf_span(&text), &jwks, &err), -EINVAL);
	assert_non_null(strstr(err.text, "more than 64 keys"));
	buf_done(&text);
	/* Costly exponents and moduli. */
	for (unsigned i = 0; i < 2; i++) {
		char long_text[2000];

		memset(long_text, '_', sizeof(long_text));
		buf_init(&text, MIB);
		assert_int_equal(
		    buf_printf(&text,
			"{\"keys\":[{\"kty\":\"RSA\",\"n\":\"%.*s\",\"e\":"
			"\"%.*s\"}]}",
			i ? 1996 : 400, long_text, i ? 4 : 8, long_text),
		    0);
		assert_int_equal(
		    jwks_parse(buf_span(&text), &jwks, &err), -EINVAL);
		assert_non_null(strstr(
		    err.text, i ? "2048 to 8192 bits" : "at most 32 bits"));
		buf_done(&text);
	}
}

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
	struct auth *auth = auth_ready(&conf);
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
	struct conf other = conf;
	struct auth *auth = auth_ready(&conf), *second;
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
	second = auth_ready(&conf);
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
	struct auth *auth = auth_ready(&conf);
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

static void
metadata_is_published(void **state)
{
	struct conf other = conf;
	struct auth *auth = auth_ready(&conf);
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
		cases[i] = conf;
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

	if (auth_new(&conf, &auth, &err) < 0 || wall_no_new_privs(&err) < 0 ||
	    die_at_open() < 0 || wall_seccomp(SECCOMP_SERVER, &err) < 0)
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
		cmocka_unit_test(all_algorithms_are_verified),
		cmocka_unit_test(signatures_are_whole),
		cmocka_unit_test(other_algorithms_are_refused),
		cmocka_unit_test(keys_are_those_of_the_set),
		cmocka_unit_test(header_is_strict),
		cmocka_unit_test(form_is_strict),
		cmocka_unit_test(claims_are_checked),
		cmocka_unit_test(times_are_checked),
		cmocka_unit_test(scopes_are_checked),
		cmocka_unit_test(claims_are_strict),
		cmocka_unit_test(sets_are_checked),
		cmocka_unit_test(sets_are_bounded),
		cmocka_unit_test(verdict_is_as_the_protocol_has_it),
		cmocka_unit_test(subjects_are_themselves),
		cmocka_unit_test(keys_are_exchanged),
		cmocka_unit_test(metadata_is_published),
		cmocka_unit_test(configuration_is_checked),
		cmocka_unit_test(works_behind_the_filter),
	};

	fresh_start();
	return cmocka_run_group_tests(tests, issuer_new, issuer_free);
}
