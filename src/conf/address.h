/* address.h: where HTTP is served, as an operator writes it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_ADDRESS_H
#define CONF_ADDRESS_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/socket.h>

struct address {
	struct sockaddr_storage sa;
	socklen_t n; /* bytes of it */
};

/* "127.0.0.1:8080", "[::1]:8080", "localhost:0" (that is 127.0.0.1) or
 * "unix:/run/x.sock". No other names: nobody is asked. 0; -EINVAL. */
int address_parse(const char *text, struct address *ret, struct err *err);

/* Only this machine's processes reach it: loopback, or a path. */
bool address_is_local(const struct address *address);

#endif
