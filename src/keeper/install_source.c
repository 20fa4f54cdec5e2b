/* install_source.c: finds the guest's files and checks their digests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/install_source.h"

#include "base/own.h"
#include "conf/guest_pin.h"
#include "conf/manifest.h"
#include "conf/paths.h"
#include "conf/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Both files in dir. 0; -ENOENT if one is not there, -errno. */
static int
look_in(const char *dir, struct source *ret_source, struct err *err)
{
	char wasm[PATH_MAX];
	char stdlib[PATH_MAX];
	int n = snprintf(wasm, sizeof(wasm), "%s/" GUEST_WASM_NAME, dir);
	int m = snprintf(stdlib, sizeof(stdlib), "%s/" GUEST_STDLIB_NAME, dir);

	if (n < 0 || m < 0 || n >= PATH_MAX || m >= PATH_MAX)
		return fail(err, ENAMETOOLONG, "%.100s is too long", dir);
	if (access(wasm, R_OK) < 0)
		return fail_errno(err, "open %.200s", wasm);
	if (access(stdlib, R_OK) < 0)
		return fail_errno(err, "open %.200s", stdlib);
	memcpy(ret_source->wasm, wasm, (size_t)n + 1);
	memcpy(ret_source->stdlib, stdlib, (size_t)m + 1);
	n = snprintf(ret_source->shelf, PATH_MAX, "%s/shelf", dir);
	return n >= PATH_MAX
		   ? fail(err, ENAMETOOLONG, "%.100s is too long", dir)
		   : 0;
}

/* The directory of the program, then name. */
static int
beside_program(const char *name, char ret_dir[PATH_MAX])
{
	char dir[PATH_MAX];
	int r = program_dir(dir, NULL);
	int n;

	if (r < 0)
		return r;
	n = snprintf(ret_dir, PATH_MAX, "%s/%s", dir, name);
	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int
source_find(const char *from, struct source *ret_source, struct err *err)
{
	char dir[PATH_MAX];
	char first[PATH_MAX] = "";

	if (from)
		return look_in(from, ret_source, err);
	if (beside_program("guest-files", first) == 0 &&
	    look_in(first, ret_source, NULL) == 0)
		return 0;
	if (beside_program("../share/breakroom", dir) == 0 &&
	    look_in(dir, ret_source, NULL) == 0)
		return 0;
	if (look_in(BREAKROOM_DATADIR, ret_source, NULL) == 0)
		return 0;
	return fail(err, ENOENT,
	    "the guest's files are neither in %.70s nor in " BREAKROOM_DATADIR
	    ": give their directory with --from DIR, or let \"make guest\" "
	    "fetch them",
	    first);
}

int
source_wheel(const char *dir, const struct package *package,
    char ret_path[PATH_MAX], struct err *err)
{
	int n = snprintf(ret_path, PATH_MAX, "%s/%s-%s.whl", dir, package->name,
	    package->version);

	if (n < 0 || n >= PATH_MAX)
		return fail(err, ENAMETOOLONG, "%.100s is too long", dir);
	return source_check(ret_path, package->sha256, err);
}

int
source_check(const char *path, const char *sha256, struct err *err)
{
	char digest[65] = "";
	own_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return fail_errno(err, "open %.200s", path);
	r = manifest_digest(fd, digest);
	if (r < 0)
		return fail(err, -r, "read %.200s: %s", path, strerror(-r));
	if (strcmp(digest, sha256) != 0)
		return fail(err, EBADMSG,
		    "%.120s is not the file that this version was made for: "
		    "its SHA-256 begins with %.12s, not %.12s",
		    path, digest, sha256);
	return 0;
}
