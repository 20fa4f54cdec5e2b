/* tickets.c: lists of calls on their way.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/tickets.h"

#include "base/fd.h"

#include <stdlib.h>

#define REASON_MAX 512u /* an err's text and the words around it */

void
tickets_init(struct tickets *tickets)
{
	*tickets = (struct tickets){ .last = &tickets->first };
}

void
tickets_push(struct tickets *tickets, struct ticket *ticket)
{
	ticket->next = NULL;
	*tickets->last = ticket;
	tickets->last = &ticket->next;
	tickets->n++;
}

void
tickets_put_back(struct tickets *tickets, struct ticket *ticket)
{
	struct ticket **place = &tickets->first;

	while (*place && (*place)->call->id < ticket->call->id)
		place = &(*place)->next;
	ticket->next = *place;
	if (!*place)
		tickets->last = &ticket->next;
	*place = ticket;
	tickets->n++;
}

static struct ticket *
take_at(struct tickets *tickets, struct ticket **place)
{
	struct ticket *ticket = *place;

	*place = ticket->next;
	if (!*place)
		tickets->last = place;
	tickets->n--;
	ticket->next = NULL;
	return ticket;
}

struct ticket *
tickets_pop(struct tickets *tickets)
{
	return tickets->first ? take_at(tickets, &tickets->first) : NULL;
}

struct ticket *
tickets_pop_last(struct tickets *tickets)
{
	struct ticket **place = &tickets->first;

	while (*place && (*place)->next)
		place = &(*place)->next;
	return *place ? take_at(tickets, place) : NULL;
}

struct ticket *
tickets_take(struct tickets *tickets, uint32_t id)
{
	struct ticket **place = &tickets->first;

	while (*place && (*place)->call->id != id)
		place = &(*place)->next;
	return *place ? take_at(tickets, place) : NULL;
}

struct ticket *
ticket_new(struct call *call)
{
	struct ticket *ticket = calloc(1, sizeof(*ticket));

	if (!ticket)
		return NULL;
	ticket->call = call;
	ticket->region = -1;
	result_init(&ticket->result);
	/* Until the keeper says otherwise, its session is as it was. */
	ticket->result.session_alive = call->use == SESSION_GO_ON;
	/* So that what becomes of the call can always be said. */
	if (buf_reserve(&ticket->result.err.text, REASON_MAX) < 0) {
		free(ticket);
		return NULL;
	}
	return ticket;
}

void
ticket_fail(struct ticket *ticket, enum outcome outcome, const char *reason)
{
	ticket->result.outcome = outcome;
	ticket->result.exit_code = -1;
	(void)buf_printf(&ticket->result.err.text, "%s\n", reason);
}

void
ticket_deliver(struct ticket *ticket)
{
	ticket->call->done(ticket->call, &ticket->result);
	ticket_free(ticket);
}

void
ticket_unwatch(struct ticket *ticket)
{
	fd_close(ticket->region);
	ticket->region = -1;
}

void
ticket_free(struct ticket *ticket)
{
	result_done(&ticket->result);
	ticket_unwatch(ticket);
	free(ticket);
}
