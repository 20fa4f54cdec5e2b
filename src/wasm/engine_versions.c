/* engine_versions.c: the table of Wasmtime's known faults. "make engine" pins
 * a good version; this is for one that is given by -Dwasmtime, and for a pin
 * that has become old.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/engine_versions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Older ones lack settings that engine_config.c makes. */
#define OLDEST_MAJOR 48u

/* Newest first. From RustSec, as of November 2026. Left out are faults in
 * what is neither built nor called (WASI, Winch, pooling, fuel) and those
 * which a later line of this table covers in every release. */
static const struct engine_fault faults[] = {
	/* GHSA-cfhf-m2cr-62wj */
	{ "RUSTSEC-2026-0325", "exception tags can corrupt the engine's heap",
	    47, { { 48, 0, 4 }, { 49, 0, 2 } } },
	/* GHSA-hw8m-q44c-ggrf */
	{ "RUSTSEC-2026-0326",
	    "references across try_call can corrupt the engine's heap", 47,
	    { { 48, 0, 4 }, { 49, 0, 2 } } },
	/* GHSA-32h6-97mm-8q3c; needs components, which are off */
	{ "RUSTSEC-2026-0327",
	    "a component's callback can overflow the engine's stack", 39,
	    { { 48, 0, 4 }, { 49, 0, 2 } } },
	/* GHSA-jqpg-j7w6-42pr; needs components, which are off, but is what
	 * the older lines were last updated for */
	{ "RUSTSEC-2026-0316", "records can be as large as the guest likes", 0,
	    { { 36, 0, 16 }, { 48, 0, 3 }, { 49, 0, 1 } } },
	/* GHSA-2hw9-mc66-jc2q */
	{ "RUSTSEC-2026-0223",
	    "a trap in a bulk operation can break the engine's state", 46,
	    { { 46, 0, 2 }, { 47, 0, 3 } } },
	/* GHSA-hgjw-h833-99q9 */
	{ "RUSTSEC-2026-0222", "stores can mix up types between engines", 0,
	    { { 24, 0, 12 }, { 36, 0, 13 }, { 46, 0, 2 }, { 47, 0, 3 } } },
	/* GHSA-p8xm-42r7-89xg; see engine_limit too */
	{ "RUSTSEC-2026-0114", "a huge table makes the engine panic", 30,
	    { { 36, 0, 8 }, { 43, 0, 2 }, { 44, 0, 1 } } },
	/* CVE-2026-34971 */
	{ "RUSTSEC-2026-0096", "on aarch64 a guest can escape", 0,
	    { { 36, 0, 7 }, { 42, 0, 2 }, { 43, 0, 1 } } },
	/* CVE-2026-34944 */
	{ "RUSTSEC-2026-0087", "f64x2.splat can read outside the guest", 0,
	    { { 24, 0, 7 }, { 36, 0, 7 }, { 42, 0, 2 }, { 43, 0, 1 } } },
	/* CVE-2026-24116 */
	{ "RUSTSEC-2026-0006", "f64.copysign can read outside the guest", 29,
	    { { 36, 0, 5 }, { 40, 0, 3 }, { 41, 0, 1 } } },
};

bool
engine_version_parse(const char *text, struct engine_version *ret_version)
{
	unsigned numbers[3];

	for (int i = 0; i < 3; i++) {
		char *end;
		unsigned long number;

		if (*text < '0' || *text > '9')
			return false;
		number = strtoul(text, &end, 10);
		if (number > 1000000 || *end != (i < 2 ? '.' : '\0'))
			return false;
		numbers[i] = (unsigned)number;
		text = end + 1;
	}
	*ret_version =
	    (struct engine_version){ numbers[0], numbers[1], numbers[2] };
	return true;
}

static bool
is_before(const struct engine_version *a, const struct engine_version *b)
{
	if (a->major != b->major)
		return a->major < b->major;
	if (a->minor != b->minor)
		return a->minor < b->minor;
	return a->patch < b->patch;
}

static bool
has_fault(
    const struct engine_version *version, const struct engine_fault *fault)
{
	const size_t n = sizeof(fault->fixed) / sizeof(fault->fixed[0]);

	if (version->major < fault->since)
		return false;
	for (size_t i = 0; i < n && fault->fixed[i].major > 0; i++) {
		const struct engine_version *fixed = &fault->fixed[i];
		bool last = i + 1 == n || fault->fixed[i + 1].major == 0;

		if (!is_before(version, fixed) &&
		    (last || version->major == fixed->major))
			return false;
	}
	return true;
}

const struct engine_fault *
engine_version_fault(const struct engine_version *version)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (has_fault(version, &faults[i]))
			return &faults[i];
	}
	return NULL;
}

int
engine_version_check(const char *text, struct err *err)
{
	static const char way_out[] =
	    "build breakroom with Wasmtime " ENGINE_VERSIONS_GOOD;
	const struct engine_fault *fault;
	struct engine_version version;

	if (!engine_version_parse(text, &version))
		return fail(err, ENOTSUP,
		    "wasmtime's version \"%.32s\" is not a release: %s", text,
		    way_out);
	fault = engine_version_fault(&version);
	if (fault)
		return fail(err, ENOTSUP,
		    "wasmtime %.32s has a known fault, %s (%s): %s", text,
		    fault->what, fault->advisory, way_out);
	if (version.major < OLDEST_MAJOR)
		return fail(err, ENOTSUP, "wasmtime %.32s is too old: %s", text,
		    way_out);
	return 0;
}
