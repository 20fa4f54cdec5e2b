/* web_tokens.c: signing with libjose.
 * SPDX-License-Identifier: Apache-2.0 */
#include "web_tokens.h"

#include "base/buf.h"
#include "front/base64url.h"

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
	assert_int_equal(base64url_write(span_of(claims), &payload), 0);
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
	assert_int_equal(base64url_write(span_of(header), &text), 0);
	assert_int_equal(buf_add_text(&text, "."), 0);
	assert_int_equal(base64url_write(span_of(claims), &text), 0);
	assert_int_equal(buf_printf(&text, ".%s", end), 0);
	token = strndup((const char *)text.p, text.n);
	buf_done(&text);
	return token;
}
