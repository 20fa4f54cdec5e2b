/* conn.h: a client's connection, from its acceptance to its end. http.c makes
 * them, conn.c reads, conn_write.c writes, exchange.c is the app's view.
 *
 *   READING ──▶ CALLED ──▶ FLUSHING ──▶ READING ...   while it is kept
 *         └────────┴──▶ CLOSING ──▶ LINGERING ──▶ CLOSED
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_CONN_H
#define FRONT_CONN_H

#include "conf/limits.h"
#include "front/exchange.h"
#include "front/http.h"

enum conn_state {
	CONN_READING,   /* a request's head and body arrive */
	CONN_CALLED,    /* the app has it; its answer may have begun */
	CONN_FLUSHING,  /* the answer is complete, but not all written */
	CONN_CLOSING,   /* the same, and it was the last */
	CONN_LINGERING, /* all is said; what comes is thrown away */
	CONN_CLOSED,
};

/* What the connection's only timer runs for. */
enum conn_timed {
	TIMED_NOTHING,
	TIMED_SOON, /* what the app's call must not do itself */
	TIMED_IDLE,
	TIMED_HEAD,
	TIMED_BODY,
	TIMED_WRITE,
	TIMED_LINGER,
};

enum door_kind {
	DOOR_MAIN,
	DOOR_ADMIN,
	DOOR_OVER, /* full: told so and closed; never a listener's */
	DOORS
};

struct exchange {
	struct conn *conn;
	void *owner;
	bool streams;
};

struct conn {
	struct http *http;
	struct conn *next, **at; /* of all */
	struct http_parser *parser;
	struct exchange *exchange; /* from the head to the whole answer */
	uv_poll_t poll;
	uv_timer_t timer;
	int fd;
	unsigned handles; /* not closed yet */
	enum conn_state state;
	enum conn_timed timed;
	enum door_kind door;
	int polled;      /* what poll waits for */
	bool feeding;    /* conn_feed is at work and sees to what is next */
	bool closes;     /* after this answer */
	bool answered;   /* before the whole request was there */
	bool ended;      /* the client sends nothing more */
	bool broken;     /* nothing can be written any more */
	bool continued;  /* 100 was sent, or is not wanted */
	size_t left;     /* of the bytes that conn_feed has, not yet parsed */
	size_t body_cap; /* as counted in http->bodies */
	size_t lingered; /* bytes thrown away */
	struct buf held; /* bytes behind the request that is being answered */
	size_t held_at;
	struct buf out; /* what the kernel did not take yet */
	size_t out_at;
	size_t out_cap;        /* as counted in http->queued */
	uint64_t out_since_ms; /* when it had something first */
	uint8_t address[16];
};

struct door {
	uv_poll_t poll;
	struct http *http;
	int fd; /* the listeners' */
	enum door_kind kind;
};

#define READ_CHUNK ((size_t)64 * KIB)

struct http {
	uv_loop_t *loop;
	const struct conf *conf;
	const struct exchange_app *app;
	struct listeners *listeners;
	void (*ended)(void *arg);
	void *arg;
	struct conn *conns;
	unsigned open[DOORS], max[DOORS];
	unsigned handles; /* the doors' and the timer's, not closed yet */
	size_t bodies;    /* bytes held for bodies, of all connections */
	size_t queued;    /* and for what they have not read yet */
	bool ending;
	struct door doors[2];
	unsigned doors_n;
	uv_timer_t timer;            /* a pause of accepting; the grace */
	uint8_t scratch[READ_CHUNK]; /* what was just read, of anyone */
};

/* A connection with fd, which is its own from now on. Closes it without
 * memory. */
void conn_open(
    struct http *http, int fd, enum door_kind door, const uint8_t address[16]);

/* Ends it now, without another byte; reset: what the kernel still holds is
 * thrown away too. The memory goes later, from the loop. */
void conn_close(struct conn *conn, bool reset);

/* The same when the app has an exchange: its owner is told. */
void conn_gone(struct conn *conn, bool reset);

/* The exchange's answer is complete and queued: the exchange is freed, and
 * the next request comes when all is written. */
void conn_answered(struct conn *conn);

/* All is written. */
void conn_flushed(struct conn *conn);

/* Has the timer run for what the connection waits for now. */
void conn_time(struct conn *conn);

/* Calls on from the loop, soon. */
void conn_soon(struct conn *conn);

/* Waits for what there is to wait for. */
void conn_poll(struct conn *conn);

/* Counts what the body holds now. */
void conn_count_body(struct conn *conn);

/* http.c: one less. */
void http_conn_closed(struct http *http);

/* ---- conn_write.c ---- */

/* Writes or queues; a connection that fails is broken, and gone soon. */
void conn_write(struct conn *conn, const struct span *parts, unsigned n);

/* The same for a head and a body (NULL: none), whose bytes it may take. */
void conn_write_answer(struct conn *conn, struct span head, struct buf *body);

/* Queues without writing: more follows at once. */
void conn_queue(struct conn *conn, struct span bytes);

/* Writes what is queued as far as it goes. */
void conn_flush(struct conn *conn);

size_t conn_queued(const struct conn *conn);

/* Counts what the queue holds now. */
void conn_count_out(struct conn *conn);

/* ---- exchange.c ---- */

/* The head of an answer. length < 0: chunked. 0; -ENOMEM. */
int answer_head(struct buf *ret_head, unsigned status, bool closes,
    const char *headers, const char *type, int64_t length);

#endif
