/* refusal.c: answering, counting and logging refused requests. Nothing that a
 * client sent is repeated.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/refusal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#define BODY_MAX 512u /* the sentences are ours */

#define US_PER_S 1000000u

static struct refusal_count *
find(struct refusals *refusals, unsigned status, const char *reason)
{
	struct refusal_count *count;

	for (unsigned i = 0; i < refusals->n; i++) {
		count = &refusals->counts[i];
		if (count->status == status &&
		    strcmp(count->reason, reason) == 0)
			return count;
	}
	if (refusals->n == REFUSAL_REASONS)
		return &refusals->counts[REFUSAL_REASONS - 1];
	count = &refusals->counts[refusals->n++];
	count->status = status;
	count->reason = refusals->n == REFUSAL_REASONS ? "other" : reason;
	return count;
}

/* True if one more line may be written in this second. */
static bool
may_log(struct refusals *refusals)
{
	uint64_t second = clock_us() / US_PER_S;

	if (second != refusals->second) {
		if (refusals->unlogged > 0)
			log_info("event=refused_more n=%" PRIu64,
			    refusals->unlogged);
		refusals->second = second;
		refusals->logged = 0;
		refusals->unlogged = 0;
	}
	if (refusals->logged >= REFUSALS_LOGGED) {
		refusals->unlogged++;
		return false;
	}
	refusals->logged++;
	return true;
}

void
refusals_add(struct refusals *refusals, unsigned status, const char *reason)
{
	find(refusals, status, reason)->n++;
}

void
refusals_count(struct refusals *refusals, unsigned status, const char *reason,
    const uint8_t *address)
{
	char shown[INET6_ADDRSTRLEN] = "-";

	refusals_add(refusals, status, reason);
	if (!may_log(refusals))
		return;
	if (address)
		(void)inet_ntop(AF_INET6, address, shown, sizeof(shown));
	log_info("event=refused status=%u reason=%s address=%s", status, reason,
	    shown);
}

void
refusal_answer(struct refusals *refusals, struct exchange *exchange,
    const struct http_refusal *refusal)
{
	own_buf struct buf body;

	refusals_count(refusals, refusal->status, refusal->reason,
	    exchange_address(exchange));
	buf_init(&body, BODY_MAX);
	(void)buf_printf(&body,
	    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,"
	    "\"message\":\"%s\"}}",
	    refusal->text);
	exchange_set_owner(exchange, NULL);
	exchange_answer(exchange, refusal->status, refusal->headers,
	    "application/json", &body);
}
