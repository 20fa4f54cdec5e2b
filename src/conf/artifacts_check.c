/* artifacts_check.c: the check at every start. It reads no file but the
 * manifest: hashing 400 MB would cost more than the start.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/artifacts_check.h"

#include "base/own.h"
#include "conf/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_LEN 64u

/* Only its owner and root can have put the bytes there; and a room that root
 * starts reads them as another user. */
int
artifacts_check_owner(const struct stat *st, const char *name, struct err *err)
{
	mode_t readable = S_ISDIR(st->st_mode) ? S_IROTH | S_IXOTH : S_IROTH;

	if (st->st_uid != geteuid() && st->st_uid != 0)
		return fail(err, ESTALE, "%s belongs to another user", name);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return fail(err, ESTALE, "%s may be written by others", name);
	if (geteuid() == 0 && (st->st_mode & readable) != readable)
		return fail(err, ESTALE, "%s is private to root", name);
	return 0;
}

static int
check_file(int dir_fd, const char *name, const struct manifest_file *file,
    struct err *err)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT
			   ? fail(err, ESTALE, "%s is missing", name)
			   : fail_errno(err, "stat %s", name);
	if (!S_ISREG(st.st_mode))
		return fail(err, ESTALE, "%s is not a file", name);
	if ((uint64_t)st.st_size != file->size)
		return fail(err, ESTALE,
		    "%s has another size than when it "
		    "was made",
		    name);
	if ((int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec !=
	    file->mtime_ns)
		return fail(
		    err, ESTALE, "%s was changed since it was made", name);
	return artifacts_check_owner(&st, name, err);
}

static int
read_manifest(int dir_fd, struct manifest *ret_manifest, struct err *err)
{
	char text[MANIFEST_MAX];
	struct stat st;
	size_t n = 0;
	int r;
	own_fd int fd = openat(dir_fd, ARTIFACT_MANIFEST,
	    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return errno == ENOENT
			   ? fail(err, ESTALE, "its manifest is missing")
			   : fail_errno(err, "open its manifest");
	if (fstat(fd, &st) < 0)
		return fail_errno(err, "stat its manifest");
	r = artifacts_check_owner(&st, "its manifest", err);
	while (r == 0 && n < sizeof(text)) {
		ssize_t got = read(fd, text + n, sizeof(text) - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_errno(err, "read its manifest");
		if (got == 0)
			break;
		n += (size_t)got;
	}
	return r < 0 ? r : manifest_parse(text, n, ret_manifest, err);
}

int
artifacts_check_dir(int dir_fd, const char *key, size_t digits, struct err *err)
{
	struct manifest manifest = { 0 };
	struct stat st;
	int r;

	if (fstat(dir_fd, &st) < 0)
		return fail_errno(err, "stat it");
	r = artifacts_check_owner(&st, "it", err);
	if (r < 0)
		return r;
	r = read_manifest(dir_fd, &manifest, err);
	if (r < 0)
		return r;
	if (strncmp(manifest.key, key, digits) != 0)
		return fail(err, ESTALE, "its manifest is for another build");
	for (size_t i = 0; i < MANIFEST_FILES; i++) {
		r = check_file(
		    dir_fd, manifest_names[i], &manifest.files[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Is there a directory named like a key, whichever? */
static bool
holds_any_key(const char *place)
{
	DIR *dir = opendir(place);
	const struct dirent *entry;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)) != NULL)
		found = strlen(entry->d_name) == KEY_LEN &&
			strspn(entry->d_name, "0123456789abcdef") == KEY_LEN;
	(void)closedir(dir);
	return found;
}

int
artifacts_check(const char *place, const char *key,
    struct artifacts *ret_artifacts, struct err *err)
{
	struct err why = { 0 };
	char path[PATH_MAX];
	own_fd int fd = -1;
	int n = snprintf(path, sizeof(path), "%s/%s", place, key);

	if (n < 0 || n >= PATH_MAX)
		return fail(err, ENAMETOOLONG, "%.100s is too long", place);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && holds_any_key(place))
		return fail(err, ESTALE,
		    "%.150s is for another build or machine", place);
	if (fd < 0 && errno == ENOENT)
		return fail(err, ENOENT, "%.150s holds no guest", place);
	if (fd < 0)
		return fail_errno(err, "open %.150s", path);
	if (artifacts_check_dir(fd, key, KEY_LEN, &why) < 0)
		return fail(err, ESTALE, "%.120s/%.8s...: %.100s", place, key,
		    why.text);
	memcpy(ret_artifacts->dir, path, (size_t)n + 1);
	memcpy(ret_artifacts->key, key, KEY_LEN + 1);
	return 0;
}
