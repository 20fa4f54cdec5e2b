/* output_watch.c: output of running calls, told as it appears.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/room_impl.h"

#include "base/own.h"
#include "call/output.h"
#include "conf/limits.h"

#include <errno.h>

/* Tells what is new of one stream. What cannot be read is told at the end. */
static void
tell(struct room *room, struct ticket *ticket, enum output_stream stream)
{
	own_buf struct buf text;
	struct err err;

	buf_init(&text, 3u * OUTPUT_PEEK_MAX); /* if every byte is replaced */
	if (output_peek(ticket->region, room_region_chars(room), stream,
		&ticket->told[stream], &text, &err) == 0 &&
	    text.n > 0)
		ticket->call->on_output(
		    ticket->call, stream == OUTPUT_ERR, buf_span(&text));
}

static void
on_peek(uv_timer_t *timer)
{
	struct room *room = timer->data;
	bool watched = false;

	for (struct ticket *t = room->running.first; t; t = t->next) {
		if (t->region < 0 || t->cancelled)
			continue;
		watched = true;
		tell(room, t, OUTPUT_OUT);
		tell(room, t, OUTPUT_ERR);
	}
	if (!watched)
		(void)uv_timer_stop(timer);
}

int
room_begun(
    struct room *room, const struct frame *frame, int *fd, struct err *err)
{
	struct wire_begun record;
	struct ticket *ticket = room->running.first;

	if (wire_take(frame, &record, sizeof(record), NULL, err) < 0)
		return -EPROTO;
	while (ticket && ticket->call->id != record.id)
		ticket = ticket->next;
	if (!ticket || !ticket->call->on_output || ticket->region >= 0)
		return fail(err, EPROTO, "the beginning of call %u", record.id);
	ticket->region = give_fd(fd); /* -1: there was no descriptor for it */
	if (!uv_is_active((uv_handle_t *)&room->peek))
		(void)uv_timer_start(
		    &room->peek, on_peek, OUTPUT_PEEK_MS, OUTPUT_PEEK_MS);
	return 0;
}
