/* jwks.h: the public keys that web tokens are signed with, as a JSON web key
 * set (RFC 7517). Keys of other types and for other purposes are passed over;
 * a secret one is an error.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_JWKS_H
#define FRONT_JWKS_H

#include "base/buf.h"
#include "base/err.h"
#include "front/jws.h"

struct jwks;

/* 0; -EINVAL with the number of the key and what is wrong with it; -ENOMEM. */
int jwks_parse(struct span text, struct jwks **ret_jwks, struct err *err);
void jwks_free(struct jwks *jwks); /* NULL is fine */

/* The key with that kid which is for the algorithm; without a kid (NULL) the
 * only one that is. NULL if there is none. */
const struct jws_key *jwks_find(const struct jwks *jwks, const char *kid,
    const struct jws_algorithm *algorithm);

/* The object that text is as JSON, in which no member comes twice; NULL if it
 * is not one. The caller's. */
json_t *strict_object(struct span text);

#endif
