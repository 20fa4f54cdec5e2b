/* jws.c: libjose, with its questions asked before it is called: an algorithm
 * of the list, a key of the right kind and size, a signature of the right
 * length. It is handed one key, never the token's own.
 * Hostile input: a client's token. Fuzzed by fuzz_auth.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/jws.h"

#include "base/base64.h"
#include "base/own.h"
#include "conf/limits.h"

#include <errno.h>
#include <jose/jwk.h>
#include <jose/jws.h>
#include <jose/openssl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPONENT_CHARS 6u /* 32 bits; OpenSSL takes more for short keys */

const char JWS_NOT_OURS[] = "a key of another type";

/* Neither "none" nor HS*: with those anybody who can read the public keys
 * could sign. */
static const struct jws_algorithm algorithms[] = {
	{ "RS256", "RSA", NULL },
	{ "RS384", "RSA", NULL },
	{ "RS512", "RSA", NULL },
	{ "PS256", "RSA", NULL },
	{ "PS384", "RSA", NULL },
	{ "PS512", "RSA", NULL },
	{ "ES256", "EC", "P-256" },
	{ "ES384", "EC", "P-384" },
	{ "ES512", "EC", "P-521" },
};
#define ALGORITHMS (sizeof(algorithms) / sizeof(algorithms[0]))

const struct jws_algorithm *
jws_algorithm_find(const char *name)
{
	for (size_t i = 0; i < ALGORITHMS; i++)
		if (strcmp(name, algorithms[i].name) == 0)
			return &algorithms[i];
	return NULL;
}

static void
say_nothing(void *misc, const char *file, int line, uint64_t code,
    const char *format, va_list arguments)
{
	(void)misc;
	(void)file;
	(void)line;
	(void)code;
	(void)format;
	(void)arguments;
}

/* A configuration of libjose that prints nothing. NULL without memory. */
static jose_cfg_t *
quiet(void)
{
	jose_cfg_t *cfg = jose_cfg();

	if (cfg)
		jose_cfg_set_err_func(cfg, say_nothing, NULL);
	return cfg;
}

/* ---- keys ---- */

/* The members of key that are named, all of them strings; NULL if one is not
 * there. */
static json_t *
copy_strings(const json_t *key, const char *const *names)
{
	json_t *copy = json_object();

	for (; *names; names++) {
		json_t *value = json_object_get(key, *names);

		if (!json_is_string(value) ||
		    json_object_set(copy, *names, value) < 0) {
			json_decref(copy);
			return NULL;
		}
	}
	return copy;
}

/* What a verification costs grows with these. */
static const char *
check_rsa(EVP_PKEY *parsed, struct jws_key *key)
{
	const json_t *exponent = json_object_get(key->key, "e");
	unsigned bits = (unsigned)EVP_PKEY_get_bits(parsed);

	if (bits < RSA_BITS_MIN || bits > RSA_BITS_MAX)
		return "an RSA key has 2048 to 8192 bits";
	if (json_string_length(exponent) > EXPONENT_CHARS)
		return "the exponent of an RSA key has at most 32 bits";
	key->signature_bytes = (bits + 7) / 8;
	return NULL;
}

static const char *
check_imported(struct jws_key *key)
{
	jose_cfg_auto_t *cfg = quiet();
	EVP_PKEY *parsed =
	    cfg ? jose_openssl_jwk_to_EVP_PKEY(cfg, key->key) : NULL;
	const char *why = NULL;

	if (!parsed)
		why = "its numbers are no key";
	else if (!key->curve)
		why = check_rsa(parsed, key);
	EVP_PKEY_free(parsed);
	ERR_clear_error();
	return why;
}

static const char *
read_curve(const json_t *key, struct jws_key *ret_key)
{
	static const struct {
		const char *curve;
		size_t signature_bytes;
	} curves[] = { { "P-256", 64 }, { "P-384", 96 }, { "P-521", 132 } };
	static const char *const members[] = { "kty", "crv", "x", "y", NULL };
	const char *curve = json_string_value(json_object_get(key, "crv"));

	for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++) {
		if (!curve || strcmp(curve, curves[i].curve) != 0)
			continue;
		ret_key->type = "EC";
		ret_key->curve = curves[i].curve;
		ret_key->signature_bytes = curves[i].signature_bytes;
		ret_key->key = copy_strings(key, members);
		return ret_key->key ? NULL : "x and y must be strings";
	}
	return JWS_NOT_OURS;
}

static const char *
read_modulus(const json_t *key, struct jws_key *ret_key)
{
	static const char *const members[] = { "kty", "n", "e", NULL };

	ret_key->type = "RSA";
	ret_key->key = copy_strings(key, members);
	return ret_key->key ? NULL : "n and e must be strings";
}

