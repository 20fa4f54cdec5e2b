/* cmd_run.c: "breakroom run": one call from the shell. Hostile input: what
 * the program printed goes to a terminal or a pipe, byte for byte.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/own.h"
#include "call/call.h"
#include "mcp/answer.h"
#include "server/cmd.h"
#include "server/one_call.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROOM_NAME  "wasm"
#define READ_CHUNK 65536u

/* Reads the file ("-": standard input) to its end, or fails once it is longer
 * than the buf may be. */
static int
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

static int
fill_call(const struct conf *conf, struct call *call, struct err *err)
{
	int r = 0;

	call->wall_ms = conf->timeout_ms;
	if (conf->file)
		r = read_file(conf->file, &call->code, err);
	else if (buf_add_text(&call->code, conf->code) < 0)
		r = fail(err, EFBIG, "the program is longer than %u MiB",
		    (unsigned)(CODE_MAX / MIB));
	if (r == 0 && conf->stdin_path)
		r = read_file(conf->stdin_path, &call->stdin_bytes, err);
	return r;
}

/* Standard streams may be non-blocking: somebody else shares them. */
static int
write_stream(int fd, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n > 0) {
		ssize_t put = write(fd, p, n);
		struct pollfd ready = { .fd = fd, .events = POLLOUT };

		if (put < 0 && errno == EAGAIN)
			(void)poll(&ready, 1, -1);
		else if (put < 0 && errno != EINTR)
			return -errno;
		if (put > 0) {
			p += put;
			n -= (size_t)put;
		}
	}
	return 0;
}

static json_t *
stream_json(const struct stream *stream)
{
	const struct buf *text = &stream->text;

	return json_stringn(text->p ? (const char *)text->p : "", text->n);
}

static char *
result_json(const struct result *result)
{
	json_t *object = json_pack("{s:o, s:o, s:i, s:b, s:s, s:b, s:f, s:f, "
				   "s:I, s:s}",
	    "stdout", stream_json(&result->out), "stderr",
	    stream_json(&result->err), "exit_code", result->exit_code,
	    "timed_out", result->timed_out, "outcome",
	    outcome_name(result->outcome), "truncated",
	    result->out.cut || result->err.cut, "duration_ms",
	    (double)result->usage.wall_us / 1000.0, "queued_ms",
	    (double)result->usage.queued_us / 1000.0, "memory_peak_bytes",
	    (json_int_t)result->usage.memory_peak_bytes, "room", ROOM_NAME);
	char *text;

	if (result->walls_missing)
		(void)json_object_set_new(object, "walls",
		    answer_walls(result->walls_missing, result->walls_allowed));
	text = object ? json_dumps(object, JSON_REAL_PRECISION(12)) : NULL;
	json_decref(object);
	return text;
}

static int
print_json(const struct result *result)
{
	own_mem char *text = result_json(result);
	int r;

	if (!text)
		return -ENOMEM;
	r = write_stream(STDOUT_FILENO, text, strlen(text));
	return r < 0 ? r : write_stream(STDOUT_FILENO, "\n", 1);
}

static int
print_streams(const struct result *result)
{
	const struct buf *out = &result->out.text;
	const struct buf *err = &result->err.text;
	int r = write_stream(STDOUT_FILENO, out->p, out->n);

	return r < 0 ? r : write_stream(STDERR_FILENO, err->p, err->n);
}

static int
status_of(const struct result *result)
{
	switch (result->outcome) {
	case OUTCOME_OK:
	case OUTCOME_RAISED:
		return result->exit_code & 0xff;
	case OUTCOME_TIMEOUT:
		return RUN_TIMEOUT;
	case OUTCOME_MEMORY:
		return RUN_MEMORY;
	case OUTCOME_KILLED:
		return RUN_KILLED;
	case OUTCOME_ROOM_LOST:
	case OUTCOME_REFUSED:
		break;
	}
	return RUN_REFUSED;
}

struct printing {
	bool json;
	int status;
};

static void
print_result(const struct result *result, void *data)
{
	struct printing *printing = data;
	int r = printing->json ? print_json(result) : print_streams(result);
	struct err err;

	printing->status = status_of(result);
	if (r < 0) {
		(void)fail(&err, -r, "write the result: %s", strerror(-r));
		complain(err.text, "");
		printing->status = RUN_REFUSED;
	} else if (printing->status == RUN_REFUSED && !printing->json &&
		   result->err.text.n == 0) {
		complain(result->outcome == OUTCOME_REFUSED
			     ? "the call was refused"
			     : "the room was lost",
		    "");
	}
}

int
cmd_run(const struct conf *conf, struct launcher *launcher,
    const struct artifacts *artifacts)
{
	struct printing printing = { .json = conf->json };
	const struct taker taker = { .use = print_result, .data = &printing };
	struct call *call = call_new();
	struct err err = { 0 };
	int r = call ? fill_call(conf, call, &err)
		     : fail(&err, ENOMEM, "no memory for a call");

	if (r < 0) {
		call_free(call);
		complain(err.text, "");
		return r == -EFBIG || r == -ENOMEM ? RUN_REFUSED : RUN_USAGE;
	}
	r = one_call(conf, launcher, artifacts, call, &taker, &err);
	if (r < 0)
		complain(err.text, "");
	if (r != 0)
		return r < 0 ? RUN_REFUSED : STATUS_SIGNAL + r;
	return printing.status;
}
