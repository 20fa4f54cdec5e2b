/* watcher.c: the watcher, seen from the server.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/watcher.h"

#include "base/fd.h"
#include "base/own.h"
#include "base/process.h"
#include "base/sys.h"
#include "conf/limits.h"
#include "server/watcher_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct watcher {
	unsigned n;
	struct buf texts[WATCHED_MAX];
	pid_t pid;
	int pidfd; /* -1: it cannot be killed, and need not be */
	int fd;    /* frames in */
	struct buf in;
	uv_poll_t poll;
	bool listens;
	void (*changed)(
	    void *arg, unsigned i, struct span text, const struct err *err);
	void *arg;
};

/* ---- the start ---- */

/* The process has no directory of its own: names become whole. */
static int
path_whole(const char *path, char *ret_path, struct err *err)
{
	char here[PATH_MAX] = "";
	int n;

	if (path[0] != '/' && !getcwd(here, sizeof(here)))
		return fail_errno(err, "the current directory");
	n = snprintf(ret_path, PATH_MAX, "%s%s%s", here,
	    path[0] == '/' ? "" : "/", path);
	return n < PATH_MAX ? 0 : fail(err, ENAMETOOLONG, "%s: too long", path);
}

static int
process_start(struct watcher *watcher, struct watch *watch, struct err *err)
{
	int ends[2];
	int r = fd_pair(ends);

	if (r < 0)
		return fail(err, -r, "socketpair: %s", strerror(-r));
	watch->parent = getpid();
	watcher->pid = fork();
	if (watcher->pid == 0) {
		watch->server = ends[1];
		watcher_main(watch);
	}
	fd_close(ends[1]);
	watcher->fd = ends[0];
	if (watcher->pid < 0)
		return fail_errno(err, "fork the watcher");
	watcher->pidfd = sys_pidfd_open(watcher->pid);
	return 0;
}

/* True if a head is one that a watcher sends. */
static bool
is_head(const struct watcher *watcher, const struct watched_head *head)
{
	return head->file < watcher->n && head->n <= WATCHED_BYTES_MAX &&
	       head->code >= 0 &&
	       (head->code == 0 || head->n < sizeof(((struct err *)0)->text));
}

/* The first look at a file. */
static int
read_first(struct watcher *watcher, struct err *err)
{
	struct watched_head head = { 0 };
	struct buf text;
	int r = fd_wait(watcher->fd, WATCH_START_MS);

	if (r == 0)
		r = fd_read_all(watcher->fd, &head, sizeof(head));
	if (r < 0 || !is_head(watcher, &head))
		return fail(err, EPIPE, "the watcher did not start");
	buf_init(&text, WATCHED_BYTES_MAX);
	if (buf_reserve(&text, head.n) < 0)
		return fail(err, ENOMEM, "no memory for a file");
	r = fd_read_all(watcher->fd, text.p, head.n);
	text.n = r == 0 ? head.n : 0;
	buf_done(&watcher->texts[head.file]);
	watcher->texts[head.file] = text;
	if (r < 0)
		return fail(err, EPIPE, "the watcher did not start");
	return head.code == 0 ? 0
			      : fail(err, head.code, "%.*s", (int)text.n,
				    (const char *)text.p);
}

int
watcher_start(const char *const *paths, unsigned n,
    struct watcher **ret_watcher, struct err *err)
{
	own_mem struct watch *watch = calloc(1, sizeof(*watch));
	struct watcher *watcher = calloc(1, sizeof(*watcher));
	int r = watch && watcher && n <= WATCHED_MAX
		    ? 0
		    : fail(err, ENOMEM, "no memory for the watcher");

	if (r < 0) {
		free(watcher);
		return r;
	}
	watcher->n = watch->n = n;
	watcher->fd = watcher->pidfd = watcher->pid = -1;
	buf_init(&watcher->in, sizeof(struct watched_head) + WATCHED_BYTES_MAX);
	for (unsigned i = 0; i < n && r == 0; i++)
		r = path_whole(paths[i], watch->paths[i], err);
	if (r == 0)
		r = process_start(watcher, watch, err);
	for (unsigned i = 0; i < n && r == 0; i++)
		r = read_first(watcher, err);
	if (r < 0)
		watcher_stop(watcher);
	else
		*ret_watcher = watcher;
	return r;
}

