/* artifacts.c: finds the artifacts of this build, and verifies them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/artifacts.h"

#include "base/own.h"
#include "conf/artifacts_check.h"
#include "conf/artifacts_dirs.h"
#include "conf/artifacts_key.h"
#include "conf/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The sentence for a start without artifacts: what to do comes last, whatever
 * the length of what comes before. */
static int
fail_to_find(enum int64 int64, const struct places *places,
    const struct err *worst, struct err *err)
{
	const char *asked = int64 == INT64_OFF ? " --int64=off" : "";

	if (worst->code)
		return fail(err, worst->code == ENOENT ? ENOENT : ESTALE,
		    "%.200s: run breakroom install%s", worst->text, asked);
	return fail(err, ENOENT,
	    "the guest is not installed in %.80s%s%.80s: "
	    "run breakroom install%s",
	    places->dir[0], places->n > 1 ? " or " : "",
	    places->n > 1 ? places->dir[1] : "", asked);
}

/* In each place. *ret_worst is untouched when there is just nothing. */
static int
find_kind(enum int64 int64, const struct places *places,
    struct artifacts *ret_artifacts, struct err *ret_worst)
{
	struct artifacts_inputs inputs;
	char key[65] = "";
	int r = -ENOENT;

	artifacts_inputs(int64, &inputs);
	for (size_t i = 0; i < places->n; i++) {
		struct err why = { 0 };

		r = artifacts_add_packages(&inputs, places->dir[i], &why);
		artifacts_key(&inputs, key);
		if (r == 0)
			r = artifacts_check(
			    places->dir[i], key, ret_artifacts, &why);
		if (r == 0)
			return 0;
		if (r != -ENOENT && !ret_worst->code)
			*ret_worst = why;
	}
	return r;
}

int
artifacts_find(
    enum int64 int64, struct artifacts *ret_artifacts, struct err *err)
{
	enum int64 other = int64 == INT64_ON ? INT64_OFF : INT64_ON;
	struct err worst = { 0 }, unused = { 0 };
	struct artifacts found;
	struct places places;
	int r = artifacts_places(&places, err);

	if (r < 0 || find_kind(int64, &places, ret_artifacts, &worst) == 0)
		return r;
	if (find_kind(other, &places, &found, &unused) == 0)
		(void)fail(&worst, ESTALE, "%.150s has --int64=%s", found.dir,
		    other == INT64_ON ? "on" : "off");
	return fail_to_find(int64, &places, &worst, err);
}

/* Is the directory that is open still the one of that name? */
static bool
is_in_place(int fd, const char *path)
{
	struct stat opened, named;

	return fstat(fd, &opened) == 0 && stat(path, &named) == 0 &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

int
artifacts_find_for(enum room_id room, enum int64 int64,
    struct artifacts *ret_artifacts, struct err *err)
{
	struct places places;
	int r;

	if (room_id_has(room, TRAIT_ARTIFACTS))
		return artifacts_find(int64, ret_artifacts, err);
	*ret_artifacts = (struct artifacts){ .dir = "" };
	r = artifacts_places(&places, err);
	for (size_t i = 0; r == 0 && i < places.n; i++) {
		char *dir = ret_artifacts->dir;
		int n = snprintf(dir, PATH_MAX, "%s/rooms/%s", places.dir[i],
		    room_id_name(room));

		if (n < PATH_MAX && access(dir, F_OK) == 0)
			return 0;
		dir[0] = '\0';
	}
	return r;
}

int
artifacts_hold(const struct artifacts *artifacts, int *ret_fd, struct err *err)
{
	own_fd int fd = open(
	    artifacts->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0)
		return fail_errno(err, "lock %.200s", artifacts->dir);
	/* Whoever removes it locks it first: from here on it stays. */
	if (fd < 0 || !is_in_place(fd, artifacts->dir))
		return fail(err, ESTALE,
		    "%.150s was just removed or replaced: "
		    "run breakroom install",
		    artifacts->dir);
	*ret_fd = give_fd(&fd);
	return 0;
}

static int
verify_file(int dir_fd, const char *name, const struct manifest_file *file,
    struct err *err)
{
	char digest[65] = "";
	own_fd int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int r;

	if (fd < 0)
		return fail_errno(err, "open %s", name);
	r = manifest_digest(fd, digest);
	if (r < 0)
		return fail(err, -r, "read %s: %s", name, strerror(-r));
	if (strcmp(digest, file->sha256) != 0)
		return fail(err, ESTALE,
		    "%s is damaged: its digest is not the manifest's: "
		    "run breakroom install",
		    name);
	return 0;
}

static int
load_manifest(int dir_fd, struct manifest *ret_manifest, struct err *err)
{
	char text[MANIFEST_MAX];
	own_fd int fd = openat(
	    dir_fd, ARTIFACT_MANIFEST, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n;

	if (fd < 0)
		return fail_errno(err, "open the manifest");
	n = read(fd, text, sizeof(text));
	if (n < 0)
		return fail_errno(err, "read the manifest");
	return manifest_parse(text, (size_t)n, ret_manifest, err);
}

int
artifacts_verify(const struct artifacts *artifacts, struct err *err)
{
	struct manifest manifest = { 0 };
	own_fd int dir_fd =
	    open(artifacts->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (dir_fd < 0)
		return fail_errno(err, "open %.200s", artifacts->dir);
	r = load_manifest(dir_fd, &manifest, err);
	for (size_t i = 0; r == 0 && i < MANIFEST_FILES; i++)
		r = verify_file(
		    dir_fd, manifest_names[i], &manifest.files[i], err);
	return r;
}
