/* fuzz_auth.c: what says who a client is. The first byte says which: H, an
 * Authorization header; T, a file of tokens; K, a set of keys; C, the claims of
 * a web token that is signed here; J, a web token's header. Nobody gets in but
 * by a token that is known here, or by claims that a second, simpler reading
 * finds right.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "base/own.h"
#include "front/auth.h"
#include "front/auth_tokens.h"
#include "front/jwks.h"
#include "front/jwt.h"
#include "fuzz_input.h"

#include <errno.h>
#include <jose/jws.h>
#include <string.h>
#include <strings.h>

#define ISSUER "https://id.example"
#define US     "https://run.example/mcp"
#define NOW    1800000000
#define KNOWN  "0123456789abcdef"

/* The key of RFC 7515, A.3. */
#define PUBLIC                                                   \
	"\"kty\":\"EC\",\"crv\":\"P-256\","                      \
	"\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\"," \
	"\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\""
#define SECRET "\"d\":\"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI\""

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct conf conf = {
	.tokens_path = "/tokens",
	.jwks_path = "/keys",
	.issuer = ISSUER,
	.resource = US,
	.scopes = { .n = 1, .items = { "run" } },
	.token_calls = 1,
	.token_queue = 1,
	.token_per_minute = 1,
};

static struct auth *auth;
static struct jwks *keys;
static json_t *secret;

static void
setup(void)
{
	struct span set = span_of("{\"keys\":[{" PUBLIC "}]}");
	uint8_t digest[TOKEN_DIGEST_SIZE];
	struct buf line;

	if (auth)
		return;
	secret = json_loads("{" PUBLIC "," SECRET "}", 0, NULL);
	buf_init(&line, KIB);
	token_digest(span_of(KNOWN), digest);
	check(buf_add_text(&line, "known sha256:") == 0, "memory");
	for (unsigned i = 0; i < sizeof(digest); i++)
		check(buf_printf(&line, "%02x", digest[i]) == 0, "memory");
	check(auth_new(&conf, &auth, NULL) == 0 &&
		  auth_set_tokens(auth, buf_span(&line), NULL) == 0 &&
		  auth_set_jwks(auth, set, NULL) == 0 &&
		  jwks_parse(set, &keys, NULL) == 0,
	    "setup");
	buf_done(&line);
}

/* ---- H ---- */

static bool
is_known(struct span header)
{
	return header.n == strlen("Bearer " KNOWN) &&
	       strncasecmp((const char *)header.p, "Bearer ", 7) == 0 &&
	       memcmp(header.p + 7, KNOWN, strlen(KNOWN)) == 0;
}

static void
judge_header(struct span header)
{
	static uint64_t now_us = UINT64_C(1000000000);
	static const uint8_t address[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };
	struct auth_verdict verdict;

	now_us += 1000000;
	auth_check(auth, header, address, NOW, now_us, &verdict);
	check((verdict.principal != NULL) == is_known(header), "known alone");
	if (verdict.principal) {
		check(verdict.status == 0, "let in");
		principal_release(verdict.principal);
		return;
	}
	check(verdict.status == 400 || verdict.status == 401 ||
		  verdict.status == 429,
	    "a status");
	check(*verdict.reason, "a reason");
	check((verdict.status == 429) == (verdict.challenge[0] == '\0') &&
		  (verdict.status == 429) == (verdict.retry_after_s > 0),
	    "what to do");
}

/* ---- T ---- */

static void
write_line(const struct token_line *line, struct buf *text)
{
	check(buf_printf(text, "%s sha256:", line->name) == 0, "memory");
	for (unsigned i = 0; i < sizeof(line->digest); i++)
		check(buf_printf(text, "%02x", line->digest[i]) == 0, "memory");
	if (line->calls)
		check(buf_printf(text, " calls=%u", line->calls) == 0, "");
	if (line->queue)
		check(buf_printf(text, " queue=%u", line->queue) == 0, "");
	if (line->per_minute)
		check(buf_printf(text, " per-minute=%u", line->per_minute) == 0,
		    "");
	check(buf_add_text(text, "\n") == 0, "memory");
}

/* What was read means the same when it is written again. */
static void
judge_tokens(struct span text)
{
	own_mem struct token_lines *lines = NULL, *again = NULL;
	own_buf struct buf written;
	struct err err = { 0 };

	buf_init(&written, MIB);
	if (tokens_parse(text, &lines, &err) < 0) {
		check(err.code == EINVAL && err.text[0], "a sentence");
		return;
	}
	check(buf_add_text(&written, "#\n") == 0, "memory");
	for (unsigned i = 0; i < lines->n; i++) {
		const struct token_line *line = &lines->lines[i];

		check(!token_name_fault(span_of(line->name)), "a name");
		check(line->calls <= CONCURRENCY_MAX &&
			  line->queue <= QUEUE_MAX &&
			  line->per_minute <= PER_MINUTE_MAX,
		    "limits");
		for (unsigned j = 0; j < i; j++)
			check(strcmp(line->name, lines->lines[j].name) != 0 &&
				  memcmp(line->digest, lines->lines[j].digest,
				      sizeof(line->digest)) != 0,
			    "no line twice");
		write_line(line, &written);
	}
	check(
	    tokens_parse(buf_span(&written), &again, &err) == 0, "read again");
	check(again->n == lines->n &&
		  memcmp(again->lines, lines->lines,
		      lines->n * sizeof(lines->lines[0])) == 0,
	    "the same");
}