struct span
watcher_text(const struct watcher *watcher, unsigned i)
{
	return buf_span(&watcher->texts[i]);
}

/* ---- in the loop ---- */

static bool
is_stopped(const struct watcher *watcher)
{
	return uv_is_closing((const uv_handle_t *)&watcher->poll);
}

/* It is gone, or talks nonsense: what was read last stays in force. */
static void
lose(struct watcher *watcher)
{
	struct err err;

	(void)uv_poll_stop(&watcher->poll);
	(void)fail(&err, EPIPE,
	    "the watcher is gone: changes are not seen any more, start the "
	    "server again");
	for (unsigned i = 0; i < watcher->n && !is_stopped(watcher); i++)
		watcher->changed(
		    watcher->arg, i, (struct span){ NULL, 0 }, &err);
}

/* Hands over a whole frame at the front. False: there is none yet. */
static bool
take_frame(struct watcher *watcher, bool *ret_broken)
{
	struct buf *in = &watcher->in;
	struct watched_head head;
	struct span text;
	struct err err;

	if (in->n < sizeof(head))
		return false;
	memcpy(&head, in->p, sizeof(head));
	if (!is_head(watcher, &head)) {
		*ret_broken = true;
		return false;
	}
	if (in->n < sizeof(head) + head.n)
		return false;
	text = (struct span){ in->p + sizeof(head), head.n };
	if (head.code != 0) {
		(void)fail(
		    &err, head.code, "%.*s", (int)text.n, (const char *)text.p);
		text = (struct span){ NULL, 0 };
	}
	watcher->changed(
	    watcher->arg, head.file, text, head.code ? &err : NULL);
	buf_drop(in, sizeof(head) + head.n);
	return true;
}

static void
on_readable(uv_poll_t *poll, int status, int events)
{
	struct watcher *watcher = poll->data;
	size_t room = watcher->in.max - watcher->in.n;
	bool broken = status < 0;
	ssize_t got;

	(void)events;
	if (room > 64u * KIB)
		room = 64u * KIB;
	if (buf_reserve(&watcher->in, room) < 0)
		return; /* memory short for a moment */
	got = recv(
	    watcher->fd, watcher->in.p + watcher->in.n, room, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0)
		watcher->in.n += (size_t)got;
	while (!is_stopped(watcher) && take_frame(watcher, &broken))
		;
	if (watcher->in.n == 0)
		buf_done(&watcher->in); /* it is seldom needed */
	if (!is_stopped(watcher) && (got <= 0 || broken))
		lose(watcher);
}

int
watcher_listen(struct watcher *watcher, uv_loop_t *loop,
    void (*changed)(
	void *arg, unsigned i, struct span text, const struct err *err),
    void *arg)
{
	int r = fd_set_nonblocking(watcher->fd, true);

	for (unsigned i = 0; i < watcher->n; i++)
		buf_done(&watcher->texts[i]);
	watcher->changed = changed;
	watcher->arg = arg;
	if (r == 0)
		r = uv_poll_init(loop, &watcher->poll, watcher->fd);
	if (r < 0)
		return r;
	watcher->listens = true;
	watcher->poll.data = watcher;
	return uv_poll_start(&watcher->poll, UV_READABLE, on_readable);
}

/* ---- the end ---- */

static void
watcher_free(struct watcher *watcher)
{
	for (unsigned i = 0; i < watcher->n; i++)
		buf_done(&watcher->texts[i]);
	buf_done(&watcher->in);
	free(watcher);
}

static void
on_closed(uv_handle_t *handle)
{
	watcher_free(handle->data);
}

void
watcher_stop(struct watcher *watcher)
{
	if (!watcher)
		return;
	/* Before its descriptor is closed, or the loop would poll another. */
	if (watcher->listens)
		uv_close((uv_handle_t *)&watcher->poll, on_closed);
	fd_close(watcher->fd);
	/* It looks for its end only between two looks at files. */
	if (watcher->pid > 0)
		process_end(watcher->pid, watcher->pidfd, LAUNCH_END_MS);
	fd_close(watcher->pidfd);
	if (!watcher->listens)
		watcher_free(watcher);
}
