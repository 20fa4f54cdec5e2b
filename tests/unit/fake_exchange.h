/* fake_exchange.h: exchanges without a connection, that remember what they are
 * answered with. Include it once in a program; it takes the place of
 * exchange.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKE_EXCHANGE_H
#define TESTS_UNIT_FAKE_EXCHANGE_H

#include "front/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct exchange {
	void *owner;
	unsigned status; /* 0 until it is answered */
	char headers[512];
	char type[64];
	struct buf out; /* the body, or the stream */
	bool streaming, ended;
	bool slow; /* the next write finds that it is gone */
};

static void
fake_exchange_done(struct exchange *exchange)
{
	buf_done(&exchange->out);
	memset(exchange, 0, sizeof(*exchange));
}

/* What was written so far. */
static const char *
fake_exchange_text(const struct exchange *exchange)
{
	static char text[65536];

	snprintf(text, sizeof(text), "%.*s", (int)exchange->out.n,
	    exchange->out.n ? (const char *)exchange->out.p : "");
	return text;
}

const uint8_t *
exchange_address(const struct exchange *exchange)
{
	static const uint8_t address[16];

	(void)exchange;
	return address;
}

void
exchange_set_owner(struct exchange *exchange, void *owner)
{
	exchange->owner = owner;
}

static void
fake_exchange_put(struct exchange *exchange, struct span bytes)
{
	if (exchange->ended)
		abort(); /* it must not be used after its end */
	exchange->out.max = 65535;
	if (buf_add(&exchange->out, bytes.p, bytes.n) < 0)
		abort();
}

void
exchange_answer(struct exchange *exchange, unsigned status, const char *headers,
    const char *type, struct buf *body)
{
	if (exchange->status || exchange->streaming || exchange->owner)
		abort();
	exchange->status = status;
	snprintf(exchange->headers, sizeof(exchange->headers), "%s",
	    headers ? headers : "");
	snprintf(
	    exchange->type, sizeof(exchange->type), "%s", type ? type : "");
	if (body)
		fake_exchange_put(exchange, buf_span(body));
	exchange->ended = true;
}

void
exchange_stream_begin(struct exchange *exchange, const char *headers)
{
	if (exchange->status || exchange->streaming)
		abort();
	exchange->streaming = true;
	snprintf(exchange->headers, sizeof(exchange->headers), "%s",
	    headers ? headers : "");
}

bool
exchange_stream_write(struct exchange *exchange, struct span bytes)
{
	if (!exchange->streaming)
		abort();
	if (exchange->slow)
		return false;
	fake_exchange_put(exchange, bytes);
	return true;
}

void
exchange_stream_end(struct exchange *exchange)
{
	if (!exchange->streaming || exchange->owner || exchange->ended)
		abort();
	exchange->ended = true;
}

#endif
