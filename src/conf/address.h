/* address.h: where HTTP is served: as an operator writes it, and as the kernel
 * has it. No name is looked up: what one listens at is not left to a resolver.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_ADDRESS_H
#define CONF_ADDRESS_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#define ADDRESS_NAME_MAX (sizeof(struct sockaddr_un) + 8)

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_storage storage;
		struct sockaddr_un un;
	};
	socklen_t n; /* bytes of it */
};

/* "127.0.0.1:8080", "[::1]:8080", "localhost:0" (that is 127.0.0.1) or
 * "unix:/run/x.sock". 0; -EINVAL with what is expected. */
int address_parse(const char *text, struct address *ret, struct err *err);

/* The same text for an address that was bound. */
void address_name(
    const struct address *address, char ret_name[ADDRESS_NAME_MAX]);

bool address_is_loopback(const struct address *address);

/* Only this machine's processes reach it: loopback, or a path. */
bool address_is_local(const struct address *address);

#endif
