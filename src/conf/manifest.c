/* manifest.c: reading and writing the list of installed files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/manifest.h"

#include "base/own.h"
#include "conf/artifacts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER     "breakroom artifacts 1 "
#define FOOTER     "end\n"
#define DIGEST_LEN 64u
#define READ_CHUNK ((size_t)256 * 1024)

const char *const manifest_names[MANIFEST_FILES] = {
	ARTIFACT_MODULE,
	ARTIFACT_STDLIB,
	ARTIFACT_MPLDATA,
	ARTIFACT_SNAPSHOT,
	ARTIFACT_HOT,
	ARTIFACT_ABOUT,
	ARTIFACT_SHELF,
	ARTIFACT_ADDED,
	ARTIFACT_LIST,
};

size_t
manifest_format(const struct manifest *manifest, char ret_text[MANIFEST_MAX])
{
	size_t n = (size_t)snprintf(
	    ret_text, MANIFEST_MAX, HEADER "%s\n", manifest->key);

	for (size_t i = 0; i < MANIFEST_FILES; i++) {
		const struct manifest_file *file = &manifest->files[i];

		n += (size_t)snprintf(ret_text + n, MANIFEST_MAX - n,
		    "%s %" PRIu64 " %" PRId64 " %s\n", manifest_names[i],
		    file->size, file->mtime_ns, file->sha256);
	}
	n += (size_t)snprintf(ret_text + n, MANIFEST_MAX - n, FOOTER);
	return n;
}

/* The three below read one thing at *p and move it behind. */
static int
take_text(const char **p, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(*p, text, n) != 0)
		return -EBADMSG;
	*p += n;
	return 0;
}

static int
take_digest(const char **p, char ret_digest[65])
{
	if (strspn(*p, "0123456789abcdef") != DIGEST_LEN)
		return -EBADMSG;
	memcpy(ret_digest, *p, DIGEST_LEN);
	ret_digest[DIGEST_LEN] = '\0';
	*p += DIGEST_LEN;
	return 0;
}

static int
take_number(const char **p, int64_t *ret_number)
{
	char *end;
	long long number;

	if (**p < '0' || **p > '9')
		return -EBADMSG;
	errno = 0;
	number = strtoll(*p, &end, 10);
	if (errno)
		return -EBADMSG;
	*p = end;
	*ret_number = number;
	return 0;
}

static int
take_file(const char **p, const char *name, struct manifest_file *file)
{
	int64_t size = 0;

	if (take_text(p, name) < 0 || take_text(p, " ") < 0 ||
	    take_number(p, &size) < 0 || take_text(p, " ") < 0 ||
	    take_number(p, &file->mtime_ns) < 0 || take_text(p, " ") < 0 ||
	    take_digest(p, file->sha256) < 0 || take_text(p, "\n") < 0)
		return -EBADMSG;
	file->size = (uint64_t)size;
	return 0;
}

static int
take_manifest(const char **p, struct manifest *manifest)
{
	if (take_text(p, HEADER) < 0 || take_digest(p, manifest->key) < 0 ||
	    take_text(p, "\n") < 0)
		return -EBADMSG;
	for (size_t i = 0; i < MANIFEST_FILES; i++)
		if (take_file(p, manifest_names[i], &manifest->files[i]) < 0)
			return -EBADMSG;
	return take_text(p, FOOTER);
}

int
manifest_parse(
    const char *text, size_t n, struct manifest *ret_manifest, struct err *err)
{
	char copy[MANIFEST_MAX];
	char again[MANIFEST_MAX];
	struct manifest manifest = { 0 };
	const char *p = copy;

	if (n >= sizeof(copy))
		return fail(err, EBADMSG, "its manifest is too long");
	memcpy(copy, text, n);
	copy[n] = '\0';
	/* One set of values has one text: no zeros before a number. */
	if (take_manifest(&p, &manifest) < 0 || p != copy + n ||
	    manifest_format(&manifest, again) != n ||
	    memcmp(copy, again, n) != 0)
		return fail(err, EBADMSG, "its manifest is not one");
	*ret_manifest = manifest;
	return 0;
}

int
manifest_digest(int fd, char ret_sha256[65])
{
	own_mem uint8_t *chunk = malloc(READ_CHUNK);
	SHA2_CTX sha;
	ssize_t n;

	if (!chunk)
		return -ENOMEM;
	SHA256Init(&sha);
	while ((n = read(fd, chunk, READ_CHUNK)) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			SHA256Update(&sha, chunk, (size_t)n);
	}
	(void)SHA256End(&sha, ret_sha256);
	return 0;
}

void
manifest_digest_bytes(const uint8_t *bytes, size_t n, char ret_sha256[65])
{
	SHA2_CTX sha;

	SHA256Init(&sha);
	SHA256Update(&sha, bytes, n);
	(void)SHA256End(&sha, ret_sha256);
}

static int
make_file(
    int dir_fd, const char *name, struct manifest_file *file, struct err *err)
{
	struct stat st;
	own_fd int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int r;

	if (fd < 0)
		return fail_errno(err, "open %s", name);
	r = manifest_digest(fd, file->sha256);
	if (r < 0)
		return fail(err, -r, "read %s: %s", name, strerror(-r));
	if (fstat(fd, &st) < 0)
		return fail_errno(err, "stat %s", name);
	file->size = (uint64_t)st.st_size;
	file->mtime_ns =
	    (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return 0;
}

int
manifest_make(
    int dir_fd, const char *key, struct manifest *ret_manifest, struct err *err)
{
	struct manifest manifest = { 0 };
	int r;

	memcpy(manifest.key, key, DIGEST_LEN);
	for (size_t i = 0; i < MANIFEST_FILES; i++) {
		r = make_file(
		    dir_fd, manifest_names[i], &manifest.files[i], err);
		if (r < 0)
			return r;
	}
	*ret_manifest = manifest;
	return 0;
}
