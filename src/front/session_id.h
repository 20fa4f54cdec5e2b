/* session_id.h: the id of a session as a signed token, so that a server which
 * was started anew still knows its own. It holds the revision, when it was
 * given out, and 128 random bits; the signature covers the principal as well,
 * whom it does not name. Pure.
 * Hostile input: the ids that clients send.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_SESSION_ID_H
#define FRONT_SESSION_ID_H

#include "base/buf.h"
#include "base/hmac.h"
#include "call/principal.h"

#include <stdbool.h>
#include <stdint.h>

#define SESSION_NONCE_SIZE    16u
#define SESSION_REVISION_SIZE 10u /* "2025-11-25" */

struct session_id {
	char revision[SESSION_REVISION_SIZE + 1];
	int64_t issued_s; /* since 1970 */
	uint8_t nonce[SESSION_NONCE_SIZE];
};

#define SESSION_ID_SIZE 92u /* 67 bytes in base64url, and NUL */

/* Its text, for that principal. 0; -ENOMEM. */
int session_id_sign(const struct session_id *id,
    const struct principal *principal, const uint8_t key[HMAC_KEY_SIZE],
    char ret_text[SESSION_ID_SIZE]);

/* What text says, if it was signed with key for that principal. */
bool session_id_verify(struct span text, const struct principal *principal,
    const uint8_t key[HMAC_KEY_SIZE], struct session_id *ret_id);

#endif
