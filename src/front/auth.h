/* auth.h: who sends a request, and whether they may. Tokens come from a file
 * of hashes, or are JSON web tokens; both kinds of file are read by the
 * watcher (server/watcher.h), which hands them over again when they change.
 * Hostile input: the Authorization header. The check itself is pure but for
 * the clock that it is given.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_AUTH_H
#define FRONT_AUTH_H

#include "base/buf.h"
#include "base/err.h"
#include "call/principal.h"
#include "conf/conf.h"

#include <stdbool.h>
#include <stdint.h>

struct auth;

/* What a request is told. */
struct auth_verdict {
	struct principal *principal; /* the caller's hold; NULL: refused */
	unsigned status;             /* 401, 403, 429 or 400 if refused */
	const char *reason;          /* for counters and the log: a literal */
	char
	    challenge[AUTH_CHALLENGE_MAX]; /* WWW-Authenticate's value, or "" */
	unsigned retry_after_s;            /* with 429 */
};

/* Borrows conf. Without --tokens and --jwks everybody is one principal,
 * "anonymous". 0; -errno. */
int auth_new(const struct conf *conf, struct auth **ret_auth, struct err *err);
void auth_free(struct auth *auth);

/* New contents of the files. What is wrong with them is in err, and the old
 * ones stay in force. */
int auth_set_tokens(struct auth *auth, struct span text, struct err *err);
int auth_set_jwks(struct auth *auth, struct span text, struct err *err);

/* Judges a request by its Authorization header (p == NULL: none). address is
 * the client's, 16 bytes; wall_s is the time since 1970 for a token's expiry,
 * now_us the monotonic clock for rates. */
void auth_check(struct auth *auth, struct span authorization,
    const uint8_t *address, int64_t wall_s, uint64_t now_us,
    struct auth_verdict *ret_verdict);

/* Whether a request of the principal may be served now: REQUESTS_A_CALL times
 * as many as it may begin calls, and those of all together; counts it. 0; 429: the principal's are too many;
 * 503: all together. Then *ret_retry_s says when. */
unsigned auth_admit_request(struct auth *auth, struct principal *principal,
    uint64_t now_us, unsigned *ret_retry_s);

/* True if the principal may begin a call now, by its calls a minute; counts
 * it. Else *ret_retry_s says when. */
bool auth_admit(struct auth *auth, struct principal *principal, uint64_t now_us,
    unsigned *ret_retry_s);

/* Without --tokens, --jwks and --insecure-no-auth a server is for this machine
 * alone: name, as of listeners_name, must be a loopback address or a UNIX
 * socket. 0; -EACCES with what to do. */
int auth_bind_check(const struct conf *conf, const char *name, struct err *err);

/* The protected-resource metadata (RFC 9728) as JSON, and the path it is served
 * at beside the root one; NULL where there is none. */
const char *auth_metadata(const struct auth *auth);
const char *auth_metadata_path(const struct auth *auth);

#endif
