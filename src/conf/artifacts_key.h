/* artifacts_key.h: the name of the artifacts: a digest over everything that
 * they depend on, so that a changed build, guest or machine looks elsewhere.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_ARTIFACTS_KEY_H
#define CONF_ARTIFACTS_KEY_H

#define CPU_TEXT_MAX 192

struct artifacts_inputs {
	const char *guest_wasm; /* digests of the pinned files */
	const char *guest_stdlib;
	const char *guest_sources; /* digest of what is embedded */
	const char *engine;
	unsigned snapshot_format;
	char cpu[CPU_TEXT_MAX];
};

/* What this build and this machine give. */
void artifacts_inputs(struct artifacts_inputs *ret_inputs);

/* The processor's features that a compiler may use, as text; bits that change
 * while the machine runs are left out. */
void artifacts_cpu(char ret_text[CPU_TEXT_MAX]);

/* The first digits of a key stand for the compiled guest alone, so that an
 * installation can see that an older one has the same. */
#define KEY_MODULE_DIGITS 24

/* Their digest, hexadecimal and NUL-terminated. */
void artifacts_key(const struct artifacts_inputs *inputs, char ret_key[65]);

#endif
