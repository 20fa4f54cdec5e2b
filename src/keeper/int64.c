/* int64.c: the bytes that make numpy's default integer 64 bits wide. numpy
 * takes the type of an index for it, which has 32 bits in this guest; of the
 * places that say so, the table has those where an integer is meant.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/int64.h"

#include "conf/guest_pin.h"
#include "conf/manifest.h"

#include <errno.h>
#include <string.h>

struct site {
	uint32_t offset;
	uint32_t n;
	const char *was, *becomes;
	const char *function; /* of numpy's C code */
	const char *why;
};

/* clang-format off */
#define SITE(offset, was, becomes, function, why) \
	{ offset, sizeof(was) - 1, was, becomes, function, why },
static const struct site sites[] = {
#include "keeper/int64_sites.def"
};
#undef SITE
#define SITE(offset, was, becomes, function, why) \
	_Static_assert(sizeof(was) == sizeof(becomes), \
	    "a site keeps its length");
#include "keeper/int64_sites.def"
/* clang-format on */

#define SITES (sizeof(sites) / sizeof(sites[0]))

static int
check_digest(const uint8_t *wasm, size_t n, const char *sha256, struct err *err)
{
	char digest[65];

	manifest_digest_bytes(wasm, n, digest);
	if (strcmp(digest, sha256) == 0)
		return 0;
	return fail(err, EBADMSG,
	    "64-bit integers: this is not the module that they are made "
	    "for: its SHA-256 begins with %.12s, not %.12s",
	    digest, sha256);
}

/* Beside the digest, so that a wrong table says where it is wrong. */
static int
check_sites(const uint8_t *wasm, size_t n, struct err *err)
{
	for (size_t i = 0; i < SITES; i++) {
		const struct site *site = &sites[i];

		if (site->offset > n || site->n > n - site->offset ||
		    memcmp(wasm + site->offset, site->was, site->n) != 0)
			return fail(err, EBADMSG,
			    "64-bit integers: byte %u, in %s (%s), is not "
			    "what the table has",
			    site->offset, site->function, site->why);
	}
	return 0;
}

int
int64_apply(uint8_t *wasm, size_t n, struct err *err)
{
	int r = check_digest(wasm, n, GUEST_WASM_SHA256, err);

	if (r == 0)
		r = check_sites(wasm, n, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < SITES; i++)
		memcpy(wasm + sites[i].offset, sites[i].becomes, sites[i].n);
	return check_digest(wasm, n, GUEST_WASM_INT64_SHA256, err);
}
