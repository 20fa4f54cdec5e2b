/* fd_pass.h: a few bytes with descriptors beside them, over a blocking stream
 * socket. For peers that take turns; frames travel over call/channel.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FD_PASS_H
#define BASE_FD_PASS_H

#include <stddef.h>

#define FD_PASS_MAX 3 /* descriptors of one message */

/* Sends n bytes, few enough to go at once, and copies of the fds. 0 or
 * -errno. */
int fd_send_with(
    int socket, const void *bytes, size_t n, const int *fds, unsigned fds_n);

/* Receives n bytes that were sent so. Descriptors that did not come, or for
 * which there was no number, are -1 in ret_fds; the others are the caller's. 0;
 * -EPIPE at the peer's end; -EPROTO: fewer bytes; -errno. */
int fd_receive_with(
    int socket, void *bytes, size_t n, int *ret_fds, unsigned fds_n);

#endif
