/* watcher_impl.h: what the watcher's two sides share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_WATCHER_IMPL_H
#define SERVER_WATCHER_IMPL_H

#include "base/err.h"
#include "server/watcher.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A frame from the watcher: this, then n bytes. */
struct watched_head {
	uint32_t file;
	int32_t code; /* 0: the bytes are the file's; else why it is not */
	uint32_t n;   /* then they are a sentence */
};

/* What the process looks after: whole paths, for it has no directory. */
struct watch {
	int server;
	pid_t parent;
	unsigned n;
	char paths[WATCHED_MAX][PATH_MAX];
};

/* The watcher's process: a child of the server. */
_Noreturn void watcher_main(struct watch *watch);

#endif
