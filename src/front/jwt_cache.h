/* jwt_cache.h: web tokens that were found good, so that one that comes with
 * every request is verified once. Holds digests of them, never a token.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_JWT_CACHE_H
#define FRONT_JWT_CACHE_H

#include "base/buf.h"
#include "front/jwt.h"

#include <stdbool.h>
#include <stdint.h>

struct jwt_cache;

struct jwt_cache *jwt_cache_new(void);        /* NULL without memory */
void jwt_cache_free(struct jwt_cache *cache); /* NULL is fine */

/* True if the token was found good and has not expired since. */
bool jwt_cache_find(const struct jwt_cache *cache, struct span token,
    int64_t now_s, struct jwt *ret_jwt);

/* The token is good. Another one may be forgotten for it. */
void jwt_cache_add(
    struct jwt_cache *cache, struct span token, const struct jwt *jwt);

/* The keys are others: nothing was found good by them. */
void jwt_cache_clear(struct jwt_cache *cache);

#endif
