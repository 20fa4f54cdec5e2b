/* request.h: the requests in flight: their answers, batches, cancellation and
 * progress. Within mcp/ only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_REQUEST_H
#define MCP_REQUEST_H

#include "mcp/answer.h"
#include "mcp/mcp.h"
#include "mcp/message.h"
#include "mcp/revision.h"

#include <sys/queue.h>

struct mcp {
	uv_timer_t progress;
	struct room *room;
	const struct conf *conf;
	const char *text; /* the tool's description */
	LIST_HEAD(peer_list, peer) peers;
	unsigned calls;     /* in the room, waited for or not */
	size_t calls_bytes; /* of their sources and inputs */
	bool closed;        /* mcp_close was called, and the timer is gone */
};

struct peer {
	LIST_ENTRY(peer) link;
	struct mcp *mcp;
	void (*send)(void *arg, struct buf *message);
	void *arg;
	const struct revision *revision; /* NULL before the handshake */
	LIST_HEAD(request_list, request) requests;
	unsigned busy, subscriptions;
};

/* The answers of one batch, sent together when the last has come. */
struct batch {
	struct peer *peer; /* NULL once nobody waits for them */
	json_t *answers;
	unsigned pending;
	size_t share; /* of MESSAGE_OUT_MAX, for each answer */
};

enum request_state {
	REQUEST_NEW,
	REQUEST_CALL,   /* counted as busy */
	REQUEST_LISTEN, /* a subscription */
};

struct request {
	LIST_ENTRY(request) link; /* while the state is not NEW */
	enum request_state state;
	struct mcp *mcp;
	struct peer *peer;   /* NULL once nobody waits */
	struct batch *batch; /* NULL: answered alone */
	const struct revision *revision;
	json_t *id;
	json_t *params; /* an object, or NULL */
	json_t *token;  /* for progress, or NULL */
	uint64_t began_us, due_us;
	uint32_t call; /* the room's number for it */
	size_t call_bytes;
};

/* A new request of peer; takes neither id nor params, but refers to them.
 * NULL without memory. */
struct request *request_new(struct peer *peer, struct batch *batch,
    const struct message *message, const struct revision *revision);

/* Answers and frees the request. result and data are taken. */
void request_answer(struct request *request, json_t *result);
void request_fail(struct request *request, enum message_code code,
    const char *text, json_t *data);

/* Keeps the request in flight: found by its id from now on. */
void request_keep(struct request *request, enum request_state state);

/* The request in flight with that id, or NULL. */
struct request *request_find(struct peer *peer, const json_t *id);

/* Nobody waits for the request any more: it is freed, or left to its call,
 * which is cancelled. */
void request_cancel(struct request *request);

/* Forgets the call of a request after its result; frees a request that nobody
 * waits for, and says so by false. */
bool request_call_ended(struct request *request);

/* How its answer is to look. */
struct answer_form request_form(const struct request *request);

/* Sends value, which is taken, to the peer. */
void peer_send(struct peer *peer, json_t *value);

/* An error that answers no request that could be read. */
void peer_send_error(
    struct peer *peer, json_t *id, enum message_code code, const char *text);

/* A batch of n messages; NULL without memory. Its creator holds it until
 * batch_release. */
struct batch *batch_new(struct peer *peer, size_t n);
void batch_add(struct batch *batch, json_t *answer); /* takes answer */
void batch_release(struct batch *batch);

/* Frees mcp if nothing refers to it any more. */
void mcp_release(struct mcp *mcp);

#endif
