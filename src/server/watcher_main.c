/* watcher_main.c: the watcher's process. It looks at a few files again and
 * again, and sends what is in them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/watcher_impl.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/own.h"
#include "base/process.h"
#include "conf/limits.h"
#include "walls/promise.h"
#include "walls/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIRS_MAX  (2 * WATCHED_MAX) /* where a path is, and where it leads */
#define EXIT_LOST 1

/* How a file was last time: another file of that name, or other contents. */
struct look {
	int code; /* 0, or the errno that it cannot be read for */
	struct stat stat;
};

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* 0 or an errno. A device or a FIFO would block, or have no end. */
static int
check_kind(const struct stat *stat)
{
	if (S_ISDIR(stat->st_mode))
		return EISDIR;
	if (!S_ISREG(stat->st_mode))
		return EINVAL;
	return stat->st_size > (off_t)WATCHED_BYTES_MAX ? EFBIG : 0;
}

static int
look_at(const char *path, struct stat *ret_stat)
{
	if (fstatat(AT_FDCWD, path, ret_stat, 0) < 0)
		return errno;
	return check_kind(ret_stat);
}

static int
read_bytes(int fd, struct buf *text)
{
	for (;;) {
		ssize_t got;

		if (text->n > WATCHED_BYTES_MAX)
			return EFBIG;
		if (buf_reserve(text, 4096) < 0)
			return ENOMEM;
		got = read(fd, text->p + text->n, 4096);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? errno : 0;
		text->n += (size_t)got;
	}
}

/* 0 or an errno; what was read is of the file that *ret_stat tells of. */
static int
read_once(const char *path, struct buf *text, struct stat *ret_stat)
{
	int code = look_at(path, ret_stat);
	own_fd int fd = -1;

	if (code)
		return code;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, ret_stat) < 0)
		return errno;
	code = check_kind(ret_stat);
	return code ? code : read_bytes(fd, text);
}

/* True if the last change may not have been the last one of its kernel tick,
 * nor the last piece of what somebody writes. */
static bool
is_fresh(const struct stat *stat)
{
	time_t since = time(NULL) - 2;

	return stat->st_ctim.tv_sec >= since || stat->st_mtim.tv_sec >= since;
}

/* Reads what did not change from some time before the reading until after it:
 * a file that is half written is neither one nor the other. 0 or an errno;
 * EAGAIN: it never stands still. */
static int
read_settled(const char *path, struct buf *text, struct stat *ret_stat)
{
	for (unsigned i = 0; i < WATCH_TRIES_MAX; i++) {
		struct stat before, after;
		int code = look_at(path, &before);

		if (code)
			return code;
		if (is_fresh(&before))
			(void)poll(NULL, 0, WATCH_SETTLE_MS);
		buf_drop(text, text->n);
		code = read_once(path, text, ret_stat);
		if (code)
			return code;
		if (is_same(&before, ret_stat) && look_at(path, &after) == 0 &&
		    is_same(ret_stat, &after))
			return 0;
	}
	return EAGAIN;
}

static const char *
sentence_of(int code)
{
	switch (code) {
	case EINVAL:
		return "not a regular file";
	case EFBIG:
		return "larger than 1 MiB";
	case EAGAIN:
		return "it changes all the time";
	default:
		return strerror(code);
	}
}

static int
send_frame(const struct watch *watch, unsigned file, int code, struct span text)
{
	struct watched_head head = { file, code, (uint32_t)text.n };
	int r = fd_send_all(watch->server, &head, sizeof(head));

	return r < 0 ? r : fd_send_all(watch->server, text.p, text.n);
}

static int
send_look(
    const struct watch *watch, unsigned file, int code, const struct buf *text)
{
	struct err err;

	if (code == 0)
		return send_frame(watch, file, 0, buf_span(text));
	(void)fail(&err, code, "%s: %s", watch->paths[file], sentence_of(code));
	return send_frame(watch, file, code, span_of(err.text));
}

/* Sends a file if it is not what it was. An error is sent once. */
static int
check_file(
    const struct watch *watch, unsigned file, bool first, struct look *look)
{
	const char *path = watch->paths[file];
	own_buf struct buf text;
	struct stat now;
	int code = look_at(path, &now);
	bool same = code == look->code && (code || is_same(&now, &look->stat));

	buf_init(&text, WATCHED_BYTES_MAX + 8192);
	if (same && !first)
		return 0;
	if (!code)
		code = read_settled(path, &text, &now);
	same = code && code == look->code;
	look->code = code;
	look->stat = now;
	/* Half written still: the next look finds another file. */
	if (code == EAGAIN)
		look->stat.st_ino = 0;
	return same && !first ? 0 : send_look(watch, file, code, &text);
}

/* Until the server is gone. */
static void
watch_loop(const struct watch *watch)
{
	struct look looks[WATCHED_MAX] = { 0 };
	int r = 0;

	for (bool first = true; r == 0; first = false) {
		for (unsigned i = 0; i < watch->n && r == 0; i++)
			r = check_file(watch, i, first, &looks[i]);
		/* Nothing is ever sent to this end: only its own end. */
		if (r == 0 && fd_wait(watch->server, WATCH_EVERY_MS) == 0)
			return;
	}
}

/* ---- before ---- */

static int
open_dir(const char *path)
{
	char dir[PATH_MAX];
	char *end;

	(void)snprintf(dir, sizeof(dir), "%s", path);
	end = strrchr(dir, '/');
	end[end == dir ? 1 : 0] = '\0';
	return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The directories that reading stays possible below. */
static unsigned
open_dirs(const struct watch *watch, int *ret_dirs)
{
	unsigned n = 0;

	for (unsigned i = 0; i < watch->n; i++) {
		own_mem char *led = realpath(watch->paths[i], NULL);
		int fd = open_dir(watch->paths[i]);

		if (fd >= 0)
			ret_dirs[n++] = fd;
		fd = led ? open_dir(led) : -1;
		if (fd >= 0)
			ret_dirs[n++] = fd;
	}
	return n;
}

static void
raise_walls(const struct watch *watch)
{
	char names[WALL_NAMES_MAX];
	int dirs[DIRS_MAX];
	unsigned n = open_dirs(watch, dirs);
	wall_set missing;

	promise_watcher(dirs, n, &missing);
	for (unsigned i = 0; i < n; i++)
		fd_close(dirs[i]);
	if (missing) {
		wall_names(missing, names);
		log_warn("event=watcher_walls missing=%s", names);
	}
}

void
watcher_main(struct watch *watch)
{
	struct err err;

	(void)setsid(); /* signals of the server's terminal are the server's */
	(void)!chdir("/");
	(void)prctl(PR_SET_NAME, "watcher");
	if (wall_parent(watch->parent, &err) < 0 ||
	    process_keep_only(&watch->server, 1) < 0)
		_exit(EXIT_LOST);
	raise_walls(watch);
	watch_loop(watch);
	_exit(0);
}
