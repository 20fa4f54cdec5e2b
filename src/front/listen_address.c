/* listen_address.c: addresses to listen at, as text and as the kernel has
 * them. No name is looked up: what one listens at is not left to a resolver.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/listeners.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIX_PREFIX "unix:"

static int
refuse(const char *text, struct err *err)
{
	return fail(err, EINVAL,
	    "listen at %s: expected ADDRESS:PORT, [ADDRESS]:PORT for IPv6, or "
	    "unix:PATH",
	    text);
}

static int
parse_unix(const char *path, struct listen_address *address, struct err *err)
{
	struct sockaddr_un *un = &address->un;
	size_t n = strlen(path);

	if (n == 0)
		return refuse(UNIX_PREFIX, err);
	if (n >= sizeof(un->sun_path))
		return fail(err, ENAMETOOLONG,
		    "listen at %s: the path is longer than %zu bytes", path,
		    sizeof(un->sun_path) - 1);
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, n + 1);
	address->n = sizeof(*un);
	return 0;
}

/* False if text is no port. */
static bool
parse_port(const char *text, in_port_t *ret_port)
{
	char *end;
	unsigned long port;

	if (text[0] < '0' || text[0] > '9')
		return false;
	port = strtoul(text, &end, 10);
	*ret_port = htons((in_port_t)port);
	return *end == 0 && port <= 65535;
}

static bool
parse_inet(const char *host, in_port_t port, struct listen_address *address)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&address->storage;

	in->sin_family = AF_INET;
	in->sin_port = port;
	address->n = sizeof(*in);
	if (strcmp(host, "localhost") == 0)
		host = "127.0.0.1";
	return inet_pton(AF_INET, host, &in->sin_addr) == 1;
}

static bool
parse_inet6(char *host, in_port_t port, struct listen_address *address)
{
	struct sockaddr_in6 *in = (struct sockaddr_in6 *)&address->storage;
	size_t n = strlen(host);

	if (n < 2 || host[n - 1] != ']')
		return false;
	host[n - 1] = 0;
	in->sin6_family = AF_INET6;
	in->sin6_port = port;
	address->n = sizeof(*in);
	return inet_pton(AF_INET6, host + 1, &in->sin6_addr) == 1;
}

int
listen_address_parse(
    const char *text, struct listen_address *ret_address, struct err *err)
{
	char host[INET6_ADDRSTRLEN + 8];
	const char *colon = strrchr(text, ':');
	in_port_t port;
	bool ok;

	memset(ret_address, 0, sizeof(*ret_address));
	if (strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0)
		return parse_unix(text + strlen(UNIX_PREFIX), ret_address, err);
	if (!colon || (size_t)(colon - text) >= sizeof(host) ||
	    !parse_port(colon + 1, &port))
		return refuse(text, err);
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = 0;
	if (host[0] == '[')
		ok = parse_inet6(host, port, ret_address);
	else
		ok = parse_inet(host, port, ret_address);
	return ok ? 0 : refuse(text, err);
}

void
listen_address_name(
    const struct listen_address *address, char ret_name[LISTENER_NAME_MAX])
{
	const struct sockaddr_in *in =
	    (const struct sockaddr_in *)&address->storage;
	const struct sockaddr_in6 *in6 =
	    (const struct sockaddr_in6 *)&address->storage;
	char host[INET6_ADDRSTRLEN] = "";

	if (address->any.sa_family == AF_UNIX) {
		(void)snprintf(ret_name, LISTENER_NAME_MAX, UNIX_PREFIX "%s",
		    address->un.sun_path);
	} else if (address->any.sa_family == AF_INET6) {
		(void)inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		(void)snprintf(ret_name, LISTENER_NAME_MAX, "[%s]:%u", host,
		    (unsigned)ntohs(in6->sin6_port));
	} else {
		(void)inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		(void)snprintf(ret_name, LISTENER_NAME_MAX, "%s:%u", host,
		    (unsigned)ntohs(in->sin_port));
	}
}
