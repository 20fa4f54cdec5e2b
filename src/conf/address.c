/* address.c: where HTTP is served, as an operator writes it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/address.h"

#include "conf/option_text.h"
#include "conf/option_value.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#define UNIX_PREFIX "unix:"
#define PORT_MAX    65535u

static int
parse_path(const char *path, struct address *ret, struct err *err)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	size_t n = strlen(path);

	if (n == 0 || n >= sizeof(sa.sun_path))
		return fail(err, EINVAL,
		    "the path of a socket has 1 to %zu bytes, not %zu",
		    sizeof(sa.sun_path) - 1, n);
	memcpy(sa.sun_path, path, n + 1);
	*ret = (struct address){ .n = sizeof(sa) };
	memcpy(&ret->sa, &sa, sizeof(sa));
	return 0;
}

static bool
set_in(const char *host, uint16_t port, struct address *ret)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET,
		.sin_port = htons(port) };

	if (inet_pton(AF_INET, host, &v4.sin_addr) != 1)
		return false;
	*ret = (struct address){ .n = sizeof(v4) };
	memcpy(&ret->sa, &v4, sizeof(v4));
	return true;
}

static bool
set_in6(const char *host, uint16_t port, struct address *ret)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
		.sin6_port = htons(port) };

	if (inet_pton(AF_INET6, host, &v6.sin6_addr) != 1)
		return false;
	*ret = (struct address){ .n = sizeof(v6) };
	memcpy(&ret->sa, &v6, sizeof(v6));
	return true;
}

int
address_parse(const char *text, struct address *ret, struct err *err)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2] = "";
	char shown[OPTION_SHOWN_MAX];
	uint64_t port = 0;
	size_t n = colon ? (size_t)(colon - text) : 0;

	if (strncmp(text, UNIX_PREFIX, sizeof(UNIX_PREFIX) - 1) == 0)
		return parse_path(text + sizeof(UNIX_PREFIX) - 1, ret, err);
	if (n > 0 && n < sizeof(host) && value_count(colon + 1, &port) == 0 &&
	    port <= PORT_MAX) {
		memcpy(host, text, n);
		host[n] = '\0';
		if (strcmp(host, "localhost") == 0)
			memcpy(host, "127.0.0.1", sizeof("127.0.0.1"));
		if (set_in(host, (uint16_t)port, ret))
			return 0;
		if (host[0] == '[' && host[n - 1] == ']') {
			host[n - 1] = '\0';
			if (set_in6(host + 1, (uint16_t)port, ret))
				return 0;
		}
	}
	option_show(text, shown);
	return fail(err, EINVAL,
	    "'%s' is no ADDR:PORT with the number of an address, like "
	    "127.0.0.1:8080 or [::]:8080, and no unix:PATH",
	    shown);
}

bool
address_is_local(const struct address *address)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	switch (address->sa.ss_family) {
	case AF_UNIX:
		return true;
	case AF_INET:
		memcpy(&v4, &address->sa, sizeof(v4));
		return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
	case AF_INET6:
		memcpy(&v6, &address->sa, sizeof(v6));
		return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
	default:
		return false;
	}
}
