/* channel.c: frames over a non-blocking socket.
 * Hostile input: what a child sends.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/channel.h"

#include "base/err.h"
#include "base/fd.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PENDING_MAX (CHANNEL_FDS_MAX * sizeof(struct pending_fd))
#define READ_STEP   65536u /* bytes asked of the socket at once */

union fd_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * WIRE_FDS_MAX)];
};

/* Of a peer that is named, and may have descriptors. */
union any_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(struct ucred)) +
		   CMSG_SPACE(sizeof(int) * WIRE_FDS_MAX)];
};

static struct pending_fd *
pending(const struct buf *fds)
{
	return (struct pending_fd *)(void *)fds->p;
}

static unsigned
pending_n(const struct buf *fds)
{
	return (unsigned)(fds->n / sizeof(struct pending_fd));
}

/* Takes fd, in any case. 0; -errno: it is closed. */
static int
pending_add(struct buf *fds, int fd, size_t at)
{
	struct pending_fd one = { fd, at };
	int r = buf_add(fds, &one, sizeof(one));

	if (r < 0)
		fd_close(fd);
	return r;
}

/* Forgets the first n; `moved` bytes are gone from the front of the bytes. */
static void
pending_drop(struct buf *fds, unsigned n, size_t moved)
{
	buf_drop(fds, n * sizeof(struct pending_fd));
	for (unsigned i = 0; i < pending_n(fds); i++)
		pending(fds)[i].at -= moved;
}

static void
pending_done(struct buf *fds)
{
	for (unsigned i = 0; i < pending_n(fds); i++)
		fd_close(pending(fds)[i].fd);
	buf_done(fds);
}

void
channel_init(struct channel *channel, int fd, uint32_t allowed, size_t in_max,
    size_t out_max)
{
	memset(channel, 0, sizeof(*channel));
	channel->fd = fd;
	channel->allowed = allowed;
	for (unsigned type = 1; type < FRAME_TYPES; type++)
		if (allowed & 1u << type && wire_fds((enum frame_type)type))
			channel->takes_fds = true;
	buf_init(&channel->in, in_max);
	buf_init(&channel->out, out_max);
	buf_init(&channel->in_fds, PENDING_MAX);
	buf_init(&channel->out_fds, PENDING_MAX);
	(void)fd_set_nonblocking(fd, true);
}

int
channel_name_peer(struct channel *channel)
{
	const int on = 1;

	if (setsockopt(channel->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) <
	    0)
		return -errno;
	channel->names_peer = true;
	return 0;
}

void
channel_done(struct channel *channel)
{
	pending_done(&channel->in_fds);
	pending_done(&channel->out_fds);
	buf_done(&channel->in);
	buf_done(&channel->out);
	fd_close(channel->fd);
	channel->fd = -1;
}

bool
channel_waiting(const struct channel *channel)
{
	return channel->out.n > 0;
}

/* Undoes a frame that could not be queued whole: it began at `at`, and the
 * first `taken` of its descriptors are among the pending ones or closed. */
static void
cargo_refuse(struct channel *channel, const struct cargo *cargo, unsigned taken,
    size_t at)
{
	struct buf *fds = &channel->out_fds;

	while (
	    pending_n(fds) > 0 && pending(fds)[pending_n(fds) - 1].at == at) {
		fd_close(pending(fds)[pending_n(fds) - 1].fd);
		fds->n -= sizeof(struct pending_fd);
	}
	for (unsigned i = taken; i < cargo->fds_n; i++)
		fd_close(cargo->fds[i]);
	if (channel->out.n > at)
		channel->out.n = at;
}

int
channel_put(struct channel *channel, enum frame_type type, const void *record,
    size_t n, const struct cargo *cargo)
{
	size_t at = channel->out.n;
	int r = wire_put(&channel->out, type, record, n, cargo->tails);
	unsigned taken = 0;

	while (r == 0 && taken < cargo->fds_n)
		r = pending_add(&channel->out_fds, cargo->fds[taken++], at);
	if (r < 0) {
		cargo_refuse(channel, cargo, taken, at);
		return r;
	}
	/* wire_put promised all descriptors of the type; say what comes. */
	channel->out.p[at + offsetof(struct wire_header, fds)] =
	    (uint8_t)cargo->fds_n;
	return channel_flush(channel);
}

int
channel_say(
    struct channel *channel, enum frame_type type, const void *record, size_t n)
{
	static const struct cargo none;

	return channel_put(channel, type, record, n, &none);
}

/* The descriptors that go with the frame at the front, into message; how many
 * bytes may be sent is *ret_n. A frame with descriptors goes alone: the
 * receiver knows only that they came with the last of some bytes. */
static unsigned
attach_fds(struct channel *channel, struct msghdr *message,
    union fd_control *control, size_t *ret_n)
{
	int fds[WIRE_FDS_MAX];
	unsigned n = 0;
	struct wire_header frame;
	struct cmsghdr *header;

	while (n < pending_n(&channel->out_fds) && n < WIRE_FDS_MAX &&
	       pending(&channel->out_fds)[n].at == 0) {
		fds[n] = pending(&channel->out_fds)[n].fd;
		n++;
	}
	*ret_n = n < pending_n(&channel->out_fds)
		     ? pending(&channel->out_fds)[n].at
		     : channel->out.n;
	if (n == 0)
		return 0;
	memcpy(&frame, channel->out.p, sizeof(frame));
	*ret_n = sizeof(frame) + frame.n;
	memset(control, 0, sizeof(*control));
	message->msg_control = control->bytes;
	message->msg_controllen = CMSG_SPACE(sizeof(int) * n);
	header = CMSG_FIRSTHDR(message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int) * n);
	memcpy(CMSG_DATA(header), fds, sizeof(int) * n);
	return n;
}

