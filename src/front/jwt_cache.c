/* jwt_cache.c: a table of sets of a few, the place in them chosen by a digest
 * that nobody can choose.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/jwt_cache.h"

#include "front/auth_tokens.h"

#include <stdlib.h>
#include <string.h>

#define WAYS 4u
#define SETS (JWT_CACHE_MAX / WAYS)

struct known {
	uint8_t digest[TOKEN_DIGEST_SIZE];
	bool used;
	struct jwt jwt;
};

struct jwt_cache {
	struct known sets[SETS][WAYS];
};

struct jwt_cache *
jwt_cache_new(void)
{
	return calloc(1, sizeof(struct jwt_cache));
}

void
jwt_cache_free(struct jwt_cache *cache)
{
	free(cache);
}

void
jwt_cache_clear(struct jwt_cache *cache)
{
	memset(cache, 0, sizeof(*cache));
}

static unsigned
set_of(const uint8_t *digest)
{
	uint32_t first;

	memcpy(&first, digest, sizeof(first));
	return first % SETS;
}

bool
jwt_cache_find(const struct jwt_cache *cache, struct span token, int64_t now_s,
    struct jwt *ret_jwt)
{
	uint8_t digest[TOKEN_DIGEST_SIZE];
	const struct known *set;

	token_digest(token, digest);
	set = cache->sets[set_of(digest)];
	for (unsigned i = 0; i < WAYS; i++) {
		if (!set[i].used ||
		    memcmp(set[i].digest, digest, sizeof(digest)) != 0)
			continue;
		*ret_jwt = set[i].jwt;
		return now_s < set[i].jwt.ends_s;
	}
	return false;
}

void
jwt_cache_add(struct jwt_cache *cache, struct span token, const struct jwt *jwt)
{
	uint8_t digest[TOKEN_DIGEST_SIZE];
	struct known *set, *slot;

	token_digest(token, digest);
	set = cache->sets[set_of(digest)];
	slot = &set[0];
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].used &&
		    memcmp(set[i].digest, digest, sizeof(digest)) == 0) {
			slot = &set[i];
			break;
		}
		/* The one that ends first; a free one before all. */
		if (slot->used &&
		    (!set[i].used || set[i].jwt.ends_s < slot->jwt.ends_s))
			slot = &set[i];
	}
	memcpy(slot->digest, digest, sizeof(digest));
	slot->used = true;
	slot->jwt = *jwt;
}
