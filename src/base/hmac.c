/* hmac.c: HMAC-SHA-256 over libmd's SHA-256.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/hmac.h"

#include <string.h>

#include <sha2.h>

#define BLOCK_SIZE 64u

_Static_assert(HMAC_KEY_SIZE <= BLOCK_SIZE, "a longer key must be hashed");
_Static_assert(HMAC_SIZE == SHA256_DIGEST_LENGTH, "the code is a digest");

/* The digest of the key, each byte changed by pad, and text after it. */
static void
digest(const uint8_t key[HMAC_KEY_SIZE], uint8_t pad, struct span text,
    uint8_t ret_digest[HMAC_SIZE])
{
	uint8_t block[BLOCK_SIZE];
	SHA2_CTX context;

	memset(block, pad, sizeof(block));
	for (size_t i = 0; i < HMAC_KEY_SIZE; i++)
		block[i] ^= key[i];
	SHA256Init(&context);
	SHA256Update(&context, block, sizeof(block));
	if (text.n > 0)
		SHA256Update(&context, text.p, text.n);
	SHA256Final(ret_digest, &context);
	explicit_bzero(block, sizeof(block));
	explicit_bzero(&context, sizeof(context));
}

void
hmac_sha256(const uint8_t key[HMAC_KEY_SIZE], struct span text,
    uint8_t ret_code[HMAC_SIZE])
{
	uint8_t inner[HMAC_SIZE];

	digest(key, 0x36, text, inner);
	digest(key, 0x5c, (struct span){ inner, sizeof(inner) }, ret_code);
}

bool
hmac_equal(const uint8_t a[HMAC_SIZE], const uint8_t b[HMAC_SIZE])
{
	unsigned differs = 0;

	for (size_t i = 0; i < HMAC_SIZE; i++)
		differs |= (unsigned)(a[i] ^ b[i]);
	return differs == 0;
}
