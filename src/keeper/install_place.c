/* install_place.c: the directory that holds the artifacts. Nothing is seen
 * under a key's name before it is whole: it is made beside and renamed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/install_place.h"

#include "base/own.h"
#include "conf/artifacts.h"
#include "conf/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_LEN      64u
#define STAGING_MARK ".partial."
#define OPEN_FILES   16 /* descriptors that nftw may use */
#define FILE_MODE    0644
#define DIR_MODE     0755

/* mkdir -p, private to the user where it makes something. */
static int
make_dirs(const char *dir, struct err *err)
{
	char path[PATH_MAX];
	size_t n = strlen(dir);

	if (n == 0 || n >= sizeof(path))
		return fail(
		    err, ENAMETOOLONG, "the directory's name is too long");
	memcpy(path, dir, n + 1);
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		path[i] = '\0';
		if (mkdir(path, S_IRWXU) < 0 && errno != EEXIST)
			return fail_errno(err, "make %.200s", path);
		path[i] = dir[i];
	}
	return 0;
}

int
place_open(
    const char *dir, const char *key, struct place *ret_place, struct err *err)
{
	int r = make_dirs(dir, err);

	if (r < 0)
		return r;
	*ret_place = (struct place){ .lock = -1 };
	/* Mapped files are known by the one true spelling of their path. */
	if (!realpath(dir, ret_place->dir))
		return fail_errno(err, "find %.200s", dir);
	memcpy(ret_place->key, key, KEY_LEN + 1);
	return 0;
}

static int
join(
    char ret_path[PATH_MAX], const char *dir, const char *name, struct err *err)
{
	int n = snprintf(ret_path, PATH_MAX, "%s/%s", dir, name);

	return n < 0 || n >= PATH_MAX
		   ? fail(err, ENAMETOOLONG, "%.100s/%.80s is too long", dir,
			 name)
		   : 0;
}

int
place_lock(struct place *place, bool wait, struct err *err)
{
	char path[PATH_MAX];
	own_fd int fd = -1;
	int r = join(path, place->dir, "lock", err);

	if (r < 0)
		return r;
	fd = open(
	    path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
	if (fd < 0)
		return fail_errno(err, "open %.200s", path);
	while (flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB)) < 0)
		if (errno != EINTR)
			return fail_errno(err, "lock %.200s", path);
	place->lock = give_fd(&fd);
	return 0;
}

static int
remove_entry(
    const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	(void)remove(path);
	return 0;
}

static void
remove_tree(const char *path)
{
	(void)nftw(path, remove_entry, OPEN_FILES, FTW_DEPTH | FTW_PHYS);
}

int
place_stage(struct place *place, struct err *err)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s" STAGING_MARK "%ld",
	    place->dir, place->key, (long)getpid());

	if (n < 0 || n >= PATH_MAX)
		return fail(
		    err, ENAMETOOLONG, "%.100s is too long", place->dir);
	if (mkdir(path, S_IRWXU) < 0)
		return fail_errno(err, "make %.200s", path);
	memcpy(place->staging, path, (size_t)n + 1);
	return 0;
}

int
place_path(const struct place *place, const char *name, char ret_path[PATH_MAX],
    struct err *err)
{
	return join(ret_path, place->staging, name, err);
}

/* Readable by all, as it holds no secret: a room that root started runs as
 * another user. And on the disk. */
static int
settle_file(int dir_fd, const char *name, struct err *err)
{
	own_fd int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return fail_errno(err, "open %s", name);
	if (fchmod(fd, FILE_MODE) < 0)
		return fail_errno(err, "change the mode of %s", name);
	return fsync(fd) < 0 ? fail_errno(err, "write %s", name) : 0;
}

static int
write_manifest(int dir_fd, const char *key, struct err *err)
{
	struct manifest manifest;
	char text[MANIFEST_MAX];
	own_fd int fd = -1;
	size_t n;
	int r = manifest_make(dir_fd, key, &manifest, err);

	if (r < 0)
		return r;
	fd = openat(dir_fd, ARTIFACT_MANIFEST,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
	if (fd < 0)
		return fail_errno(err, "make the manifest");
	/* Whatever the umask is. */
	if (fchmod(fd, FILE_MODE) < 0)
		return fail_errno(err, "change the mode of the manifest");
	n = manifest_format(&manifest, text);
	r = fd_write_all(fd, text, n);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	return r < 0 ? fail(err, -r, "write the manifest: %s", strerror(-r))
		     : 0;
}

/* Puts from where to is; what was at to, if anything, ends up removed. */
static int
put_in_place(const char *from, const char *to, struct err *err)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) {
		remove_tree(from);
		return 0;
	}
	/* A file system without these two leaves a moment without any. */
	remove_tree(to);
	return rename(from, to) < 0 ? fail_errno(err, "rename to %.200s", to)
				    : 0;
}

int
place_publish(struct place *place, struct err *err)
{
	char path[PATH_MAX];
	own_fd int fd =
	    open(place->staging, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	own_fd int parent =
	    open(place->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = join(path, place->dir, place->key, err);

	if (r < 0)
		return r;
	if (fd < 0 || parent < 0)
		return fail_errno(err, "open %.200s", place->staging);
	for (size_t i = 0; r == 0 && i < MANIFEST_FILES; i++)
		r = settle_file(fd, manifest_names[i], err);
	if (r == 0)
		r = write_manifest(fd, place->key, err);
	if (r == 0 && (fchmod(fd, DIR_MODE) < 0 || fsync(fd) < 0))
		r = fail_errno(err, "write %.200s", place->staging);
	if (r == 0)
		r = put_in_place(place->staging, path, err);
	if (r < 0)
		return r;
	place->staging[0] = '\0';
	/* Without it a power cut may lose the name, not make a broken one. */
	(void)fsync(parent);
	return 0;
}

static bool
is_key(const char *name)
{
	return strspn(name, "0123456789abcdef") == KEY_LEN &&
	       name[KEY_LEN] == '\0';
}

static bool
is_staging(const char *name)
{
	return strspn(name, "0123456789abcdef") == KEY_LEN &&
	       strncmp(name + KEY_LEN, STAGING_MARK, strlen(STAGING_MARK)) == 0;
}

/* A server holds the artifacts that it runs from with a shared lock. */
static void
remove_unheld(const char *path)
{
	own_fd int fd =
	    open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		remove_tree(path);
}

static void
sweep(const struct place *place, bool (*is_swept)(const char *name),
    void (*remove_one)(const char *path))
{
	char path[PATH_MAX];
	DIR *dir = opendir(place->dir);
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL) {
		if (!is_swept(entry->d_name) ||
		    strcmp(entry->d_name, place->key) == 0 ||
		    strcmp(entry->d_name, place->spared) == 0 ||
		    join(path, place->dir, entry->d_name, NULL) < 0 ||
		    strcmp(path, place->staging) == 0)
			continue;
		remove_one(path);
	}
	(void)closedir(dir);
}

void
place_sweep_staging(const struct place *place)
{
	sweep(place, is_staging, remove_tree);
}

void
place_sweep_keys(const struct place *place)
{
	sweep(place, is_key, remove_unheld);
}

void
place_close(struct place *place)
{
	if (place->staging[0] != '\0')
		remove_tree(place->staging);
	place->staging[0] = '\0';
	fd_close(place->lock);
	place->lock = -1;
}
