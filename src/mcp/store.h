/* store.h: what calls left behind, kept for a bounded time and size: outputs
 * and files, each readable by the principal whose call it was. Knows no loop:
 * the clock is given.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_STORE_H
#define MCP_STORE_H

#include "base/buf.h"
#include "call/call.h"
#include "call/principal.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

#define STORE_ID_SIZE 33u /* 128 random bits in hexadecimal digits, and NUL */

/* Keeps at most bytes_max, each call's for keep_ms. NULL without memory. */
struct store *store_new(uint64_t bytes_max, uint32_t keep_ms);
void store_free(struct store *store);

/* Keeps what a result has (its streams and files are copied as needed) for
 * principal, which may be NULL; the oldest calls go first when there is too
 * much. *ret_id is its name in URIs: breakroom://call/ID/stdout, /stderr and
 * /files/NAME. 0; -ENOMEM, -E2BIG: nothing is kept. */
int store_add(struct store *store, const struct principal *principal,
    const struct result *result, uint64_t now_us, char ret_id[STORE_ID_SIZE]);

struct stored {
	const char *uri;  /* of the resource; percent-encoded where it must be */
	const char *name; /* "stdout", "stderr" or the file's */
	const char *type; /* "text/plain", or what the name or bytes say */
	bool text;        /* bytes are valid UTF-8 */
	struct span bytes;
};

/* The resource of that URI, if it is principal's; borrowed until the store is
 * used again. */
bool store_find(struct store *store, const struct principal *principal,
    const char *uri, uint64_t now_us, struct stored *ret_stored);

/* Goes through principal's resources, newest call first: *at is 0 at the
 * start, and a place to go on from (it stays valid while others come and go).
 * False at the end. */
bool store_next(struct store *store, const struct principal *principal,
    uint64_t now_us, uint64_t *at, struct stored *ret_stored);

uint64_t store_bytes(const struct store *store);

#endif
