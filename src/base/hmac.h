/* hmac.h: HMAC-SHA-256 (RFC 2104): proof that bytes which came back from a
 * client are those that we gave out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HMAC_H
#define BASE_HMAC_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HMAC_KEY_SIZE 32u
#define HMAC_SIZE     32u

/* The code of text under key. */
void hmac_sha256(const uint8_t key[HMAC_KEY_SIZE], struct span text,
    uint8_t ret_code[HMAC_SIZE]);

/* True if both are equal; takes as long whatever they are. */
bool hmac_equal(const uint8_t a[HMAC_SIZE], const uint8_t b[HMAC_SIZE]);

#endif
