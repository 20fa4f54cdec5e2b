/* watcher.h: a process that reads a few files for the server, which may open
 * none, and hands them over again when they change. It reads nothing of a
 * client's.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_WATCHER_H
#define SERVER_WATCHER_H

#include "base/buf.h"
#include "base/err.h"

#include <uv.h>

#define WATCHED_MAX 4

struct watcher;

/* Forks the process, which reads each of the n paths once: all must be
 * readable, or -errno names the one that is not. Before the loop, as early as
 * the launcher. */
int watcher_start(const char *const *paths, unsigned n,
    struct watcher **ret_watcher, struct err *err);

/* The contents at the start; borrowed until watcher_listen. */
struct span watcher_text(const struct watcher *watcher, unsigned i);

/* From now on, changed is called from the loop with each new content of file
 * i; and with err (text is empty) when it cannot be read any more. */
int watcher_listen(struct watcher *watcher, uv_loop_t *loop,
    void (*changed)(
	void *arg, unsigned i, struct span text, const struct err *err),
    void *arg);

/* Ends the process, waits for it, and frees the watcher when the loop has run.
 * NULL is fine. */
void watcher_stop(struct watcher *watcher);

#endif
