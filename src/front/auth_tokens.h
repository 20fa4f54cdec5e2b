/* auth_tokens.h: the file of static tokens. One token a line:
 *
 *   NAME sha256:HEX [calls=N] [queue=N] [per-minute=N]   # why it is there
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_AUTH_TOKENS_H
#define FRONT_AUTH_TOKENS_H

#include "base/buf.h"
#include "base/err.h"
#include "conf/limits.h"

#include <stdint.h>

#define TOKEN_DIGEST_SIZE 32u

/* A line. Limits are 0 where it says nothing. */
struct token_line {
	char name[PRINCIPAL_NAME_MAX + 1];
	uint8_t digest[TOKEN_DIGEST_SIZE];
	uint32_t calls, queue, per_minute;
};

struct token_lines {
	unsigned n;
	struct token_line lines[];
};

/* The owner's to free. A file without a byte is an error, because it is one
 * that is being written; one of comments alone lets nobody in. 0; -EINVAL with
 * the number of the line, but no word of it: it may be a token; -ENOMEM. */
int tokens_parse(
    struct span text, struct token_lines **ret_lines, struct err *err);

/* What is wrong with a token's name; NULL: nothing. */
const char *token_name_fault(struct span name);

/* SHA-256, which is enough here: a token is 256 random bits, so there is no
 * list of likely ones that a slow or salted hash would protect. */
void token_digest(struct span token, uint8_t ret_digest[TOKEN_DIGEST_SIZE]);

#endif
