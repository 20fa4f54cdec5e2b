/* manifest.h: the list of what an installation consists of, written last. A
 * text file: a line with format and key, a line per file, a last line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_MANIFEST_H
#define CONF_MANIFEST_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define MANIFEST_FILES 9
#define MANIFEST_MAX   4096 /* a page: eleven lines of at most 130 bytes */

struct manifest_file {
	uint64_t size;
	int64_t mtime_ns;
	char sha256[65];
};

struct manifest {
	char key[65];
	struct manifest_file files[MANIFEST_FILES]; /* as manifest_names */
};

/* The files of an installation, the manifest itself apart. */
extern const char *const manifest_names[MANIFEST_FILES];

/* Reads the text (n bytes). Strict: anything else than what manifest_format
 * writes is -EBADMSG. */
int manifest_parse(
    const char *text, size_t n, struct manifest *ret_manifest, struct err *err);

/* The text, NUL-terminated; returns its length. */
size_t manifest_format(
    const struct manifest *manifest, char ret_text[MANIFEST_MAX]);

/* Digests, sizes and times of the files in the directory. 0 or -errno. */
int manifest_make(int dir_fd, const char *key, struct manifest *ret_manifest,
    struct err *err);

/* The digest of what fd reads from its position to the end. 0 or -errno. */
int manifest_digest(int fd, char ret_sha256[65]);

/* The digest of these bytes. */
void manifest_digest_bytes(const uint8_t *bytes, size_t n, char ret_sha256[65]);

#endif
