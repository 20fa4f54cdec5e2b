/* session.c: sessions by id, by owner, and by how long they were unused.
 * Hostile input: the ids that clients send.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/session.h"

#include "conf/limits.h"
#include "front/ended.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define CHAINS 1024u

/* A principal that has sessions. */
struct session_owner {
	LIST_ENTRY(session_owner) of_chain;
	struct principal *principal;              /* held */
	TAILQ_HEAD(owned_list, session) sessions; /* the longest unused first */
	unsigned n;
};

TAILQ_HEAD(session_list, session);

struct sessions {
	struct sessions_conf conf;
	struct session_list all;
	LIST_HEAD(nonce_chain, session) nonces[CHAINS];
	LIST_HEAD(owner_chain, session_owner) owners[CHAINS];
	unsigned n;
	struct events_pool events;
	struct ended *ended;
};

struct sessions *
sessions_new(const struct sessions_conf *conf)
{
	struct sessions *sessions = calloc(1, sizeof(*sessions));

	if (!sessions)
		return NULL;
	sessions->ended = ended_new();
	if (!sessions->ended) {
		free(sessions);
		return NULL;
	}
	sessions->conf = *conf;
	TAILQ_INIT(&sessions->all);
	events_pool_init(&sessions->events);
	return sessions;
}

/* ---- owners ---- */

/* Random bytes, or those of a digest: evenly spread. */
static size_t
chain_of(const uint8_t *bytes)
{
	return ((size_t)bytes[0] << 8 | bytes[1]) % CHAINS;
}

static struct session_owner *
owner_get(struct sessions *sessions, struct principal *principal)
{
	size_t chain = chain_of(principal->id);
	struct session_owner *owner;

	LIST_FOREACH(owner, &sessions->owners[chain], of_chain)
	if (principal_is(owner->principal, principal))
		return owner;
	owner = calloc(1, sizeof(*owner));
	if (!owner)
		return NULL;
	owner->principal = principal_hold(principal);
	TAILQ_INIT(&owner->sessions);
	LIST_INSERT_HEAD(&sessions->owners[chain], owner, of_chain);
	return owner;
}

static void
owner_put(struct session_owner *owner)
{
	if (owner->n > 0)
		return;
	LIST_REMOVE(owner, of_chain);
	principal_release(owner->principal);
	free(owner);
}

/* ---- life of a session ---- */

static void
session_free(struct session *session)
{
	struct sessions *sessions = session->sessions;

	peer_close(session->peer);
	events_done(&session->events);
	if (session->listed)
		LIST_REMOVE(session, of_nonce);
	TAILQ_REMOVE(&sessions->all, session, of_all);
	TAILQ_REMOVE(&session->owner->sessions, session, of_owner);
	sessions->n--;
	session->owner->n--;
	owner_put(session->owner);
	free(session);
}

void
sessions_free(struct sessions *sessions)
{
	struct session *session;

	if (!sessions)
		return;
	while ((session = TAILQ_FIRST(&sessions->all)))
		session_free(session);
	ended_free(sessions->ended);
	explicit_bzero(sessions->conf.key, sizeof(sessions->conf.key));
	free(sessions);
}

/* Makes room for one more. Its id stays good: nobody ended it. */
static bool
make_room(struct sessions *sessions, const struct session_owner *owner)
{
	struct session *session;

	if (owner->n > SESSIONS_OF_ONE_MAX) {
		TAILQ_FOREACH(session, &owner->sessions, of_owner)
		if (session->routes_n == 0)
			break;
	} else if (sessions->n >= SESSIONS_MAX) {
		TAILQ_FOREACH(session, &sessions->all, of_all)
		if (session->routes_n == 0)
			break;
	} else {
		return true;
	}
	if (!session)
		return false;
	session_free(session);
	return true;
}

static int
session_fill(struct session *session, struct sessions *sessions)
{
	struct peer_conf conf = { .kind = PEER_SESSION,
		.principal = session->owner->principal,
		.send = sessions->conf.send,
		.arg = session };
	int r = events_init(&session->events, &sessions->events);

	if (r < 0)
		return r;
	session->peer = peer_new(sessions->conf.mcp, &conf);
	return session->peer ? 0 : -ENOMEM;
}

int
sessions_begin(struct sessions *sessions, struct principal *principal,
    uint64_t now_us, struct session **ret_session)
{
	struct session_owner *owner = owner_get(sessions, principal);
	struct session *session;
	int r;

	if (!owner)
		return -ENOMEM;
	/* Counted beforehand, so that making room does not free it. */
	owner->n++;
	if (!make_room(sessions, owner)) {
		owner->n--;
		owner_put(owner);
		return -EBUSY;
	}
	session = calloc(1, sizeof(*session));
	if (!session) {
		owner->n--;
		owner_put(owner);
		return -ENOMEM;
	}
	session->sessions = sessions;
	session->owner = owner;
	session->used_us = now_us;
	LIST_INIT(&session->routes);
	TAILQ_INIT(&session->events.all);
	TAILQ_INSERT_TAIL(&sessions->all, session, of_all);
	TAILQ_INSERT_TAIL(&owner->sessions, session, of_owner);
	sessions->n++;
	r = session_fill(session, sessions);
	if (r < 0) {
		session_free(session);
		return r;
	}
	*ret_session = session;
	return 0;
}

