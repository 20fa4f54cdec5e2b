/* principal.c: making, holding and comparing principals.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/principal.h"

#include <sha2.h>
#include <stdlib.h>
#include <string.h>

static bool
is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

struct principal *
principal_new(const char *kind, const char *name)
{
	struct principal *principal = calloc(1, sizeof(*principal));
	SHA2_CTX digest;

	if (!principal)
		return NULL;
	SHA256Init(&digest);
	SHA256Update(&digest, (const uint8_t *)kind, strlen(kind) + 1);
	SHA256Update(&digest, (const uint8_t *)name, strlen(name));
	SHA256Final(principal->id, &digest);
	for (size_t i = 0; i < PRINCIPAL_NAME_MAX && name[i]; i++)
		principal->name[i] = (char)(is_plain(name[i]) ? name[i] : '_');
	principal->holds = 1;
	principal->calls_max = CONCURRENCY_MAX;
	principal->queue_max = QUEUE_MAX;
	principal->per_minute = PER_MINUTE_MAX;
	return principal;
}

struct principal *
principal_hold(struct principal *principal)
{
	if (principal)
		principal->holds++;
	return principal;
}

void
principal_release(struct principal *principal)
{
	if (principal && --principal->holds == 0)
		free(principal);
}

bool
principal_is(const struct principal *a, const struct principal *b)
{
	if (!a || !b)
		return a == b;
	return memcmp(a->id, b->id, sizeof(a->id)) == 0;
}
