/* session_id.c: signing and checking ids of sessions.
 * Hostile input: the ids that clients send. Fuzzed by fuzz_headers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/session_id.h"

#include "base/base64.h"
#include "base/own.h"

#include <errno.h>
#include <string.h>

#define VERSION 1u /* of this form */

/* The bytes of an id; all that is signed comes first. */
struct bytes {
	uint8_t version;
	char revision[SESSION_REVISION_SIZE];
	uint8_t issued[8];
	uint8_t nonce[SESSION_NONCE_SIZE];
	uint8_t code[HMAC_SIZE];
};

#define SIGNED offsetof(struct bytes, code)

_Static_assert(sizeof(struct bytes) == 67, "no padding");
_Static_assert(SESSION_ID_SIZE >= (sizeof(struct bytes) * 4 + 2) / 3 + 1,
    "room for the text");

static void
sign(const struct bytes *bytes, const struct principal *principal,
    const uint8_t key[HMAC_KEY_SIZE], uint8_t ret_code[HMAC_SIZE])
{
	static const char purpose[] = "breakroom session";
	uint8_t text[sizeof(purpose) + SIGNED + PRINCIPAL_ID_SIZE];

	memcpy(text, purpose, sizeof(purpose));
	memcpy(text + sizeof(purpose), bytes, SIGNED);
	memcpy(
	    text + sizeof(purpose) + SIGNED, principal->id, PRINCIPAL_ID_SIZE);
	hmac_sha256(key, (struct span){ text, sizeof(text) }, ret_code);
}

int
session_id_sign(const struct session_id *id, const struct principal *principal,
    const uint8_t key[HMAC_KEY_SIZE], char ret_text[SESSION_ID_SIZE])
{
	struct bytes bytes = { .version = VERSION };
	own_buf struct buf text;

	memcpy(bytes.revision, id->revision, sizeof(bytes.revision));
	memcpy(bytes.nonce, id->nonce, sizeof(bytes.nonce));
	for (unsigned i = 0; i < sizeof(bytes.issued); i++)
		bytes.issued[i] =
		    (uint8_t)((uint64_t)id->issued_s >> (56 - 8 * i));
	sign(&bytes, principal, key, bytes.code);
	buf_init(&text, SESSION_ID_SIZE);
	if (base64_write(BASE64_URL,
		(struct span){ (const uint8_t *)&bytes, sizeof(bytes) },
		&text) < 0)
		return -ENOMEM;
	memcpy(ret_text, text.p, text.n);
	ret_text[text.n] = '\0';
	return 0;
}

bool
session_id_verify(struct span text, const struct principal *principal,
    const uint8_t key[HMAC_KEY_SIZE], struct session_id *ret_id)
{
	struct bytes bytes;
	own_buf struct buf buf;
	uint8_t code[HMAC_SIZE];
	uint64_t issued = 0;

	buf_init(&buf, sizeof(bytes));
	if (!text.p || text.n >= SESSION_ID_SIZE ||
	    base64_read(BASE64_URL, text, &buf) < 0 || buf.n != sizeof(bytes))
		return false;
	memcpy(&bytes, buf.p, sizeof(bytes));
	sign(&bytes, principal, key, code);
	if (!hmac_equal(code, bytes.code) || bytes.version != VERSION)
		return false;
	*ret_id = (struct session_id){ 0 };
	memcpy(ret_id->revision, bytes.revision, sizeof(bytes.revision));
	memcpy(ret_id->nonce, bytes.nonce, sizeof(bytes.nonce));
	for (unsigned i = 0; i < sizeof(bytes.issued); i++)
		issued = issued << 8 | bytes.issued[i];
	ret_id->issued_s = (int64_t)issued;
	return true;
}
