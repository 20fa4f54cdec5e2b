/* web_tokens.h: keys and web tokens as an issuer makes them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_TOKENS_H
#define WEB_TOKENS_H

#include "conf/conf.h"

#include <jansson.h>
#include <stddef.h>

#define NOW      1800000000
#define ISSUER   "https://id.example"
#define RESOURCE "https://run.example/mcp"

enum {
	RSA_KEY,
	P256_KEY,
	P384_KEY,
	P521_KEY,
	KEYS
};

struct issuer {
	json_t *keys[KEYS];
	json_t *stranger; /* of the same kid as the first */
	char *set;        /* the public halves of keys, as text */
};

/* Of one program; made and released around its tests. */
extern struct issuer issuer;
int issuer_new(void **state);
int issuer_free(void **state);

/* A server that takes the issuer's tokens. */
extern const struct conf web_conf;

/* Good claims, and a header; kid may be NULL. */
json_t *claims(void);
json_t *header(const char *algorithm, const char *kid);

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

/* A good token, with one claim changed (the value is taken), or left out. */
char *signed_with(const char *name, json_t *value);

#endif
