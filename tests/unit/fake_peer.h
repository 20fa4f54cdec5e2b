/* fake_peer.h: peers that say nothing by themselves: the test does. Include it
 * once in a program; it takes the place of mcp.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKE_PEER_H
#define TESTS_UNIT_FAKE_PEER_H

#include "mcp/mcp.h"

#include <stdlib.h>
#include <string.h>

struct peer {
	struct peer_conf conf;
	char revision[16]; /* "" before the handshake */
};

static unsigned fake_peers; /* that are open */

struct peer *
peer_new(struct mcp *mcp, const struct peer_conf *conf)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	(void)mcp;
	if (!peer)
		abort();
	peer->conf = *conf;
	fake_peers++;
	return peer;
}

void
peer_close(struct peer *peer)
{
	if (peer)
		fake_peers--;
	free(peer);
}

const char *
peer_revision(const struct peer *peer)
{
	return peer->revision[0] ? peer->revision : NULL;
}

bool
peer_restore(struct peer *peer, const char *revision)
{
	if (strcmp(revision, "2025-11-25") != 0 &&
	    strcmp(revision, "2025-06-18") != 0)
		return false;
	memcpy(peer->revision, revision, strlen(revision) + 1);
	return true;
}

#endif
