/* fd.h: file descriptors. Every descriptor is born close-on-exec.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FD_H
#define BASE_FD_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Closes once and keeps errno. A negative fd is fine. */
void fd_close(int fd);

/* Closes all above the standard three but the n kept ones. 0 or -errno. */
int fd_close_others(const int *kept, unsigned n);

/* A connected pair of stream sockets. 0 or -errno. */
int fd_pair(int ret_fds[2]);

int fd_set_nonblocking(int fd, bool on); /* 0 or -errno */

/* Waits until fd can be read, or its peer is gone, for ms milliseconds at most.
 * 0; -ETIMEDOUT; -errno. */
int fd_wait(int fd, int ms);

/* Lets this process have as many descriptors as the hard limit gives. 0;
 * -EMFILE where that is less than needed: err names it, and or_else, another
 * way out than raising it (empty: none); -errno. */
int fd_raise_limit(unsigned needed, const char *or_else, struct err *err);

/* Whole reads and writes on a blocking descriptor; EINTR is retried. 0;
 * -errno; fd_read_all gives -EPIPE when the end comes early. */
int fd_read_all(int fd, void *bytes, size_t n);
int fd_write_all(int fd, const void *bytes, size_t n);

/* fd_write_all for a socket: a peer that is gone is -EPIPE, not a signal. */
int fd_send_all(int fd, const void *bytes, size_t n);

#endif
