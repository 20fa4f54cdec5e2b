/* jwks.c: reading a set of keys, and choosing among them. Fuzzed by fuzz_auth.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/jwks.h"

#include "conf/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct jwk {
	struct jws_key key;
	const char *kid; /* NULL: none */
	const char *alg; /* the only one that it is for; NULL: all that fit */
};

struct jwks {
	json_t *whole; /* the strings above are borrowed from it */
	unsigned n;
	struct jwk keys[JWKS_KEYS_MAX];
};

json_t *
strict_object(struct span text)
{
	json_t *value = json_loadb(
	    (const char *)text.p, text.n, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(value))
		return value;
	json_decref(value);
	return NULL;
}

void
jwks_free(struct jwks *jwks)
{
	if (!jwks)
		return;
	for (unsigned i = 0; i < jwks->n; i++)
		jws_key_done(&jwks->keys[i].key);
	json_decref(jwks->whole);
	free(jwks);
}

static bool
is_equal(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* True if "use" and "key_ops" let it verify. */
static bool
is_for_signatures(const json_t *key)
{
	const char *use = json_string_value(json_object_get(key, "use"));
	json_t *operations = json_object_get(key, "key_ops");
	json_t *operation;
	size_t i;

	if (use && strcmp(use, "sig") != 0)
		return false;
	if (!operations)
		return true;
	json_array_foreach(
	    operations, i, operation) if (is_equal(json_string_value(operation),
					      "verify")) return true;
	return false;
}

/* A member that is a string or not there. */
static bool
read_optional(const json_t *key, const char *name, const char **ret_text)
{
	const json_t *value = json_object_get(key, name);

	*ret_text = json_string_value(value);
	return !value || *ret_text;
}

static const char *
key_add(struct jwks *jwks, const json_t *value)
{
	struct jwk *jwk = &jwks->keys[jwks->n];
	const char *use, *why;

	if (!json_is_object(value))
		return "not an object";
	if (!read_optional(value, "kid", &jwk->kid) ||
	    !read_optional(value, "alg", &jwk->alg) ||
	    !read_optional(value, "use", &use))
		return "kid, alg and use must be strings";
	why = jws_key_read(value, &jwk->key);
	if (why == JWS_NOT_OURS)
		return NULL;
	if (why)
		return why;
	if (!is_for_signatures(value) ||
	    (jwk->alg && !jws_algorithm_find(jwk->alg))) {
		jws_key_done(&jwk->key);
		return NULL;
	}
	for (unsigned i = 0; i < jwks->n; i++)
		if (is_equal(jwks->keys[i].kid, jwk->kid) &&
		    strcmp(jwks->keys[i].key.type, jwk->key.type) == 0)
			why = "a key above has the same kid";
	if (why)
		jws_key_done(&jwk->key);
	else
		jwks->n++;
	return why;
}

static int
keys_add(struct jwks *jwks, struct err *err)
{
	const json_t *keys = json_object_get(jwks->whole, "keys");

	if (!json_is_array(keys))
		return fail(err, EINVAL, "no array \"keys\"");
	if (json_array_size(keys) > JWKS_KEYS_MAX)
		return fail(err, EINVAL, "more than %u keys", JWKS_KEYS_MAX);
	for (size_t i = 0; i < json_array_size(keys); i++) {
		const char *why = key_add(jwks, json_array_get(keys, i));

		if (why)
			return fail(err, EINVAL, "key %zu: %s", i + 1, why);
	}
	if (jwks->n == 0)
		return fail(err, EINVAL,
		    "no key that signs: of RSA, or of a curve P-256, P-384 "
		    "or P-521");
	return 0;
}

int
jwks_parse(struct span text, struct jwks **ret_jwks, struct err *err)
{
	struct jwks *jwks = calloc(1, sizeof(*jwks));
	int r;

	if (!jwks)
		return fail(err, ENOMEM, "no memory for keys");
	jwks->whole = strict_object(text);
	r = jwks->whole
		? keys_add(jwks, err)
		: fail(err, EINVAL,
		      "not a JSON object, or a member comes twice in it");
	if (r < 0)
		jwks_free(jwks);
	else
		*ret_jwks = jwks;
	return r;
}

const struct jws_key *
jwks_find(const struct jwks *jwks, const char *kid,
    const struct jws_algorithm *algorithm)
{
	const struct jws_key *found = NULL;

	for (unsigned i = 0; i < jwks->n; i++) {
		const struct jwk *jwk = &jwks->keys[i];

		if ((kid && !is_equal(kid, jwk->kid)) ||
		    (jwk->alg && strcmp(jwk->alg, algorithm->name) != 0) ||
		    !jws_key_fits(&jwk->key, algorithm))
			continue;
		if (found)
			return NULL; /* nobody says which */
		found = &jwk->key;
	}
	return found;
}
