/* web_tokens.h: keys and web tokens as an issuer makes them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_TOKENS_H
#define WEB_TOKENS_H

#include <jansson.h>
#include <stddef.h>

/* A new key for the algorithm, with its secret part; the caller's. */
json_t *web_key(const char *algorithm, const char *kid);

/* The set of the public halves of n keys, as text; the caller's. */
char *web_key_set(json_t *const *keys, size_t n);

/* A token, by key, of claims and header as they are (taken); the caller's. The
 * header says the algorithm of the signature. */
char *web_token(const json_t *key, json_t *header, json_t *claims);

/* The same of any text. */
char *web_token_signed(const json_t *key, json_t *header, const char *claims);

/* The three parts of a token from these texts, with that signature. */
char *web_token_of(const char *header, const char *claims, const char *end);

#endif