static void
list(struct session *session)
{
	struct sessions *sessions = session->sessions;

	LIST_INSERT_HEAD(
	    &sessions->nonces[chain_of(session->id.nonce)], session, of_nonce);
	session->listed = true;
}

bool
session_name(
    struct session *session, int64_t wall_s, char ret_id[SESSION_ID_SIZE])
{
	const char *revision = peer_revision(session->peer);

	if (!revision || strlen(revision) != SESSION_REVISION_SIZE)
		return false;
	memcpy(session->id.revision, revision, SESSION_REVISION_SIZE + 1);
	session->id.issued_s = wall_s;
	if (getrandom(session->id.nonce, sizeof(session->id.nonce), 0) !=
	    sizeof(session->id.nonce))
		return false;
	if (session_id_sign(&session->id, session->owner->principal,
		session->sessions->conf.key, ret_id) < 0)
		return false;
	list(session);
	return true;
}

void
session_touch(struct session *session, uint64_t now_us)
{
	session->used_us = now_us;
	TAILQ_REMOVE(&session->sessions->all, session, of_all);
	TAILQ_INSERT_TAIL(&session->sessions->all, session, of_all);
	TAILQ_REMOVE(&session->owner->sessions, session, of_owner);
	TAILQ_INSERT_TAIL(&session->owner->sessions, session, of_owner);
}

void
session_end(struct session *session, int64_t wall_s)
{
	if (session->listed)
		ended_add(session->sessions->ended, &session->id, wall_s);
	session_free(session);
}

/* ---- finding ---- */

static bool
is_over(const struct session_id *id, int64_t wall_s)
{
	/* One from the future was signed by a clock that was wrong: by how
	 * much, it cannot be said. */
	return id->issued_s + SESSION_LIFE_S < wall_s ||
	       id->issued_s > wall_s + SESSION_LIFE_S;
}

static struct session *
find_live(struct sessions *sessions, const struct session_id *id)
{
	struct session *session;

	LIST_FOREACH(session, &sessions->nonces[chain_of(id->nonce)], of_nonce)
	if (memcmp(session->id.nonce, id->nonce, SESSION_NONCE_SIZE) == 0)
		return session;
	return NULL;
}

/* A session that this process does not know, or not any more. */
static struct session *
revive(struct sessions *sessions, const struct session_id *id,
    struct principal *principal, uint64_t now_us, int *ret_code)
{
	struct session *session;

	if (ended_has(sessions->ended, id)) {
		*ret_code = -ENOENT;
		return NULL;
	}
	*ret_code = sessions_begin(sessions, principal, now_us, &session);
	if (*ret_code < 0)
		return NULL;
	session->id = *id;
	if (!peer_restore(session->peer, id->revision)) {
		session_free(session);
		*ret_code = -ENOENT;
		return NULL;
	}
	list(session);
	return session;
}

struct session *
sessions_find(struct sessions *sessions, struct span text,
    struct principal *principal, int64_t wall_s, uint64_t now_us, int *ret_code)
{
	struct session *session;
	struct session_id id;

	*ret_code = -ENOENT;
	if (!session_id_verify(text, principal, sessions->conf.key, &id) ||
	    is_over(&id, wall_s))
		return NULL;
	session = find_live(sessions, &id);
	if (!session)
		return revive(sessions, &id, principal, now_us, ret_code);
	*ret_code = 0;
	session_touch(session, now_us);
	return session;
}

/* ---- ageing ---- */

void
sessions_expire(struct sessions *sessions, int64_t wall_s, uint64_t now_us)
{
	uint64_t idle_us = (uint64_t)sessions->conf.idle_ms * 1000;
	struct session *session, *next;

	for (session = TAILQ_FIRST(&sessions->all); session; session = next) {
		next = TAILQ_NEXT(session, of_all);
		if (session->used_us + idle_us > now_us)
			break;
		if (session->routes_n > 0)
			session_touch(session, now_us);
		else
			session_end(session, wall_s);
	}
}

struct session *
sessions_first(struct sessions *sessions)
{
	return TAILQ_FIRST(&sessions->all);
}

struct session *
session_next(struct session *session)
{
	return TAILQ_NEXT(session, of_all);
}

unsigned
sessions_count(const struct sessions *sessions)
{
	return sessions->n;
}

size_t
sessions_events_bytes(const struct sessions *sessions)
{
	return sessions->events.bytes;
}
