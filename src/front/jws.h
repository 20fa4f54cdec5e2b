/* jws.h: signatures of web tokens (RFC 7515): which algorithms there are, which
 * keys fit them, and the check itself. The only place that knows libjose and
 * OpenSSL.
 * Hostile input: a client's token, whose size its caller bounds.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_JWS_H
#define FRONT_JWS_H

#include "base/buf.h"
#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>

struct jws_algorithm {
	const char *name;
	const char *type;  /* kty of its keys */
	const char *curve; /* crv; NULL: they have none */
};

/* NULL: not one of ours, which are those of RFC 7518 that use a public key. */
const struct jws_algorithm *jws_algorithm_find(const char *name);

struct jws_key {
	json_t *key; /* owned: what a verification needs and nothing else */
	const char *type, *curve;
	size_t signature_bytes;
};

/* Takes the public key out of a JSON web key and checks it. NULL, or what is
 * wrong with it, a literal; JWS_NOT_OURS: a key of another type. */
const char *jws_key_read(const json_t *key, struct jws_key *ret_key);
extern const char JWS_NOT_OURS[];
void jws_key_done(struct jws_key *key);

bool jws_key_fits(
    const struct jws_key *key, const struct jws_algorithm *algorithm);

/* True if signature, by algorithm, is the key's for "header.payload". All
 * three are base64url text without padding; the key fits. */
bool jws_verify(const struct jws_key *key, struct span header,
    struct span payload, struct span signature);

/* Verifies something by every algorithm, so that OpenSSL reads its
 * configuration and fetches what it needs now: behind the walls it cannot. 0;
 * -errno with the algorithm that this OpenSSL lacks. */
int jws_warm(struct err *err);

#endif
