/* jwt.c: the checks of a web token, its signature before its claims.
 * Hostile input: a client's token. Fuzzed by fuzz_auth.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/jwt.h"

#include "base/base64.h"
#include "base/own.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define NEVER_S 1e15 /* 30 million years */

enum part {
	HEADER,
	PAYLOAD,
	SIGNATURE,
	PARTS
};

static bool
split(struct span token, struct span ret_parts[PARTS])
{
	for (unsigned i = 0; i < PARTS; i++) {
		const uint8_t *end = memchr(token.p, '.', token.n);

		if ((end != NULL) != (i < SIGNATURE))
			return false;
		ret_parts[i].p = token.p;
		ret_parts[i].n = end ? (size_t)(end - token.p) : token.n;
		if (ret_parts[i].n == 0)
			return false;
		if (end) {
			token.n -= ret_parts[i].n + 1;
			token.p = end + 1;
		}
	}
	return true;
}

bool
jwt_is(struct span token)
{
	unsigned dots = 0;

	for (size_t i = 0; i < token.n; i++)
		dots += token.p[i] == '.';
	return dots == 2;
}

/* ---- the header ---- */

/* Other types are for other uses: an ID token, a proof, a logout. */
static bool
is_access_token(const json_t *type)
{
	static const char *const types[] = { "JWT", "at+jwt",
		"application/at+jwt" };

	if (!type)
		return true;
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (json_is_string(type) &&
		    strcasecmp(json_string_value(type), types[i]) == 0)
			return true;
	return false;
}

/* The key that the header asks for. Whatever else it says of keys (jwk, jku,
 * x5c) is the client's word and not looked at. */
static const char *
choose_key(const struct jwks *jwks, const json_t *header,
    const struct jws_key **ret_key)
{
	const char *name = json_string_value(json_object_get(header, "alg"));
	const json_t *kid = json_object_get(header, "kid");
	const struct jws_algorithm *algorithm =
	    name ? jws_algorithm_find(name) : NULL;

	if (!algorithm)
		return "jwt_algorithm";
	/* Extensions that must be understood: none is. */
	if (json_object_get(header, "crit") || json_object_get(header, "b64") ||
	    !is_access_token(json_object_get(header, "typ")))
		return "jwt_header";
	if (kid && !json_is_string(kid))
		return "jwt_header";
	*ret_key = jwks_find(jwks, json_string_value(kid), algorithm);
	return *ret_key ? NULL : "jwt_key";
}

/* The object in a part; NULL if it is not one. */
static json_t *
part_load(struct span part)
{
	own_buf struct buf text;

	buf_init(&text, TOKEN_BYTES_MAX);
	return base64_read(BASE64_URL, part, &text) < 0
		   ? NULL
		   : strict_object(buf_span(&text));
}

static const char *
check_signature(const struct jwks *jwks, const struct span parts[PARTS])
{
	json_t *header = part_load(parts[HEADER]);
	const struct jws_key *key = NULL;
	const char *why =
	    header ? choose_key(jwks, header, &key) : "jwt_header";

	json_decref(header);
	if (!why &&
	    !jws_verify(key, parts[HEADER], parts[PAYLOAD], parts[SIGNATURE]))
		why = "jwt_signature";
	return why;
}

/* ---- the claims ---- */

static bool
is_text(const json_t *value, const char *text)
{
	return json_is_string(value) &&
	       strcmp(json_string_value(value), text) == 0;
}

/* A string, or one of an array of strings. */
static bool
is_for(const json_t *audience, const char *us)
{
	const json_t *one;
	size_t i;

	if (!json_is_array(audience))
		return is_text(audience, us);
	json_array_foreach(audience, i, one) if (is_text(one, us)) return true;
	return false;
}

/* Seconds since 1970, also with a fraction. */
static bool
read_time(const json_t *value, double *ret_s)
{
	*ret_s = json_number_value(value);
	return json_is_number(value) && isfinite(*ret_s) && *ret_s >= 0;
}

static bool
is_now(const json_t *claims, int64_t now_s, int64_t *ret_ends_s)
{
	const json_t *not_before = json_object_get(claims, "nbf");
	const json_t *issued = json_object_get(claims, "iat");
	double now = (double)now_s, s;

	if (!read_time(json_object_get(claims, "exp"), &s) ||
	    now >= s + AUTH_LEEWAY_S)
		return false;
	*ret_ends_s = (int64_t)fmin(s, NEVER_S) + AUTH_LEEWAY_S;
	if (not_before &&
	    (!read_time(not_before, &s) || now + AUTH_LEEWAY_S < s))
		return false;
	return !issued || (read_time(issued, &s) && now + AUTH_LEEWAY_S >= s);
}

/* True if a word of text, between spaces, is word. */
static bool
has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at++)
		if ((at == text || at[-1] == ' ') &&
		    (at[n] == ' ' || at[n] == '\0'))
			return true;
	return false;
}

static bool
has_scope(const json_t *claims, const char *scope)
{
	const json_t *text = json_object_get(claims, "scope");
	const json_t *list = json_object_get(claims, "scp");
	const json_t *one;
	size_t i;

	if (json_is_string(text) && has_word(json_string_value(text), scope))
		return true;
	if (json_is_string(list))
		return has_word(json_string_value(list), scope);
	json_array_foreach(list, i, one) if (is_text(one, scope)) return true;
	return false;
}

static bool
has_scopes(const json_t *claims, const struct conf_list *wanted)
{
	for (unsigned i = 0; i < wanted->n; i++)
		if (!has_scope(claims, wanted->items[i]))
			return false;
	return true;
}

static const char *
check_claims(const json_t *claims, const struct conf *conf, int64_t now_s,
    struct jwt *ret_jwt)
{
	const json_t *subject = json_object_get(claims, "sub");
	const char *us = conf->audience ? conf->audience : conf->resource;

	if (!is_text(json_object_get(claims, "iss"), conf->issuer))
		return "jwt_issuer";
	if (!is_for(json_object_get(claims, "aud"), us))
		return "jwt_audience";
	if (!is_now(claims, now_s, &ret_jwt->ends_s))
		return "jwt_time";
	if (!json_is_string(subject) || json_string_length(subject) == 0 ||
	    json_string_length(subject) > SUBJECT_BYTES_MAX)
		return "jwt_subject";
	memcpy(ret_jwt->subject, json_string_value(subject),
	    json_string_length(subject) + 1);
	ret_jwt->has_scopes = has_scopes(claims, &conf->scopes);
	return NULL;
}

const char *
jwt_check(const struct jwks *jwks, const struct conf *conf, struct span token,
    int64_t now_s, struct jwt *ret_jwt)
{
	struct span parts[PARTS];
	const char *why;
	json_t *claims;

	if (token.n > TOKEN_BYTES_MAX || !split(token, parts))
		return "jwt_form";
	why = check_signature(jwks, parts);
	if (why)
		return why;
	claims = part_load(parts[PAYLOAD]);
	why =
	    claims ? check_claims(claims, conf, now_s, ret_jwt) : "jwt_claims";
	json_decref(claims);
	return why;
}
