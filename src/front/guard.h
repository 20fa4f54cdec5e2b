/* guard.h: whether a request was meant for this server: its Host is a name of
 * ours, and its Origin, if a browser sent one, is a page that may ask. That
 * ends DNS rebinding before a byte of the body is read. Pure.
 * Hostile input: the two headers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_GUARD_H
#define FRONT_GUARD_H

#include "base/buf.h"
#include "conf/conf.h"

#include <stdbool.h>

struct guard {
	bool local;    /* loopback or a UNIX socket: nobody else reaches it */
	bool any_host; /* where only pages are, for probes by address */
	bool loopback_names; /* are ours */
	struct span address; /* bound to, if it is a certain one */
	struct span port;    /* p == NULL: a UNIX socket, any is ours */
	const struct conf_list *hosts; /* --allow-host */
	const struct conf_list *origins;
};

/* Borrows all. name is the listener's: "127.0.0.1:8080", "[::]:8080" or
 * "unix:/path". An entry of hosts without a port means none, or the
 * listener's own. */
void guard_init(struct guard *guard, const char *name,
    const struct conf_list *hosts, const struct conf_list *origins);

/* The same for a listener of pages: one that is not local is asked by
 * addresses that it cannot know, and shows no more to one than to another.
 * Ports do not matter. */
void guard_init_pages(
    struct guard *guard, const char *name, const struct conf_list *hosts);

bool guard_host(const struct guard *guard, struct span host);

/* origin.p == NULL: no browser asks, which is fine. */
bool guard_origin(const struct guard *guard, struct span origin);

#endif
