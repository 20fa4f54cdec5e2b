/* saver_impl.h: what the saver's two sides share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_SAVER_IMPL_H
#define SERVER_SAVER_IMPL_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* A file for the saver: this, then the name's bytes, then the file's. It
 * answers with a struct err, whose code is 0 when the file is written. */
struct saver_head {
	uint32_t name_n;
	uint32_t bytes_n;
};

struct saving {
	int server;
	int dir; /* O_PATH */
	pid_t parent;
};

/* The saver's process: a child of the server. */
_Noreturn void saver_main(const struct saving *saving);

#endif
