/* test_jwt.c: web tokens as an issuer signs them, and as others would like
 * them to be taken; sets of keys.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/jwt.h"

#include "front/jwks.h"
#include "web_tokens.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct jwks *jwks;

static int
keys_new(void **state)
{
	struct err err;

	(void)issuer_new(state);
	return jwks_parse(span_of(issuer.set), &jwks, &err);
}

static int
keys_free(void **state)
{
	jwks_free(jwks);
	return issuer_free(state);
}

static const char *
check_at(char *token, int64_t now_s, struct jwt *ret_jwt)
{
	const char *why =
	    jwt_check(jwks, &web_conf, span_of(token), now_s, ret_jwt);

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
	json_t *good = claims();
	char *text = json_dumps(good, 0);
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
	json_decref(good);
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
	struct jwt jwt;
	char *token;
	json_t *one = claims();

	(void)state;
	/* Text that looks so in a string is no member. */
	(void)json_object_set_new(one, "twice", json_string("\",\"iss\":\"x"));
	token = web_token(issuer.keys[P256_KEY], header("ES256", "p256"), one);
	assert_null(jwt_check(jwks, &web_conf, span_of(token), NOW, &jwt));
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
	struct jwks *made;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
		    jwks_parse(span_of(cases[i].text), &made, &err), -EINVAL);
		if (!strstr(err.text, cases[i].says))
			fail_msg("%s: %s", cases[i].text, err.text);
	}
	assert_int_equal(
	    jwks_parse(span_of("{\"keys\":[{" POINT Y43 "\"},{\"kty\":\"OKP\"},"
			       "{" POINT Y43 "\",\"use\":\"enc\"}]}"),
		&made, &err),
	    0);
	assert_non_null(jwks_find(made, NULL, jws_algorithm_find("ES256")));
	assert_null(jwks_find(made, "a", jws_algorithm_find("ES256")));
	assert_null(jwks_find(made, NULL, jws_algorithm_find("ES384")));
	assert_null(jwks_find(made, NULL, jws_algorithm_find("RS256")));
	jwks_free(made);
}

static void
sets_are_bounded(void **state)
{
	struct jwks *made;
	struct buf text;
	struct err err;

	(void)state;
	buf_init(&text, MIB);
	assert_int_equal(buf_add_text(&text, "{\"keys\":[{}"), 0);
	for (unsigned i = 0; i < JWKS_KEYS_MAX; i++)
		assert_int_equal(buf_add_text(&text, ",{}"), 0);
	assert_int_equal(buf_add_text(&text, "]}"), 0);
	assert_int_equal(jwks_parse(buf_span(&text), &made, &err), -EINVAL);
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
		    jwks_parse(buf_span(&text), &made, &err), -EINVAL);
		assert_non_null(strstr(
		    err.text, i ? "2048 to 8192 bits" : "at most 32 bits"));
		buf_done(&text);
	}
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
	};

	return cmocka_run_group_tests(tests, keys_new, keys_free);
}
