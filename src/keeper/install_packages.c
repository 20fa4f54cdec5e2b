/* install_packages.c: packages that are added to an installation. Wheels are
 * told from others by digest: what pip fetched is what is packed, now and when
 * another version of us packs them again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/install_packages.h"

#include "base/own.h"
#include "keeper/fetch_wheels.h"
#include "keeper/install_source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PYTHON     "python3"
#define NO_PROGRAM 127 /* as a shell says it */

static int
join(char ret_path[PATH_MAX], const char *dir, const char *name,
    const char *end, struct err *err)
{
	int n = snprintf(ret_path, PATH_MAX, "%s/%s%s", dir, name, end);

	return n < 0 || n >= PATH_MAX
		   ? fail(err, ENAMETOOLONG, "%.100s is too long", dir)
		   : 0;
}

struct packages *
packages_open(const char *place, struct err *err)
{
	own_mem struct packages *packages = calloc(1, sizeof(*packages));

	if (!packages) {
		(void)fail(err, ENOMEM, "no memory");
		return NULL;
	}
	if (join(packages->lock, place, PACKAGES_LOCK, "", err) < 0 ||
	    join(packages->wheels, place, PACKAGES_WHEELS, "", err) < 0 ||
	    package_list_read(packages->lock, &packages->list, err) < 0)
		return NULL;
	return give_ptr(&packages);
}

void
packages_free(struct packages *packages)
{
	free(packages);
}

/* ---- fetching ---- */

static _Noreturn void
be_python(const struct conf_list *wanted, const char *about, const char *folder)
{
	const char *argv[CONF_LIST_MAX + 6] = { PYTHON, "-c",
		(const char *)fetch_wheels, folder, about };

	for (unsigned i = 0; i < wanted->n; i++)
		argv[5 + i] = wanted->items[i];
	(void)execvp(PYTHON, (char *const *)argv);
	_exit(NO_PROGRAM);
}

int
packages_fetch(const struct conf_list *wanted, const char *about,
    const char *folder, struct err *err)
{
	int status = 0;
	pid_t pid;

	if (mkdir(folder, S_IRWXU) < 0)
		return fail_errno(err, "make %.200s", folder);
	pid = fork();
	if (pid == 0)
		be_python(wanted, about, folder);
	if (pid < 0)
		return fail_errno(err, "fork");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return fail_errno(err, "wait for " PYTHON);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
		return fail(err, ENOENT,
		    "packages are fetched by pip, and there is no " PYTHON
		    " here: install it, with pip (Debian: python3-pip)");
	return fail(err, ENOENT, "nothing was added");
}

/* ---- keeping ---- */

/* Moves a wheel among the others; its digest was checked. */
static int
keep_wheel(const struct packages *packages, const char *from, struct err *err)
{
	char to[PATH_MAX];
	int r = join(to, packages->wheels, strrchr(from, '/') + 1, "", err);

	if (r < 0)
		return r;
	return rename(from, to) < 0 ? fail_errno(err, "keep %.200s", to) : 0;
}

int
packages_take(struct packages *packages, const char *folder, struct err *err)
{
	own_mem struct package_list *fetched = calloc(1, sizeof(*fetched));
	char path[PATH_MAX];
	int r = join(path, folder, "list", "", err);

	if (!fetched)
		return fail(err, ENOMEM, "no memory");
	if (r == 0)
		r = package_list_read(path, fetched, err);
	if (r == 0 && mkdir(packages->wheels, S_IRWXU) < 0 && errno != EEXIST)
		r = fail_errno(err, "make %.200s", packages->wheels);
	for (size_t i = 0; r == 0 && i < fetched->n; i++) {
		const struct package *package = &fetched->all[i];

		r = source_wheel(folder, package, path, err);
		if (r == 0)
			r = keep_wheel(packages, path, err);
		if (r == 0 && package_list_put(&packages->list, package) < 0)
			r = fail(
			    err, ENOSPC, "more than %u packages", PACKAGES_MAX);
	}
	if (r == 0 && join(path, folder, "list", "", err) == 0 &&
	    (unlink(path) < 0 || rmdir(folder) < 0))
		r = fail_errno(err, "remove %.200s", folder);
	return r;
}

int
packages_digest(const struct packages *packages, char ret_digest[65])
{
	own_buf struct buf text = { .max = PACKAGES_LOCK_MAX };
	SHA2_CTX sha;
	int r = package_list_format(&packages->list, &text);

	if (r < 0)
		return r;
	SHA256Init(&sha);
	SHA256Update(&sha, text.p, text.n);
	(void)SHA256End(&sha, ret_digest);
	return 0;
}

/* Is the file one of the list's? */
static bool
is_named(const struct packages *packages, const char *file_name)
{
	char name[PACKAGE_NAME_MAX + PACKAGE_VERSION_MAX + 8];

	for (size_t i = 0; i < packages->list.n; i++) {
		(void)snprintf(name, sizeof(name), "%s-%s.whl",
		    packages->list.all[i].name, packages->list.all[i].version);
		if (strcmp(name, file_name) == 0)
			return true;
	}
	return false;
}

static void
sweep_wheels(const struct packages *packages)
{
	DIR *dir = opendir(packages->wheels);
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' &&
		    !is_named(packages, entry->d_name))
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	(void)closedir(dir);
}

int
packages_keep(const struct packages *packages, struct err *err)
{
	own_buf struct buf text = { .max = PACKAGES_LOCK_MAX };
	char part[PATH_MAX];
	own_fd int fd = -1;
	int r = join(part, packages->wheels, "list", "", err);

	if (r == 0 && package_list_format(&packages->list, &text) < 0)
		r = fail(err, ENOMEM, "the list of packages is too long");
	if (r < 0)
		return r;
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
	    S_IRUSR | S_IWUSR);
	/* Whatever the umask is: it holds no secret, and rooms of root's run
	 * as another user. */
	if (fd < 0 || fchmod(fd, 0644) < 0)
		return fail_errno(err, "make %.200s", part);
	r = fd_write_all(fd, text.p, text.n);
	if (r < 0)
		return fail(err, -r, "write %.150s: %s", part, strerror(-r));
	if (fsync(fd) < 0 || rename(part, packages->lock) < 0)
		return fail_errno(err, "write %.200s", packages->lock);
	sweep_wheels(packages);
	return 0;
}
