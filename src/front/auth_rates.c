/* auth_rates.c: rates as a generic cell rate, and a table of failures in sets
 * of a few, so that neither looking nor forgetting is ever slow.
 * Fuzzed by fuzz_auth.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/auth_rates.h"

#include "base/own.h"
#include "conf/limits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define MINUTE_US 60000000u
#define SECOND_US 1000000u
#define WAYS      8u /* of a set */
#define SETS      (AUTH_ADDRESSES_MAX / WAYS)

/* ---- rates ---- */

/* As rate_take, but takes nothing. */
static bool
rate_look(const struct rate *rate, uint32_t per_minute, uint64_t now_us,
    unsigned *ret_retry_s)
{
	uint64_t step_us = MINUTE_US / per_minute;
	uint64_t latest_us = now_us + MINUTE_US - step_us;

	if (rate->full_us <= latest_us)
		return true;
	if (ret_retry_s)
		*ret_retry_s =
		    (unsigned)((rate->full_us - latest_us + SECOND_US - 1) /
			       SECOND_US);
	return false;
}

bool
rate_take(struct rate *rate, uint32_t per_minute, uint64_t now_us,
    unsigned *ret_retry_s)
{
	if (!rate_look(rate, per_minute, now_us, ret_retry_s))
		return false;
	if (rate->full_us < now_us)
		rate->full_us = now_us;
	rate->full_us += MINUTE_US / per_minute;
	return true;
}

/* ---- failures ---- */

struct failure {
	uint8_t address[16];
	struct rate rate;  /* all zeros: a free place */
	struct rate looks; /* while the other one is empty */
};

struct failures {
	uint64_t seed; /* or somebody could choose whom to push out */
	struct failure sets[SETS][WAYS];
};

struct failures *
failures_new(void)
{
	own_mem struct failures *failures = calloc(1, sizeof(*failures));

	if (!failures || getrandom(&failures->seed, sizeof(failures->seed),
			     0) != (ssize_t)sizeof(failures->seed))
		return NULL;
	return give_ptr(&failures);
}

void
failures_free(struct failures *failures)
{
	free(failures);
}

/* IPv4 as it is, of IPv6 the network. */
static void
network_of(const uint8_t *address, uint8_t ret_network[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	memcpy(ret_network, address, 16);
	if (memcmp(address, mapped, sizeof(mapped)) != 0)
		memset(ret_network + 8, 0, 8);
}

static struct failure *
set_of(struct failures *failures, const uint8_t *network)
{
	uint64_t halves[2];
	uint64_t hash = failures->seed;

	memcpy(halves, network, sizeof(halves));
	for (unsigned i = 0; i < 2; i++) {
		hash = (hash ^ halves[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return failures->sets[hash % SETS];
}

/* NULL: it did not fail lately. */
static struct failure *
failure_find(struct failure *set, const uint8_t *network)
{
	for (unsigned i = 0; i < WAYS; i++)
		if (set[i].rate.full_us > 0 &&
		    memcmp(set[i].address, network, 16) == 0)
			return &set[i];
	return NULL;
}

bool
failures_may_look(struct failures *failures, const uint8_t *address,
    uint64_t now_us, unsigned *ret_retry_s)
{
	uint8_t network[16];
	struct failure *failure;

	network_of(address, network);
	failure = failure_find(set_of(failures, network), network);
	return !failure ||
	       rate_look(&failure->rate, AUTH_FAILURES_MAX, now_us, NULL) ||
	       rate_take(&failure->looks, AUTH_LOOKS_MAX, now_us, ret_retry_s);
}

bool
failures_add(struct failures *failures, const uint8_t *address, uint64_t now_us,
    unsigned *ret_retry_s)
{
	uint8_t network[16];
	struct failure *set, *failure;

	network_of(address, network);
	set = set_of(failures, network);
	failure = failure_find(set, network);
	if (!failure) {
		failure = &set[0]; /* of them, the one longest ago */
		for (unsigned i = 1; i < WAYS; i++)
			if (set[i].rate.full_us < failure->rate.full_us)
				failure = &set[i];
		*failure = (struct failure){ 0 };
		memcpy(failure->address, network, sizeof(network));
	}
	return rate_take(
	    &failure->rate, AUTH_FAILURES_MAX, now_us, ret_retry_s);
}
