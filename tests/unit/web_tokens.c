/* web_tokens.c: an issuer, who signs with libjose.
 * SPDX-License-Identifier: Apache-2.0 */
#include "web_tokens.h"

#include "base/base64.h"
#include "base/buf.h"

#include <jose/jwk.h>
#include <jose/jws.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

json_t *
web_key(const char *algorithm, const char *kid)
{
	json_t *key = json_pack("{s:s, s:s}", "alg", algorithm, "kid", kid);

	assert_true(jose_jwk_gen(NULL, key));
	return key;
}

char *
web_key_set(json_t *const *keys, size_t n)
{
	json_t *set = json_pack("{s:[]}", "keys");
	char *text;

	for (size_t i = 0; i < n; i++) {
		json_t *copy = json_deep_copy(keys[i]);

		assert_true(jose_jwk_pub(NULL, copy));
		(void)json_array_append_new(json_object_get(set, "keys"), copy);
	}
	text = json_dumps(set, 0);
	json_decref(set);
	return text;
}

char *
web_token_signed(const json_t *key, json_t *header, const char *claims)
{
	json_t *jws = json_object();
	json_t *with = json_pack("{s:o}", "protected", header);
	struct buf payload;
	char *token = NULL;

	buf_init(&payload, 1u << 20);
	assert_int_equal(
	    base64_write(BASE64_URL, span_of(claims), &payload), 0);
	(void)json_object_set_new(
	    jws, "payload", json_stringn((const char *)payload.p, payload.n));
	assert_true(jose_jws_sig(NULL, jws, with, key));
	assert_true(
	    asprintf(&token, "%s.%.*s.%s",
		json_string_value(json_object_get(jws, "protected")),
		(int)payload.n, (const char *)payload.p,
		json_string_value(json_object_get(jws, "signature"))) > 0);
	buf_done(&payload);
	json_decref(jws);
	json_decref(with);
	return token;
}

char *
web_token(const json_t *key, json_t *header, json_t *claims)
{
	char *text = json_dumps(claims, 0);
	char *token = web_token_signed(key, header, text);

	free(text);
	json_decref(claims);
	return token;
}

char *
web_token_of(const char *header, const char *claims, const char *end)
{
	struct buf text;
	char *token;

	buf_init(&text, 1u << 20);
	assert_int_equal(base64_write(BASE64_URL, span_of(header), &text), 0);
	assert_int_equal(buf_add_text(&text, "."), 0);
	assert_int_equal(base64_write(BASE64_URL, span_of(claims), &text), 0);
	assert_int_equal(buf_printf(&text, ".%s", end), 0);
	token = strndup((const char *)text.p, text.n);
	buf_done(&text);
	return token;
}

/* ---- an issuer ---- */

struct issuer issuer;

const struct conf web_conf = {
	.jwks_path = "/keys",
	.issuer = ISSUER,
	.resource = RESOURCE,
	.scopes = { .n = 2, .items = { "run", "read" } },
	.token_calls = 8,
	.token_queue = 32,
	.token_per_minute = 600,
};

int
issuer_new(void **state)
{
	(void)state;
	issuer.keys[RSA_KEY] = web_key("RS256", "rsa");
	/* It signs by all of RSA's. */
	(void)json_object_del(issuer.keys[RSA_KEY], "alg");
	issuer.keys[P256_KEY] = web_key("ES256", "p256");
	issuer.keys[P384_KEY] = web_key("ES384", "p384");
	issuer.keys[P521_KEY] = web_key("ES512", "p521");
	issuer.stranger = web_key("RS256", "rsa");
	issuer.set = web_key_set(issuer.keys, KEYS);
	return 0;
}

int
issuer_free(void **state)
{
	(void)state;
	for (unsigned i = 0; i < KEYS; i++)
		json_decref(issuer.keys[i]);
	json_decref(issuer.stranger);
	free(issuer.set);
	return 0;
}

json_t *
claims(void)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:s}", "iss", ISSUER,
	    "aud", RESOURCE, "sub", "alice", "exp", NOW + 60, "nbf", NOW - 1,
	    "iat", NOW, "scope", "read run");
}

json_t *
header(const char *algorithm, const char *kid)
{
	json_t *value =
	    json_pack("{s:s, s:s}", "alg", algorithm, "typ", "at+jwt");

	if (kid)
		(void)json_object_set_new(value, "kid", json_string(kid));
	return value;
}

char *
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
