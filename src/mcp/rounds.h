/* rounds.h: calls that need something of the client before they can end: the
 * answer says what (resultType "input_required"), and the client makes the
 * same call again with its answers. Between the rounds the server keeps
 * nothing: what it has to remember travels with the client, sealed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_ROUNDS_H
#define MCP_ROUNDS_H

#include "mcp/request.h"

#include <stdbool.h>

/* What a client's next round brings. */
struct round {
	const json_t *responses; /* by the name of what was asked; NULL: the
				  * first round. Borrowed */
	json_t *state;           /* that rounds_ask was given; or NULL. Owned */
};

/* Reads it. False: it is malformed, or its state is not one that we gave to
 * this principal for this call; the request was refused. */
bool rounds_take(struct request *request, struct round *ret_round);
void round_done(struct round *round);

/* The client's answer to what was asked under that name, an object; or NULL.
 * Borrowed. */
const json_t *round_response(const struct round *round, const char *name);

/* Answers that the client is asked for inputs, which is taken: an object of
 * {"method", "params"} by name; NULL: for another round alone. state (taken)
 * may be NULL. A client that does not declare what an input needs is refused
 * instead. */
void rounds_ask(struct request *request, json_t *inputs, json_t *state);

#endif
