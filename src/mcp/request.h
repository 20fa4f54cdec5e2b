/* request.h: the requests in flight: their answers, batches, cancellation and
 * progress; what a catalog needs to answer one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_REQUEST_H
#define MCP_REQUEST_H

#include "base/hmac.h"
#include "mcp/answer.h"
#include "mcp/catalog.h"
#include "mcp/mcp.h"
#include "mcp/message.h"
#include "mcp/revision.h"
#include "mcp/rooms.h"

#include <sys/queue.h>

struct task;
struct tasks;

struct mcp {
	uv_loop_t *loop;
	uv_timer_t progress;
	struct mcp_rooms rooms;
	const struct conf *conf;
	const struct catalog *catalog;
	struct tasks *tasks;
	uint8_t seal_key[HMAC_KEY_SIZE]; /* of what clients carry: rounds.h */
	LIST_HEAD(peer_list, peer) peers;
	unsigned calls;     /* in the room, waited for or not */
	size_t calls_bytes; /* of their sources and inputs */
	struct mcp_stats stats;
	bool (*admit)(
	    void *arg, struct principal *principal, unsigned *ret_retry_s);
	void *admit_arg;
	bool closed; /* mcp_close was called, and the timer is gone */
};

/* A request of ours to a legacy client, for which we wait. */
struct question {
	LIST_ENTRY(question) link;
	uint64_t number;
	struct request *request; /* on whose behalf */
	/* answer is the response's result, or NULL if it was an error. */
	void (*answered)(struct request *request, json_t *answer);
};

struct peer {
	LIST_ENTRY(peer) link;
	struct mcp *mcp;
	struct peer_conf conf;
	const struct revision *revision; /* NULL before the handshake */
	json_t *capabilities;            /* of the client, from it; or NULL */
	json_t *log_level;               /* that it asked for; or NULL */
	json_t *watched;                 /* resources: an object of URIs */
	LIST_HEAD(request_list, request) requests;
	LIST_HEAD(question_list, question) questions;
	uint64_t last_question;
	unsigned busy, subscriptions;
};

/* The answers of one batch, sent together when the last has come. */
struct batch {
	struct peer *peer; /* NULL once nobody waits for them */
	void *route;
	json_t *answers;
	unsigned pending;
	bool asked;   /* it had a request */
	size_t share; /* of MESSAGE_OUT_MAX, for each answer */
};

enum request_state {
	REQUEST_NEW,
	REQUEST_CALL,   /* a call in the room; counted as busy */
	REQUEST_WAIT,   /* a catalog answers it later; counted as busy */
	REQUEST_LISTEN, /* a subscription */
};

struct request {
	LIST_ENTRY(request) link; /* while the state is not NEW */
	enum request_state state;
	struct mcp *mcp;
	struct peer *peer;           /* NULL once nobody waits, or a task */
	struct task *task;           /* that it may become or is; or NULL */
	void *route;                 /* of the front */
	struct batch *batch;         /* NULL: answered alone */
	struct principal *principal; /* held; NULL: stdio's */
	const struct revision *revision;
	const struct peer_headers *headers; /* NULL but while it is checked */
	bool over_http;
	unsigned retry_s; /* for its answer: see struct sent */
	json_t *id;
	json_t *params;  /* an object, or NULL */
	json_t *token;   /* for progress, or NULL */
	double progress; /* the last that was told */
	uint64_t began_us, due_us;
	uint64_t said_us; /* when progress was last sent */
	struct news {
		struct buf text; /* of stdout, or stderr, not yet told */
		bool cut;        /* of more, its end */
	} news[2];
	bool inline_files; /* of the answer: see struct answer_form */
	bool structured;   /* the client asks for structuredContent always */
	enum room_id room; /* where its call runs */
	uint32_t call;     /* the room's number for it */
	size_t call_bytes;
	/* For REQUEST_WAIT: told when nobody waits any more, before the request
	 * is freed. */
	void (*cancelled)(struct request *request, void *arg);
	void *cancelled_arg;
};

/* A new request of peer; takes neither id nor params, but refers to them.
 * NULL without memory. */
struct request *request_new(struct peer *peer, void *route, struct batch *batch,
    const struct message *message, const struct revision *revision);

/* Answers and frees the request. result and data are taken. The HTTP status
 * follows from the code and the revision; request_refuse names another. */
void request_answer(struct request *request, json_t *result);
void request_fail(struct request *request, enum message_code code,
    const char *text, json_t *data);
