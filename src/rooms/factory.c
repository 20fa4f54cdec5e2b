/* factory.c: asking a factory, and being asked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/factory.h"

#include "base/fd.h"
#include "base/fd_pass.h"
#include "rooms/worker.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int
factory_say(int socket_fd, const struct err *err)
{
	return fd_send_with(socket_fd, err, sizeof(*err), NULL, 0);
}

int
factory_take(int socket_fd, struct factory_request *ret_request,
    int ret_fds[FACTORY_FDS])
{
	int r = fd_receive_with(
	    socket_fd, ret_request, sizeof(*ret_request), ret_fds, FACTORY_FDS);
	bool whole = r == 0 && ret_fds[FACTORY_STREAM] >= 0 &&
		     ret_fds[FACTORY_LIFE] >= 0 &&
		     (!ret_request->procs || ret_fds[FACTORY_PROCS] >= 0);

	if (whole)
		return 0;
	for (unsigned i = 0; i < FACTORY_FDS; i++)
		fd_close(ret_fds[i]);
	return r < 0 ? r : -EPROTO;
}

void
factory_refuse(int stream_fd, const struct err *err)
{
	uint8_t frame[WORKER_HEADER + sizeof(err->text)];
	size_t n = strnlen(err->text, sizeof(err->text));

	worker_header(frame, WORKER_REFUSED, n);
	memcpy(frame + WORKER_HEADER, err->text, n);
	(void)fd_send_all(stream_fd, frame, WORKER_HEADER + n);
}

int
factory_hand_pidfd(int stream_fd, int pidfd)
{
	uint8_t frame[WORKER_HEADER];

	worker_header(frame, WORKER_PIDFD, 0);
	return fd_send_with(stream_fd, frame, sizeof(frame), &pidfd, 1);
}

/* Both far ends go, whatever comes of it. */
static int
request_send(int socket_fd, const int ends[FACTORY_FDS], bool session)
{
	struct factory_request request = { .session = session,
		.procs = ends[FACTORY_PROCS] >= 0 };

	return fd_send_with(socket_fd, &request, sizeof(request), ends,
	    request.procs ? FACTORY_FDS : FACTORY_PROCS);
}

int
factory_ask(int socket_fd, int procs_fd, bool session, int *ret_stream,
    int *ret_life, struct err *err)
{
	int stream[2], life[2];
	int r = fd_pair(stream);

	if (r < 0)
		return fail(err, -r, "socketpair: %s", strerror(-r));
	r = fd_pair(life);
	if (r == 0) {
		r = request_send(socket_fd,
		    (int[FACTORY_FDS]){ stream[1], life[1], procs_fd },
		    session);
		fd_close(life[1]);
	}
	fd_close(stream[1]);
	if (r < 0) {
		fd_close(stream[0]);
		return fail(err, -r, "ask for a worker: %s", strerror(-r));
	}
	*ret_stream = stream[0];
	*ret_life = life[0];
	return 0;
}