/* ---- K ---- */

static void
judge_keys(struct span text)
{
	static const char *const names[] = { "RS256", "RS384", "RS512", "PS256",
		"PS384", "PS512", "ES256", "ES384", "ES512" };
	struct jwks *jwks = NULL;
	struct err err = { 0 };

	if (jwks_parse(text, &jwks, &err) < 0) {
		check(err.code == EINVAL && err.text[0], "a sentence");
		return;
	}
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct jws_algorithm *algorithm =
		    jws_algorithm_find(names[i]);
		const struct jws_key *key = jwks_find(jwks, NULL, algorithm);

		if (!key)
			continue;
		check(jws_key_fits(key, algorithm), "it fits");
		check(!json_object_get(key->key, "d"), "no secret");
		check(key->signature_bytes >= 64, "long enough");
		check(!jws_verify(
			  key, span_of("e30"), span_of("e30"), span_of("AAAA")),
		    "no signature");
	}
	jwks_free(jwks);
}

/* ---- C ---- */

static bool
text_is(const json_t *value, const char *text)
{
	return json_is_string(value) &&
	       strcmp(json_string_value(value), text) == 0;
}

/* Another reading of the claims: what must hold if they were accepted. */
static bool
may_enter(struct span claims)
{
	json_t *value = json_loadb((const char *)claims.p, claims.n, 0, NULL);
	json_t *audience = json_object_get(value, "aud");
	bool us = text_is(audience, US);
	bool good;

	for (size_t i = 0; i < json_array_size(audience); i++)
		us = us || text_is(json_array_get(audience, i), US);
	good = us && text_is(json_object_get(value, "iss"), ISSUER) &&
	       json_string_length(json_object_get(value, "sub")) > 0 &&
	       json_number_value(json_object_get(value, "exp")) > NOW - 30 &&
	       json_number_value(json_object_get(value, "nbf")) <= NOW + 30 &&
	       json_number_value(json_object_get(value, "iat")) <= NOW + 30;
	json_decref(value);
	return good;
}

/* A token of the claims as they are. */
static bool
sign(struct span claims, struct buf *token)
{
	own_buf struct buf payload;
	json_t *jws,
	    *with = json_pack("{s:{s:s}}", "protected", "alg", "ES256");
	bool ok;

	buf_init(&payload, MIB);
	check(base64_write(BASE64_URL, claims, &payload) == 0, "memory");
	jws = json_pack(
	    "{s:s%}", "payload", payload.p ? (char *)payload.p : "", payload.n);
	ok = jose_jws_sig(NULL, jws, with, secret) &&
	     buf_printf(token, "%s.%.*s.%s",
		 json_string_value(json_object_get(jws, "protected")),
		 (int)payload.n, (const char *)payload.p,
		 json_string_value(json_object_get(jws, "signature"))) == 0;
	json_decref(jws);
	json_decref(with);
	return ok;
}

static void
judge_claims(struct span claims)
{
	own_buf struct buf token;
	struct jwt jwt = { 0 };

	buf_init(&token, MIB);
	if (claims.n == 0 || !sign(claims, &token))
		return;
	if (jwt_check(keys, &conf, buf_span(&token), NOW, &jwt))
		return;
	check(may_enter(claims), "right claims alone");
	check(jwt.subject[0] && strlen(jwt.subject) <= SUBJECT_BYTES_MAX,
	    "a subject");
}

/* ---- J ---- */

static void
judge_token_header(struct span header)
{
	own_buf struct buf token;
	struct jwt jwt;

	buf_init(&token, MIB);
	check(base64_write(BASE64_URL, header, &token) == 0 &&
		  buf_add_text(&token, ".e30.") == 0,
	    "memory");
	/* 64 bytes: as long as a signature, and none. */
	for (unsigned i = 0; i < 86; i++)
		check(buf_add_text(&token, "A") == 0, "memory");
	check(jwt_check(keys, &conf, buf_span(&token), NOW, &jwt) != NULL,
	    "no signature");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span rest = { data + 1, size - 1 };

	if (size == 0)
		return 0;
	setup();
	switch (data[0]) {
	case 'T':
		judge_tokens(rest);
		break;
	case 'K':
		judge_keys(rest);
		break;
	case 'C':
		judge_claims(rest);
		break;
	case 'J':
		judge_token_header(rest);
		break;
	default:
		judge_header(rest);
		break;
	}
	return 0;
}
