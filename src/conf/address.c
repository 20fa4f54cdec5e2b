/* address.c: reading and writing addresses.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/address.h"

#include "conf/option_text.h"
#include "conf/option_value.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define UNIX_PREFIX "unix:"
#define PORT_MAX    65535u

static int
parse_path(const char *path, struct address *ret, struct err *err)
{
	size_t n = strlen(path);

	if (n == 0 || n >= sizeof(ret->un.sun_path))
		return fail(err, EINVAL,
		    "the path of a socket has 1 to %zu bytes, not %zu",
		    sizeof(ret->un.sun_path) - 1, n);
	*ret = (struct address){ .n = sizeof(ret->un) };
	ret->un.sun_family = AF_UNIX;
	memcpy(ret->un.sun_path, path, n + 1);
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
	memcpy(&ret->storage, &v4, sizeof(v4));
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
	memcpy(&ret->storage, &v6, sizeof(v6));
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

/* A copy of the address as what its family says it is. */
static struct sockaddr_in
as_in(const struct address *address)
{
	struct sockaddr_in v4;

	memcpy(&v4, &address->storage, sizeof(v4));
	return v4;
}

static struct sockaddr_in6
as_in6(const struct address *address)
{
	struct sockaddr_in6 v6;

	memcpy(&v6, &address->storage, sizeof(v6));
	return v6;
}

void
address_name(const struct address *address, char ret_name[ADDRESS_NAME_MAX])
{
	const struct sockaddr_in v4 = as_in(address);
	const struct sockaddr_in6 v6 = as_in6(address);
	char host[INET6_ADDRSTRLEN] = "";

	if (address->any.sa_family == AF_UNIX) {
		(void)snprintf(ret_name, ADDRESS_NAME_MAX, UNIX_PREFIX "%s",
		    address->un.sun_path);
	} else if (address->any.sa_family == AF_INET6) {
		(void)inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof(host));
		(void)snprintf(ret_name, ADDRESS_NAME_MAX, "[%s]:%u", host,
		    (unsigned)ntohs(v6.sin6_port));
	} else {
		(void)inet_ntop(AF_INET, &v4.sin_addr, host, sizeof(host));
		(void)snprintf(ret_name, ADDRESS_NAME_MAX, "%s:%u", host,
		    (unsigned)ntohs(v4.sin_port));
	}
}

bool
address_is_loopback(const struct address *address)
{
	const struct sockaddr_in v4 = as_in(address);
	const struct sockaddr_in6 v6 = as_in6(address);

	switch (address->any.sa_family) {
	case AF_INET:
		return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) ||
		       (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) &&
			   v6.sin6_addr.s6_addr[12] == 127);
	default:
		return false;
	}
}

bool
address_is_local(const struct address *address)
{
	return address->any.sa_family == AF_UNIX ||
	       address_is_loopback(address);
}
