/* read_file.c: a file of the command line's, read as a whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/read_file.h"

#include "base/own.h"
#include "conf/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define READ_CHUNK 65536u

int
read_file(const char *path, struct buf *into, struct err *err)
{
	bool standard = strcmp(path, "-") == 0;
	own_fd int opened = standard ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	int fd = standard ? STDIN_FILENO : opened;
	const char *name = standard ? "standard input" : path;

	if (fd < 0)
		return fail_errno(err, "open %.200s", path);
	for (;;) {
		uint8_t chunk[READ_CHUNK];
		ssize_t n = read(fd, chunk, sizeof(chunk));
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno(err, "read %.200s", name);
		if (n == 0)
			return 0;
		r = buf_add(into, chunk, (size_t)n);
		if (r == -ENOBUFS)
			return fail(err, EFBIG, "%.180s is longer than %u MiB",
			    name, (unsigned)(into->max / MIB));
		if (r < 0)
			return fail(
			    err, -r, "read %.200s: %s", name, strerror(-r));
	}
}
