/* listeners.h: what the front knows of its listening sockets (http.h has the
 * rest).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_LISTENERS_H
#define FRONT_LISTENERS_H

#include "conf/address.h"
#include "front/http.h"

struct listener {
	int fd; /* -1: none */
	char name[ADDRESS_NAME_MAX];
};

/* The first is the endpoint's, the second the admin's. */
struct listeners {
	struct listener items[2];
};

#endif
