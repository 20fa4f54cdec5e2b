/* engine_versions.h: versions of Wasmtime with known faults that a guest of
 * ours could reach; none of them is run. The version is that of the C API's
 * headers: Wasmtime is linked statically from beside them, so it is also
 * that of what runs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_ENGINE_VERSIONS_H
#define WASM_ENGINE_VERSIONS_H

#include "base/err.h"

#include <stdbool.h>

/* Read this when an advisory comes: a line in the table of
 * engine_versions.c, and here the oldest releases that no line names. */
#define ENGINE_VERSIONS_GOOD "48.0.4, 49.0.2 or newer"

struct engine_version {
	unsigned major, minor, patch;
};

struct engine_fault {
	const char *advisory;
	const char *what;
	unsigned since; /* the first major version that has it */
	/* The first good release of each line that got one; a version before
	 * the last of them is bad unless its own line has a good one. */
	struct engine_version fixed[5];
};

/* Reads "48.0.8"; anything else, such as a release candidate, is false. */
bool engine_version_parse(const char *text, struct engine_version *ret_version);

/* The newest known fault of a version; NULL if there is none. */
const struct engine_fault *engine_version_fault(
    const struct engine_version *version);

/* May this version run? 0, or -ENOTSUP and the advisory and the way out. */
int engine_version_check(const char *text, struct err *err);

#endif
