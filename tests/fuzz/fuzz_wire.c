/* fuzz_wire.c: any bytes from a child, as its keeper takes them, and any
 * output region, as the server reads it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "call/output.h"
#include "keeper/children.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHARS    100u
#define SENT_MAX 4096u /* below what a socket takes at once */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
as_frames(const uint8_t *data, size_t size)
{
	struct child child = {
		.pidfd = -1, .region_fd = -1, .state = CHILD_WARMING
	};
	struct wire_result result;
	struct err err = { 0 };
	int fds[2];

	if (fd_pair(fds) < 0)
		abort();
	child.has_call = size > 0 && data[0] & 1;
	channel_init(&child.channel, fds[0],
	    1u << FRAME_READY | 1u << FRAME_DONE | 1u << FRAME_FAILED,
	    CHILD_FRAME_MAX, 64);
	if (fd_send_all(fds[1], data, size) < 0)
		abort();
	while (child_read(&child, &err) == 0 && child.channel.in.n > 0 &&
	       child.channel.in.n == child.channel.in.max)
		;
	child_result(&child, -1, 0, &result);
	if (strnlen(result.note, sizeof(result.note)) == sizeof(result.note) ||
	    strnlen(err.text, sizeof(err.text)) == sizeof(err.text))
		abort();
	child_clear(&child);
	fd_close(fds[1]);
}

static void
as_region(const uint8_t *data, size_t size)
{
	struct stream stream = { .text = { .max = 100000 } };
	struct err err;
	int fd = output_create(CHARS, &err);

	if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (output_read(fd, CHARS, OUTPUT_OUT, &stream, &err) < 0 ||
	    stream.text.n > 4 * CHARS + 64)
		abort();
	buf_done(&stream.text);
	fd_close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > SENT_MAX)
		return 0;
	as_frames(data, size);
	as_region(data, size);
	return 0;
}
