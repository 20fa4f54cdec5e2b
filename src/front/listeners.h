/* listeners.h: what the front knows of its listening sockets (http.h has the
 * rest).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_LISTENERS_H
#define FRONT_LISTENERS_H

#include "front/http.h"

#include <sys/socket.h>
#include <sys/un.h>

#define LISTENER_NAME_MAX (sizeof(struct sockaddr_un) + 8)

struct listener {
	int fd; /* -1: none */
	char name[LISTENER_NAME_MAX];
};

/* The first is the endpoint's, the second the admin's. */
struct listeners {
	struct listener items[2];
};

/* An address as it was given, for bind. */
struct listen_address {
	union {
		struct sockaddr any;
		struct sockaddr_storage storage;
		struct sockaddr_un un;
	};
	socklen_t n;
};

/* Parses "1.2.3.4:80", "[::1]:80", "localhost:80" (127.0.0.1) or "unix:PATH".
 * 0; -EINVAL with what is expected. */
int listen_address_parse(
    const char *text, struct listen_address *ret_address, struct err *err);

/* The name of a bound address. */
void listen_address_name(
    const struct listen_address *address, char ret_name[LISTENER_NAME_MAX]);

#endif
