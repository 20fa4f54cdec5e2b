/* ended.c: a bounded memory of ended sessions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/ended.h"

#include "conf/limits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define CHAINS 4096u

struct one {
	TAILQ_ENTRY(one) of_all;
	LIST_ENTRY(one) of_chain;
	int64_t issued_s;
	uint8_t nonce[SESSION_NONCE_SIZE];
};

struct ended {
	TAILQ_HEAD(one_list, one) all; /* in the order they were ended */
	LIST_HEAD(one_chain, one) chains[CHAINS];
	unsigned n;
	int64_t floor_s; /* issued then or before: all count as ended */
};

struct ended *
ended_new(void)
{
	struct ended *ended = calloc(1, sizeof(*ended));

	if (!ended)
		return NULL;
	TAILQ_INIT(&ended->all);
	ended->floor_s = INT64_MIN;
	return ended;
}

static void
forget(struct ended *ended, struct one *one)
{
	TAILQ_REMOVE(&ended->all, one, of_all);
	LIST_REMOVE(one, of_chain);
	ended->n--;
	free(one);
}

void
ended_free(struct ended *ended)
{
	struct one *one;

	if (!ended)
		return;
	while ((one = TAILQ_FIRST(&ended->all)))
		forget(ended, one);
	free(ended);
}

/* The nonces are random, and ours. */
static size_t
chain_of(const uint8_t nonce[SESSION_NONCE_SIZE])
{
	return ((size_t)nonce[0] << 8 | nonce[1]) % CHAINS;
}

static void
raise_floor(struct ended *ended, int64_t issued_s)
{
	if (issued_s > ended->floor_s)
		ended->floor_s = issued_s;
}

void
ended_add(struct ended *ended, const struct session_id *id, int64_t wall_s)
{
	struct one *one;

	/* Those whose ids have run out are refused without this. */
	while ((one = TAILQ_FIRST(&ended->all)) &&
	       one->issued_s + SESSION_LIFE_S < wall_s)
		forget(ended, one);
	if (ended->n >= SESSIONS_ENDED_MAX) {
		raise_floor(ended, one->issued_s);
		forget(ended, one);
	}
	one = calloc(1, sizeof(*one));
	if (!one) {
		raise_floor(ended, id->issued_s);
		return;
	}
	one->issued_s = id->issued_s;
	memcpy(one->nonce, id->nonce, sizeof(one->nonce));
	TAILQ_INSERT_TAIL(&ended->all, one, of_all);
	LIST_INSERT_HEAD(&ended->chains[chain_of(one->nonce)], one, of_chain);
	ended->n++;
}

bool
ended_has(const struct ended *ended, const struct session_id *id)
{
	const struct one *one;

	if (id->issued_s <= ended->floor_s)
		return true;
	LIST_FOREACH(one, &ended->chains[chain_of(id->nonce)], of_chain)
	if (memcmp(one->nonce, id->nonce, sizeof(one->nonce)) == 0)
		return true;
	return false;
}
