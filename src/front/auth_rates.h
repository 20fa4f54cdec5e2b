/* auth_rates.h: how often something may happen in a minute, and the addresses
 * that sent wrong tokens.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_AUTH_RATES_H
#define FRONT_AUTH_RATES_H

#include <stdbool.h>
#include <stdint.h>

/* A bucket of per_minute drops that fills evenly in a minute, as the one time
 * at which it is full again. All zeros: full. Times are monotonic. */
struct rate {
	uint64_t full_us;
};

/* Takes a drop. False: there is none; *ret_retry_s (NULL: not asked) says how
 * long it takes, at least a second. per_minute is 1 or more. */
bool rate_take(struct rate *rate, uint32_t per_minute, uint64_t now_us,
    unsigned *ret_retry_s);

/* The failures of AUTH_ADDRESSES_MAX addresses. Of more, those are forgotten
 * that failed longest ago. */
struct failures;

/* NULL without memory or chance. */
struct failures *failures_new(void);
void failures_free(struct failures *failures); /* NULL is fine */

/* True if something costly may be done to find out whether this is one: always
 * until the address failed too often, AUTH_LOOKS_MAX times a minute then. */
bool failures_may_look(struct failures *failures, const uint8_t *address,
    uint64_t now_us, unsigned *ret_retry_s);

/* Counts a failure of the address (16 bytes; of IPv6 the network of 64 bits,
 * which one client has to itself). False: one too many, wait *ret_retry_s. */
bool failures_add(struct failures *failures, const uint8_t *address,
    uint64_t now_us, unsigned *ret_retry_s);

#endif
