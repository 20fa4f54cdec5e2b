/* revision.h: the revisions of the protocol that we speak, and how they
 * differ where it concerns us. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_REVISION_H
#define MCP_REVISION_H

#include <jansson.h>
#include <stdbool.h>

struct revision {
	const char *name;
	bool modern;           /* no handshake: every request names it */
	bool batches;          /* arrays of messages are accepted */
	bool annotations;      /* of tools */
	bool progress_message; /* in notifications/progress */
	bool structured;       /* structuredContent, outputSchema, titles */
	bool null_id;          /* an error without a known id says null */
};

/* The revision of that name, or NULL. */
const struct revision *revision_find(const json_t *name);

/* What "initialize" is offered when it asks for one that we do not speak. */
const struct revision *revision_latest_handshake(void);

/* What is assumed of a client that has not said anything yet. */
const struct revision *revision_latest(void);

/* What is assumed of HTTP without a header: the revision before it. */
const struct revision *revision_without_header(void);

/* The name of the first revision without a handshake. */
const char *revision_oldest_modern(void);

/* A new array of all names, newest first. */
json_t *revision_names(void);

/* The place of a level of logging among the eight of RFC 5424, 0 the least
 * grave; -1: it is none. */
int log_level_rank(const json_t *level);

#endif