void request_refuse(struct request *request, unsigned status,
    enum message_code code, const char *text, json_t *data);

/* Refuses a request that comes at a bad time by what HTTP has for that: 429,
 * or 503, and in how many seconds it may come again. False, and nothing is
 * done, where there is no HTTP or its client would take that for a broken
 * transport: such clients look into the result of a tool alone. */
bool request_defer(struct request *request, enum busy busy, unsigned retry_s,
    const char *text);

/* Answers a request in flight, and keeps it: it belongs to no peer from now
 * on, and what it is answered with later goes to its task. */
void request_answer_early(struct request *request, json_t *result);

/* Keeps the request in flight: found by its id from now on. */
void request_keep(struct request *request, enum request_state state);

/* Keeps it for a catalog that answers later; cancelled may be NULL. */
void request_wait(struct request *request,
    void (*cancelled)(struct request *request, void *arg), void *arg);

/* The request in flight with that id, or NULL. */
struct request *request_find(struct peer *peer, const json_t *id);

/* Nobody waits for the request any more: it is freed, or left to its call,
 * which is cancelled. */
void request_cancel(struct request *request);

/* The same by the wish of its client: whoever waits is told that there will be
 * no answer. */
void request_withdraw(struct request *request);

/* Forgets the call of a request after its result; frees a request that nobody
 * waits for, and says so by false. */
bool request_call_ended(struct request *request);

/* The room that its call is for. */
struct mcp_room *request_room(const struct request *request);

/* How its answer is to look. */
struct answer_form request_form(const struct request *request);

/* ---- what goes along with it, before the answer ---- */

/* A notification; params is taken. */
void request_note(struct request *request, const char *method, json_t *params);

/* Progress towards total (0: unknown), if the client asked for it; values that
 * do not grow are not sent. text may be NULL. */
void request_progress(
    struct request *request, double progress, double total, const char *text);

/* Output of the request's running call, for the next progress notification: at
 * most one in PROGRESS_TEXT_MS, with what is new since the last one. Of more
 * than PROGRESS_TEXT_MAX bytes it has the end, behind "...". What is new of
 * stderr stands behind that of stdout and a line "[stderr]". A notification
 * without output says how long the call has run. */
void request_say(struct request *request, bool err, struct span text);

/* notifications/message, if the client asked for that level. data is taken. */
void request_log(struct request *request, const char *level, json_t *data);

/* A request of ours to the client of a legacy request, which waits until it is
 * answered (request_wait). params is taken. 0; -ENOTSUP: the client is modern
 * or its transport carries none; -ENOMEM. */
int request_ask(struct request *request, const char *method, json_t *params,
    void (*answered)(struct request *request, json_t *answer));

/* The front's stream for this request should break, so that the client comes
 * back for the rest: only a session over HTTP has such. */
void request_drop_stream(struct request *request);

/* The capability of that name ("sampling", "elicitation", ...), as this
 * request's client declared it; NULL: it did not. Borrowed. */
const json_t *request_capability(
    const struct request *request, const char *name);

/* Refuses the request, which needs what required (taken) declares. */
void request_fail_capability(struct request *request, json_t *required);

/* ---- the peer ---- */

/* Sends value, which is taken, to the peer. */
void peer_send(
    struct peer *peer, void *route, json_t *value, const struct sent *sent);

/* A response came: hands it to whoever asked. False: nobody did. */
bool peer_answered(struct peer *peer, const json_t *response);

/* Forgets the questions on behalf of request. */
void request_forget_questions(struct request *request);

/* Keeps of a client's capabilities what request_capability may be asked for:
 * names, not the values, so that no client makes us hold much. */
json_t *capabilities_kept(const json_t *capabilities);

/* An error that answers no request that could be read. */
void peer_send_error(struct peer *peer, void *route, json_t *id,
    enum message_code code, const char *text);

/* A notification that belongs to no request, to every peer that has asked for
 * it: of_list is "toolsListChanged" and the like, or NULL, then uri is of a
 * resource that changed. */
void mcp_announce(struct mcp *mcp, const char *of_list, const char *uri);

/* ---- batches ---- */

/* A batch of n messages; NULL without memory. Its creator holds it until
 * batch_release. */
struct batch *batch_new(struct peer *peer, void *route, size_t n);
void batch_add(struct batch *batch, json_t *answer); /* takes answer */
void batch_release(struct batch *batch);

/* Frees mcp if nothing refers to it any more. */
void mcp_release(struct mcp *mcp);

#endif
