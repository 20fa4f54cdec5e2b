/* saver.c: the saver, seen from the server.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/saver.h"

#include "base/fd.h"
#include "base/own.h"
#include "base/process.h"
#include "base/sys.h"
#include "call/file_name.h"
#include "conf/limits.h"
#include "server/saver_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

struct saver {
	pid_t pid;
	int pidfd; /* -1: it cannot be killed, and need not be */
	int fd;
};

/* ---- the start ---- */

static int
dir_open(const char *dir, struct err *err)
{
	int fd;

	if (mkdir(dir, 0777) < 0 && errno != EEXIST)
		return fail_errno(err, "make %.200s", dir);
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? fail_errno(err, "open %.200s", dir) : fd;
}

/* A disk that hangs does not hang the server for ever. */
static int
bound_waits(int fd, struct err *err)
{
	const struct timeval wait = { .tv_sec = SAVER_WAIT_MS / 1000u };

	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0)
		return fail_errno(err, "bound the saver's time");
	return 0;
}

static int
process_start(struct saver *saver, int dir, struct err *err)
{
	struct saving saving = { .dir = dir, .parent = getpid() };
	int ends[2];
	int r = fd_pair(ends);

	if (r < 0)
		return fail(err, -r, "socketpair: %s", strerror(-r));
	saver->pid = fork();
	if (saver->pid == 0) {
		saving.server = ends[1];
		saver_main(&saving);
	}
	fd_close(ends[1]);
	saver->fd = ends[0];
	if (saver->pid < 0)
		return fail_errno(err, "fork the saver");
	saver->pidfd = sys_pidfd_open(saver->pid);
	return bound_waits(saver->fd, err);
}

int
saver_start(const char *dir, struct saver **ret_saver, struct err *err)
{
	own_fd int dir_fd = dir_open(dir, err);
	struct saver *saver;
	int r;

	if (dir_fd < 0)
		return dir_fd;
	saver = calloc(1, sizeof(*saver));
	if (!saver)
		return fail(err, ENOMEM, "no memory for the saver");
	saver->fd = saver->pidfd = saver->pid = -1;
	r = process_start(saver, dir_fd, err);
	if (r < 0)
		saver_stop(saver);
	else
		*ret_saver = saver;
	return r;
}

/* ---- a file ---- */

static int
lost(struct err *err, int r)
{
	if (r == -EAGAIN)
		return fail(err, ETIMEDOUT, "it takes too long");
	return fail(err, EPIPE, "the saver is gone");
}

int
saver_save(
    struct saver *saver, const char *name, struct span bytes, struct err *err)
{
	struct saver_head head = { .name_n = (uint32_t)strlen(name),
		.bytes_n = (uint32_t)bytes.n };
	struct err answer = { 0 };
	int r;

	if (head.name_n >= FILE_NAME_SHOWN_MAX || bytes.n > SAVER_FILE_MAX)
		return fail(err, EFBIG, "it is too large");
	r = fd_send_all(saver->fd, &head, sizeof(head));
	if (r == 0)
		r = fd_send_all(saver->fd, name, head.name_n);
	if (r == 0)
		r = fd_send_all(saver->fd, bytes.p, bytes.n);
	if (r == 0)
		r = fd_read_all(saver->fd, &answer, sizeof(answer));
	if (r < 0)
		return lost(err, r);
	answer.text[sizeof(answer.text) - 1] = '\0';
	return answer.code == 0 ? 0 : fail(err, answer.code, "%s", answer.text);
}

void
saver_stop(struct saver *saver)
{
	if (!saver)
		return;
	fd_close(saver->fd);
	if (saver->pid > 0)
		process_end(saver->pid, saver->pidfd, LAUNCH_END_MS);
	fd_close(saver->pidfd);
	free(saver);
}
