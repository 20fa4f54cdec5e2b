/* artifacts_key.h: the name of the artifacts: a digest over everything that
 * they depend on, so that a changed build, guest or machine looks elsewhere.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_ARTIFACTS_KEY_H
#define CONF_ARTIFACTS_KEY_H

#include "base/err.h"
#include "conf/conf.h"

#define CPU_TEXT_MAX 192

struct artifacts_inputs {
	const char *guest_wasm;    /* digests of what is compiled, and */
	const char *guest_stdlib;  /* of the library */
	const char *guest_sources; /* digest of what is embedded */
	const char *engine;
	unsigned snapshot_format;
	char cpu[CPU_TEXT_MAX];
	const char *packer; /* digest of what packs packages */
	const char *shelf;  /* the list of those that come with us */
	char added[65];     /* digest of the list of others; "": none */
};

/* What this build and this machine give, without packages that were added. */
void artifacts_inputs(enum int64 int64, struct artifacts_inputs *ret_inputs);

/* Adds the digest of the place's list of packages, if there is one. 0; -errno
 * when it cannot be read, or others might have written it. */
int artifacts_add_packages(
    struct artifacts_inputs *inputs, const char *place, struct err *err);

/* The processor's features that a compiler may use, as text; bits that change
 * while the machine runs are left out. */
void artifacts_cpu(char ret_text[CPU_TEXT_MAX]);

/* The first digits of a key stand for the compiled guest alone, those up to
 * the second number also for library and snapshot, the next for the shelf, and
 * the rest for packages that were added, so that an installation can see what an older one has the same of. */
#define KEY_MODULE_DIGITS 24
#define KEY_ROOM_DIGITS   44
#define KEY_SHELF_DIGITS  54

/* Their digest, hexadecimal and NUL-terminated. */
void artifacts_key(const struct artifacts_inputs *inputs, char ret_key[65]);

#endif
