/* child_session.c: between two jobs of a session. What fails here ends the
 * process: its keeper sees that.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/child_session.h"

#include "base/fd.h"
#include "base/fd_pass.h"
#include "conf/limits.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From now on output goes to this region; takes the descriptor. */
static void
region_take(const struct child_start *start, int region, struct output **output)
{
	output_unmap(*output);
	*output = output_map(region, start->conf->output_chars);
	fd_close(region);
	if (!*output)
		_exit(CHILD_LOST);
}

/* The copy's zygote is the child's: it outlives this one. Not fork(3): its
 * flags are others, and its handlers are for threads, of which there are none. */
static long
copy_process(void)
{
	return syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
}

static void
copy_begin(
    const struct child_start *start, const int *fds, struct output **output)
{
	struct err err;

	if (dup2(fds[0], HOUSE_CHANNEL_FD) < 0 ||
	    house_branch(start->house, &err) < 0)
		_exit(CHILD_LOST);
	fd_close(fds[0]);
	region_take(start, fds[1], output);
	child_say(HOUSE_CHANNEL_FD, FRAME_READY, NULL, 0);
}

/* True in the copy. */
static bool
branch(const struct child_start *start, const int *fds, struct output **output)
{
	long pid = -1;

	/* A worker has no copy. */
	if (fds[0] >= 0 && fds[1] >= 0 && !(start->kind->flags & ROOM_WORKER))
		pid = copy_process();
	if (pid == 0) {
		copy_begin(start, fds, output);
		return true;
	}
	for (unsigned i = 0; i < WIRE_FDS_MAX; i++)
		fd_close(fds[i]);
	if (pid < 0)
		child_say(HOUSE_CHANNEL_FD, FRAME_UNBORN, NULL, 0);
	return false;
}

bool
session_wait(
    const struct child_start *start, struct buf *bytes, struct output **output)
{
	for (;;) {
		struct wire_header header = { 0 };
		int fds[WIRE_FDS_MAX];

		if (fd_receive_with(HOUSE_CHANNEL_FD, &header, sizeof(header),
			fds, WIRE_FDS_MAX) < 0)
			_exit(CHILD_SPENT);
		if (header.type == FRAME_REGION && fds[0] >= 0) {
			region_take(start, fds[0], output);
		} else if (header.type == FRAME_BRANCH) {
			if (branch(start, fds, output))
				return true;
		} else if (header.type != FRAME_JOB ||
			   buf_add(bytes, &header, sizeof(header)) < 0) {
			_exit(CHILD_LOST);
		} else {
			return true;
		}
	}
}
