/* auth_bind.c: whether a server without authentication may listen there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/auth.h"

#include "conf/address.h"

#include <errno.h>

static bool
is_local(const char *name)
{
	struct address address;
	struct err err;

	return address_parse(name, &address, &err) == 0 &&
	       address_is_local(&address);
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
