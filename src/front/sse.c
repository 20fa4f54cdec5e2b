/* sse.c: events as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/sse.h"

int
sse_message(struct buf *buf, const char *id, struct span message)
{
	int r = 0;

	if (id)
		r = buf_printf(buf, "id: %s\n", id);
	if (r == 0)
		r = buf_add_text(buf, "event: message\ndata: ");
	if (r == 0)
		r = buf_add(buf, message.p, message.n);
	if (r == 0)
		r = buf_add_text(buf, "\n\n");
	return r;
}

int
sse_prime(struct buf *buf, const char *id, unsigned retry_ms)
{
	return buf_printf(buf, "id: %s\nretry: %u\ndata: \n\n", id, retry_ms);
}
