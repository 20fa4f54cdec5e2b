/* saver_main.c: the saver's process. It writes what it is sent below one
 * directory.
 * Hostile input: names, sizes and bytes: from a server that has met a call.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/saver_impl.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/own.h"
#include "base/process.h"
#include "call/file_name.h"
#include "conf/limits.h"
#include "walls/promise.h"
#include "walls/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_LOST 1
#define CHUNK     65536u
#define TMP_TRIES 100u

/* What a file is written under until it is whole. */
#define TMP_NAME_MAX 32u

/* ---- the place ---- */

/* Opens the directory that name's last part is in, and makes what is missing of
 * it; a link on the way is none. *ret_last is that part. */
static int
dir_of(int top, char *name, const char **ret_last, struct err *err)
{
	int dir = fcntl(top, F_DUPFD_CLOEXEC, 0);
	char *slash;

	while (dir >= 0 && (slash = strchr(name, '/')) != NULL) {
		int below;

		*slash = '\0';
		if (mkdirat(dir, name, 0777) < 0 && errno != EEXIST) {
			int r =
			    fail_errno(err, "make the directory %.150s", name);

			fd_close(dir);
			return r;
		}
		below = openat(
		    dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		fd_close(dir);
		dir = below;
		if (dir < 0)
			return fail_errno(
			    err, "open the directory %.150s", name);
		name = slash + 1;
	}
	*ret_last = name;
	return dir < 0 ? fail_errno(err, "open the directory") : dir;
}

/* Only what is no file of somebody's, or a regular one, may be replaced. */
static int
place_check(int dir, const char *last, struct err *err)
{
	struct stat there;

	if (fstatat(dir, last, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fail_errno(err, "look at it");
	if (!S_ISREG(there.st_mode))
		return fail(err, EEXIST,
		    "something that is no regular file has its name");
	return 0;
}

static int
tmp_make(int dir, char name[TMP_NAME_MAX], struct err *err)
{
	for (unsigned i = 0; i < TMP_TRIES; i++) {
		int fd;

		(void)snprintf(
		    name, TMP_NAME_MAX, ".breakroom-%d-%u", (int)getpid(), i);
		fd = openat(dir, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			break;
	}
	return fail_errno(err, "make a file");
}

/* ---- a file ---- */

/* Takes n bytes from the server, in any case, and writes them while that
 * works. 0, -errno of the writing; -EPIPE: the server is gone. */
static int
copy_bytes(int server, uint32_t n, int fd)
{
	int r = fd < 0 ? -EBADF : 0;

	while (n > 0) {
		uint8_t chunk[CHUNK];
		uint32_t part = n < sizeof(chunk) ? n : sizeof(chunk);

		if (fd_read_all(server, chunk, part) < 0)
			return -EPIPE;
		if (r == 0)
			r = fd_write_all(fd, chunk, part);
		n -= part;
	}
	return r;
}

static int
write_in(int server, int dir, const char *last, uint32_t n, struct err *err)
{
	char tmp[TMP_NAME_MAX];
	int r = place_check(dir, last, err);
	own_fd int fd = r < 0 ? -1 : tmp_make(dir, tmp, err);
	int copied = copy_bytes(server, n, fd);

	if (copied == -EPIPE)
		r = copied;
	else if (fd < 0)
		return -err->code;
	else if (copied < 0)
		r = fail(err, -copied, "write it: %s", strerror(-copied));
	if (r == 0 && renameat(dir, tmp, dir, last) < 0)
		r = fail_errno(err, "name it");
	if (r < 0 && fd >= 0)
		(void)unlinkat(dir, tmp, 0);
	return r;
}

static int
save(const struct saving *saving, char *name, uint32_t bytes_n, struct err *err)
{
	struct span whole = span_of(name);
	const char *last = name;
	own_fd int dir = -1;

	if (file_name_is_plain(whole))
		dir = dir_of(saving->dir, name, &last, err);
	else
		(void)fail(err, EINVAL, "its name leads elsewhere");
	if (dir >= 0)
		return write_in(saving->server, dir, last, bytes_n, err);
	if (copy_bytes(saving->server, bytes_n, -1) == -EPIPE)
		return -EPIPE;
	return -err->code;
}

/* The next file. -EPIPE at the end, or when what comes is not from a server of
 * ours. */
static int
serve_one(const struct saving *saving, uint64_t *left)
{
	char name[FILE_NAME_SHOWN_MAX];
	struct saver_head head;
	struct err err = { 0 };

	if (fd_read_all(saving->server, &head, sizeof(head)) < 0 ||
	    head.name_n >= sizeof(name) || head.bytes_n > SAVER_FILE_MAX ||
	    head.bytes_n > *left ||
	    fd_read_all(saving->server, name, head.name_n) < 0)
		return -EPIPE;
	name[head.name_n] = '\0';
	*left -= head.bytes_n;
	if (strlen(name) != head.name_n)
		return -EPIPE;
	if (save(saving, name, head.bytes_n, &err) == -EPIPE)
		return -EPIPE;
	return fd_send_all(saving->server, &err, sizeof(err));
}

/* ---- the process ---- */

static void
raise_walls(int dir)
{
	char names[WALL_NAMES_MAX];
	wall_set missing;

	promise_saver(dir, &missing);
	if (missing) {
		wall_names(missing, names);
		log_info("event=saver_walls missing=%s", names);
	}
}

void
saver_main(const struct saving *saving)
{
	const int kept[] = { saving->server, saving->dir };
	uint64_t left = SAVER_BYTES_MAX;
	struct err err;

	(void)setsid(); /* signals of the server's terminal are the server's */
	(void)prctl(PR_SET_NAME, "saver");
	if (wall_parent(saving->parent, &err) < 0 ||
	    process_keep_only(kept, 2) < 0)
		_exit(EXIT_LOST);
	raise_walls(saving->dir);
	for (unsigned i = 0; i < SAVER_FILES_MAX; i++)
		if (serve_one(saving, &left) < 0)
			break;
	_exit(0);
}