const char *
jws_key_read(const json_t *key, struct jws_key *ret_key)
{
	const char *type = json_string_value(json_object_get(key, "kty"));
	const char *why = JWS_NOT_OURS;

	*ret_key = (struct jws_key){ 0 };
	if (!type)
		return "kty must be a string";
	/* d is the secret part; k that of keys which have no other. */
	if (json_object_get(key, "d") || json_object_get(key, "k"))
		return "it is a secret key: only public ones belong here";
	if (strcmp(type, "RSA") == 0)
		why = read_modulus(key, ret_key);
	else if (strcmp(type, "EC") == 0)
		why = read_curve(key, ret_key);
	if (!why)
		why = check_imported(ret_key);
	if (why)
		jws_key_done(ret_key);
	return why;
}

void
jws_key_done(struct jws_key *key)
{
	json_decref(key->key);
	key->key = NULL;
}

bool
jws_key_fits(const struct jws_key *key, const struct jws_algorithm *algorithm)
{
	if (strcmp(key->type, algorithm->type) != 0)
		return false;
	return !algorithm->curve || strcmp(key->curve, algorithm->curve) == 0;
}

/* ---- signatures ---- */

static bool
verify_with(jose_cfg_t *cfg, const json_t *key, struct span header,
    struct span payload, struct span signature)
{
	json_t *jws = json_pack("{s:s%, s:s%, s:s%}", "protected", header.p,
	    header.n, "payload", payload.p, payload.n, "signature", signature.p,
	    signature.n);
	bool good = jws && jose_jws_ver(cfg, jws, NULL, key, false);

	json_decref(jws);
	/* What failed is kept by OpenSSL, thread by thread. */
	ERR_clear_error();
	return good;
}

bool
jws_verify(const struct jws_key *key, struct span header, struct span payload,
    struct span signature)
{
	own_buf struct buf bytes;
	jose_cfg_auto_t *cfg = quiet();

	buf_init(&bytes, key->signature_bytes);
	if (!cfg || base64_read(BASE64_URL, signature, &bytes) < 0 ||
	    bytes.n != key->signature_bytes)
		return false;
	return verify_with(cfg, key->key, header, payload, signature);
}

/* ---- before the walls ---- */

/* A key of the algorithm's kind, and of no worth. */
static json_t *
throwaway_key(const struct jws_algorithm *algorithm, jose_cfg_t *cfg)
{
	static const uint8_t ones[RSA_BITS_MIN / 8] = {
		[0 ... RSA_BITS_MIN / 8 - 1] = 0xff
	};
	own_buf struct buf text;
	json_t *key;

	if (algorithm->curve) {
		key = json_pack("{s:s}", "alg", algorithm->name);
		if (key && !jose_jwk_gen(cfg, key)) {
			json_decref(key);
			return NULL;
		}
		(void)json_object_del(key, "d");
		(void)json_object_del(key, "key_ops");
		return key;
	}
	buf_init(&text, KIB);
	if (base64_write(
		BASE64_URL, (struct span){ ones, sizeof(ones) }, &text) < 0)
		return NULL;
	return json_pack(
	    "{s:s, s:s%, s:s}", "kty", "RSA", "n", text.p, text.n, "e", "AQAB");
}

/* Verifies a signature that is wrong, but not at a first look. */
static int
verify_something(const struct jws_algorithm *algorithm, jose_cfg_t *cfg)
{
	static const uint8_t numbers[RSA_BITS_MIN / 8] = {
		[0 ... RSA_BITS_MIN / 8 - 1] = 1
	};
	struct jws_key key = { 0 };
	json_t *made = throwaway_key(algorithm, cfg);
	own_buf struct buf header, signature;
	char text[32];
	int r = made && !jws_key_read(made, &key) ? 0 : -ENOTSUP;

	buf_init(&header, KIB);
	buf_init(&signature, KIB);
	(void)snprintf(text, sizeof(text), "{\"alg\":\"%s\"}", algorithm->name);
	if (r == 0)
		r = base64_write(BASE64_URL, span_of(text), &header);
	if (r == 0)
		r = base64_write(BASE64_URL,
		    (struct span){ numbers, key.signature_bytes }, &signature);
	if (r == 0)
		(void)jws_verify(&key, buf_span(&header), span_of("e30"),
		    buf_span(&signature));
	jws_key_done(&key);
	json_decref(made);
	return r;
}

int
jws_warm(struct err *err)
{
	jose_cfg_auto_t *cfg = quiet();
	int r = cfg ? 0 : -ENOMEM;

	for (size_t i = 0; i < ALGORITHMS && r == 0; i++) {
		r = verify_something(&algorithms[i], cfg);
		if (r < 0)
			return fail(err, -r,
			    "this OpenSSL, or libjose, cannot do %s",
			    algorithms[i].name);
	}
	return r < 0 ? fail(err, -r, "no memory for signatures") : 0;
}
