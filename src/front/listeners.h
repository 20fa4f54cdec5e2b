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

#define HANDED_FIRST 3 /* by the convention */
#define HANDED_MAX   3 /* counted: more is a mistake all the same */

/* How many descriptors, from HANDED_FIRST on, the service manager handed to
 * this process; 0 as well if they are another process's. */
unsigned listeners_handed_over(void);

#endif
