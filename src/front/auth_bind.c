/* auth_bind.c: whether a server without authentication may listen there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/auth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

/* "ADDR:PORT" or "[ADDR]:PORT": the address alone. */
static bool
address_of(const char *name, char ret_address[INET6_ADDRSTRLEN])
{
	const char *end = strrchr(name, ':');
	size_t n;

	if (!end)
		return false;
	if (name[0] == '[' && end > name + 1 && end[-1] == ']') {
		name++;
		end--;
	}
	n = (size_t)(end - name);
	if (n >= INET6_ADDRSTRLEN)
		return false;
	memcpy(ret_address, name, n);
	ret_address[n] = '\0';
	return true;
}

static bool
is_local(const char *name)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr six;
	struct in_addr four;

	if (strncmp(name, "unix:", 5) == 0)
		return true;
	if (!address_of(name, text))
		return false;
	if (inet_pton(AF_INET, text, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	if (inet_pton(AF_INET6, text, &six) != 1)
		return false;
	return IN6_IS_ADDR_LOOPBACK(&six) ||
	       (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
}

int
auth_bind_check(const struct conf *conf, const char *name, struct err *err)
{
	if (conf->tokens_path || conf->jwks_path || conf->insecure_no_auth ||
	    is_local(name))
		return 0;
	return fail(err, EACCES,
	    "%s is not this machine alone, and anybody could run code: give "
	    "--tokens or --jwks, or --insecure-no-auth if something else "
	    "keeps others out",
	    name);
}
