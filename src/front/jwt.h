/* jwt.h: a JSON web token (RFC 7519) as an access token: signed by a key of the
 * set, of the issuer, for this server, now. Compact and signed ones only.
 * Hostile input: a client's token. Pure; fuzzed by fuzz_auth.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_JWT_H
#define FRONT_JWT_H

#include "base/buf.h"
#include "conf/conf.h"
#include "front/jwks.h"

#include <stdbool.h>
#include <stdint.h>

/* True if it has the form of one: three parts between dots. */
bool jwt_is(struct span token);

struct jwt {
	char subject[SUBJECT_BYTES_MAX + 1];
	bool has_scopes; /* all that conf asks for */
	int64_t ends_s;  /* from then on it is refused */
};

/* Checks a token of at most TOKEN_BYTES_MAX bytes against keys, conf->issuer,
 * conf->audience (conf->resource without it) and the time since 1970. NULL, or
 * why it is refused: a literal for counters. */
const char *jwt_check(const struct jwks *jwks, const struct conf *conf,
    struct span token, int64_t now_s, struct jwt *ret_jwt);

#endif
