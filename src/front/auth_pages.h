/* auth_pages.h: what clients are told of how to get in: the challenges of RFC
 * 6750 and the protected-resource metadata of RFC 9728.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_AUTH_PAGES_H
#define FRONT_AUTH_PAGES_H

#include "base/err.h"
#include "conf/conf.h"

/* Why somebody is sent away. */
enum refusal {
	REFUSED_MISSING,   /* 401: no token at all */
	REFUSED_MALFORMED, /* 400: not a bearer's header */
	REFUSED_INVALID,   /* 401: not a token of ours, or not any more */
	REFUSED_SCOPE,     /* 403: a token for less */
	REFUSALS
};

struct auth_pages {
	char challenges[REFUSALS][AUTH_CHALLENGE_MAX];
	char *metadata; /* JSON; NULL without web tokens */
	char *path;     /* NULL without it, or if it is the root one */
};

/* Checks --issuer, --resource, --audience, --auth-server and --scope, and
 * writes the pages. 0; -EINVAL; -ENOMEM. */
int auth_pages_make(
    const struct conf *conf, struct auth_pages *ret_pages, struct err *err);
void auth_pages_done(struct auth_pages *pages);

#endif
