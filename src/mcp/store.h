/* store.h: what calls left behind, kept for a bounded time and size: outputs,
 * files and images, each readable by the principal whose call it was. Every call that
 * printed something or left a file is kept, while it lasts: its time is the
 * same for all, and when there is too much, those who hold most lose their
 * oldest call first, so that a flood drives out the flooder's own. Knows no
 * loop: the clock is given.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_STORE_H
#define MCP_STORE_H

#include "base/buf.h"
#include "call/call.h"
#include "call/principal.h"
#include "mcp/resource_uri.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

#define STORE_ID_SIZE RESOURCE_ID_SIZE /* 128 random bits */

/* Keeps at most bytes_max, each call's for keep_ms. NULL without memory. */
struct store *store_new(uint64_t bytes_max, uint32_t keep_ms);
void store_free(struct store *store); /* NULL is fine */

/* Keeps what a result has, for principal, which may be NULL: streams are
 * copied, and there is a place for the bytes of files and images, which come by
 * store_move. *ret_id is its name in URIs. 0; -ENODATA: there is nothing to
 * keep; -ENOMEM, -E2BIG, -errno: nothing is kept. */
int store_add(struct store *store, const struct principal *principal,
    const struct result *result, uint64_t now_us, char ret_id[STORE_ID_SIZE]);

/* Moves the bytes of files and images out of that result, once its answer is
 * made and before anybody can look; names and sizes stay in it. */
void store_move(struct store *store, const char *id, struct result *result);

struct stored {
	const char *uri; /* of the resource; percent-encoded where it must be */
	const char *name; /* "stdout", "stderr", the file's or image's */
	const char *type; /* "text/plain", or what the name or bytes say */
	bool text;        /* that is a type of text */
	struct span bytes;
};

/* The resource of that URI (without its range), if it is principal's; borrowed
 * until the store is used again. */
bool store_find(struct store *store, const struct principal *principal,
    const struct resource_uri *uri, uint64_t now_us, struct stored *ret_stored);

/* Goes through principal's resources that are not empty streams, newest call
 * first: *at is 0 at the start, and a place to go on from (it stays valid while
 * others come and go). False at the end. */
bool store_next(struct store *store, const struct principal *principal,
    uint64_t now_us, uint64_t *at, struct stored *ret_stored);

/* Forgets what has been kept for its time: memory is not held for the want of
 * somebody who looks. */
void store_expire(struct store *store, uint64_t now_us);

/* Random bytes of this store's, HMAC_KEY_SIZE of them: for its cursors. */
const uint8_t *store_key(const struct store *store);

/* Held now, what they cost beside their bytes counted. */
uint64_t store_bytes(const struct store *store);

#endif