static void
forget_sent(struct channel *channel, size_t sent, unsigned fds_n)
{
	for (unsigned i = 0; i < fds_n; i++)
		fd_close(pending(&channel->out_fds)[i].fd);
	pending_drop(&channel->out_fds, fds_n, sent);
	buf_drop(&channel->out, sent);
}

/* Lacks of the kernel's that pass. */
static bool
kernel_is_short(int code)
{
	return code == ENOBUFS || code == ENOMEM || code == ETOOMANYREFS;
}

int
channel_flush(struct channel *channel)
{
	while (channel->out.n > 0) {
		union fd_control control;
		struct iovec part = { .iov_base = channel->out.p };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
		unsigned fds_n =
		    attach_fds(channel, &message, &control, &part.iov_len);
		ssize_t sent = sendmsg(channel->fd, &message, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && errno == EAGAIN)
			return 0; /* later, when the socket takes more */
		if (sent < 0 && kernel_is_short(errno)) {
			/* Later too, and it cannot be polled for. */
			(void)poll(NULL, 0, 1);
			return 0;
		}
		if (sent < 0)
			return -errno;
		forget_sent(channel, (size_t)sent, fds_n);
	}
	return 0;
}

/* Takes the descriptors that came with the byte at `at`. */
static void
keep_fds(struct channel *channel, struct msghdr *message, size_t at)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);

	for (; header; header = CMSG_NXTHDR(message, header)) {
		size_t n = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (header->cmsg_level != SOL_SOCKET ||
		    header->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(header) + i * sizeof(int),
			    sizeof(fd));
			(void)pending_add(&channel->in_fds, fd, at);
		}
	}
}

static void
keep_peer(struct channel *channel, struct msghdr *message)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	struct ucred peer;

	for (; header; header = CMSG_NXTHDR(message, header)) {
		if (header->cmsg_level != SOL_SOCKET ||
		    header->cmsg_type != SCM_CREDENTIALS ||
		    header->cmsg_len < CMSG_LEN(sizeof(peer)))
			continue;
		memcpy(&peer, CMSG_DATA(header), sizeof(peer));
		channel->peer = peer.pid;
	}
}

/* Room for what may come beside the bytes, no more: the kernel then drops
 * descriptors that a peer which has none to give would park here. */
static void
control_set(const struct channel *channel, struct msghdr *message,
    union any_control *control)
{
	size_t n =
	    channel->takes_fds ? CMSG_SPACE(sizeof(int) * WIRE_FDS_MAX) : 0;

	if (channel->names_peer)
		n += CMSG_SPACE(sizeof(struct ucred));
	message->msg_control = n > 0 ? control->bytes : NULL;
	message->msg_controllen = n;
}

int
channel_read(struct channel *channel, struct err *err)
{
	for (;;) {
		union any_control control;
		struct iovec part;
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
		size_t room = channel->in.max - channel->in.n;
		ssize_t got;

		if (room == 0)
			return 0; /* take frames out first */
		if (buf_reserve(
			&channel->in, room < READ_STEP ? room : READ_STEP) < 0)
			return fail(err, ENOMEM, "no memory for a frame");
		part.iov_base = channel->in.p + channel->in.n;
		part.iov_len = channel->in.cap - channel->in.n;
		control_set(channel, &message, &control);
		got = recvmsg(channel->fd, &message, MSG_CMSG_CLOEXEC);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got < 0 &&
		    errno != ECONNRESET) /* an end with unread bytes */
			return fail_errno(err, "receive a frame");
		if (got <= 0)
			return fail(err, EPIPE, "the peer is gone");
		if (!channel->takes_fds && message.msg_flags & MSG_CTRUNC)
			return fail(err, EPROTO, "descriptors out of turn");
		channel->in.n += (size_t)got;
		if (channel->takes_fds)
			keep_fds(channel, &message, channel->in.n - 1);
		if (channel->names_peer)
			keep_peer(channel, &message);
		/* All there was, or all before the next descriptors: whoever
		 * polls is told of the rest. */
		if ((size_t)got < part.iov_len)
			return 0;
	}
}

/* Takes out the descriptors that came within the first n bytes: up to count
 * of them go to ret_fds, others belong to nothing. */
static void
take_fds(struct channel *channel, size_t n, unsigned count,
    int ret_fds[WIRE_FDS_MAX])
{
	struct buf *fds = &channel->in_fds;
	unsigned taken = 0;

	while (taken < pending_n(fds) && pending(fds)[taken].at < n) {
		if (taken < count)
			ret_fds[taken] = pending(fds)[taken].fd;
		else
			fd_close(pending(fds)[taken].fd);
		taken++;
	}
	pending_drop(fds, taken, 0);
}

int
channel_next(struct channel *channel, struct frame *ret_frame,
    int ret_fds[WIRE_FDS_MAX], struct err *err)
{
	size_t n;
	int r = wire_next(
	    buf_span(&channel->in), channel->allowed, ret_frame, &n, err);

	for (unsigned i = 0; i < WIRE_FDS_MAX; i++)
		ret_fds[i] = -1;
	if (r > 0)
		take_fds(channel, n, ret_frame->fds, ret_fds);
	return r;
}

void
channel_pop(struct channel *channel, const struct frame *frame)
{
	size_t n = sizeof(struct wire_header) + frame->payload.n;

	buf_drop(&channel->in, n);
	pending_drop(&channel->in_fds, 0, n);
}
