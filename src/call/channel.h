/* channel.h: one end of a socket over which frames and descriptors travel
 * without blocking. Both buffers have maxima: a peer can neither fill our
 * memory nor make us wait.
 *
 * Hostile input: what a child sends. Any error of channel_read or
 * channel_next is the end of the channel.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_CHANNEL_H
#define CALL_CHANNEL_H

#include "base/buf.h"
#include "base/err.h"
#include "call/wire.h"
#include "conf/limits.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CHANNEL_FDS_MAX \
	(CONCURRENCY_MAX + 64u) /* descriptors under way in one direction */

struct pending_fd {
	int fd;
	size_t at; /* a byte of its frame, in the buf of bytes */
};

struct channel {
	int fd;           /* owned; -1 once closed */
	uint32_t allowed; /* 1u << type of each frame the peer may send */
	struct buf in, out;
	bool takes_fds; /* some frame of the peer's has descriptors */
	struct buf in_fds, out_fds; /* of struct pending_fd, in order */
	bool names_peer;
	pid_t peer; /* who sent what was read last; 0: nobody yet */
};

/* Takes fd and makes it non-blocking. in_max bounds a frame of the peer. */
void channel_init(struct channel *channel, int fd, uint32_t allowed,
    size_t in_max, size_t out_max);

/* From now on channel->peer is the sender of the bytes last read, as the kernel
 * saw it, by its number in this process's namespace. 0 or -errno. */
int channel_name_peer(struct channel *channel);

/* Closes the socket and every descriptor under way; frees the buffers. A
 * channel that is all zero but fd = -1 is fine. */
void channel_done(struct channel *channel);

/* What a frame carries behind its record. */
struct cargo {
	struct span tails[WIRE_TAILS];
	int fds[WIRE_FDS_MAX];
	unsigned fds_n;
};

/* Queues a frame and sends what the socket accepts now. Takes the cargo's
 * descriptors, in any case. 0; -errno: the peer is gone or does not read. */
int channel_put(struct channel *channel, enum frame_type type,
    const void *record, size_t n, const struct cargo *cargo);

/* channel_put without cargo. */
int channel_say(struct channel *channel, enum frame_type type,
    const void *record, size_t n);

/* Sends what the socket accepts now. 0 or -errno. */
int channel_flush(struct channel *channel);

/* True while bytes wait for the socket: poll for writing. */
bool channel_waiting(const struct channel *channel);

/* Receives what is there now. 0; -EPIPE at the peer's end; -errno. */
int channel_read(struct channel *channel, struct err *err);

/* The next whole frame received, with its descriptors (now the caller's) in
 * ret_fds; places are -1 where the frame has none, or where this process had
 * no number left for one. Call channel_pop once it is used. 1, 0 when
 * there is none yet, -EPROTO. */
int channel_next(struct channel *channel, struct frame *ret_frame,
    int ret_fds[WIRE_FDS_MAX], struct err *err);
void channel_pop(struct channel *channel, const struct frame *frame);

#endif
