/* fuzz_wire.c: a child that was taken over, as its keeper meets it: bytes in
 * any pieces, whole frames with lies in them, descriptors where none belong,
 * an output region with any counters, and an end at any time; between them
 * what the keeper does with a child: a birth, a job, a deadline. Whatever
 * comes, the keeper takes no more than a buffer of it, holds no descriptor of
 * the child's, and makes one well-formed result.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_input.h"

#include "base/err.h"
#include "base/fd.h"
#include "call/call.h"
#include "call/output.h"
#include "keeper/children.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHARS      100u
#define PIECE_MAX  512u
#define REGION_MAX 8192u
#define FROM_CHILD                                                   \
	(1u << FRAME_READY | 1u << FRAME_DONE | 1u << FRAME_FAILED | \
	    1u << FRAME_UNBORN)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	struct child child;
	int far;   /* the child's end; -1 once closed */
	bool lied; /* about its output: then it writes no more by our code */
	unsigned results;
	size_t sent; /* bytes that the keeper may have */
};

static bool
is_text(const char *text, size_t size)
{
	return strnlen(text, size) < size;
}

/* ---- what the child does ---- */

static size_t
take_bytes(struct input *input, uint8_t *bytes, size_t max)
{
	size_t n = take(input) * 3u % max;

	if (n > input->n)
		n = input->n;
	memcpy(bytes, input->p, n);
	input->p += n;
	input->n -= n;
	return n;
}

/* What the socket does not take is lost: a child may stop anywhere. */
static void
child_send(struct world *world, const void *bytes, size_t n)
{
	ssize_t sent = -1;

	if (world->far >= 0)
		sent = send(world->far, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent > 0)
		world->sent += (size_t)sent;
}

static void
child_sends_bytes(struct world *world, struct input *input)
{
	uint8_t bytes[PIECE_MAX];

	child_send(world, bytes, take_bytes(input, bytes, sizeof(bytes)));
}

/* A frame whose header is right and whose record is the input's; it may be
 * cut short, or be longer than its type allows. */
static void
child_sends_frame(struct world *world, struct input *input)
{
	static const uint32_t sizes[FRAME_TYPES] = {
		[FRAME_DONE] = sizeof(struct wire_done),
		[FRAME_FAILED] = sizeof(struct err),
	};
	static const enum frame_type types[] = { FRAME_READY, FRAME_DONE,
		FRAME_FAILED, FRAME_UNBORN };
	enum frame_type type = types[take(input) % 4];
	struct wire_header header = { sizes[type], (uint8_t)type, 0, 0 };
	uint8_t bytes[sizeof(header) + PIECE_MAX] = { 0 };
	size_t n = take_bytes(input, bytes + sizeof(header), PIECE_MAX);

	uint8_t shape = take(input);

	if (shape < 32)
		header.n = (uint32_t)n;
	memcpy(bytes, &header, sizeof(header));
	if (shape < 64)
		child_send(world, bytes, sizeof(header) + n);
	else
		child_send(world, bytes, sizeof(header) + header.n);
}

static void
child_sends_descriptors(struct world *world, struct input *input)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { 0 };
	uint8_t bytes[PIECE_MAX] = { 0 };
	struct iovec part = { bytes, take_bytes(input, bytes, PIECE_MAX) };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int fds[2] = { world->far, world->far };
	ssize_t sent;

	if (world->far < 0)
		return;
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(header), fds, sizeof(fds));
	sent = sendmsg(world->far, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent > 0)
		world->sent += (size_t)sent;
}

/* Writes anywhere, most often over the counters at the front. */
static void
child_lies_about_output(struct world *world, struct input *input)
{
	uint8_t bytes[PIECE_MAX];
	size_t at = take(input);
	size_t n;

	if (at >= 128)
		at = (at * 64u + take(input)) % REGION_MAX;
	n = take_bytes(input, bytes, sizeof(bytes));
	world->lied = true;
	/* Past its end nothing is written: the region is sealed. */
	check(pwrite(world->child.region_fd, bytes, n, (off_t)at) <= (ssize_t)n,
	    "a write");
}

static void
child_prints(const struct world *world, struct input *input)
{
	struct output *output;
	uint8_t bytes[PIECE_MAX];

	if (world->lied)
		return;
	output = output_map(world->child.region_fd, CHARS);
	check(output != NULL, "a region can be mapped");
	output_write(output, take(input) % 2 ? OUTPUT_OUT : OUTPUT_ERR, bytes,
	    take_bytes(input, bytes, sizeof(bytes)));
	output_unmap(output);
}

static void
child_leaves(struct world *world)
{
	fd_close(world->far);
	world->far = -1;
}

/* ---- what the keeper does ---- */

static void
check_result(
    const struct child *child, size_t sent, const struct wire_result *result)
{
	check(result->outcome <= OUTCOME_REFUSED, "a known outcome");
	check(is_text(result->note, sizeof(result->note)), "a note that ends");
	check(child->done_seen || (result->outcome != OUTCOME_OK &&
				      result->outcome != OUTCOME_RAISED),
	    "no success without a word of it");
	check(!child->done_seen ||
		  sent >= sizeof(struct wire_header) + sizeof(child->done),
	    "no word that was not sent");
	check(!result->never_ran || child->started_us == 0,
	    "what began may not go again");
}

/* What was told while it ran is the beginning of what is told at the end. */
static void
check_peek(int fd, enum output_stream which, const struct stream *stream)
{
	struct buf seen = { .max = 100000 };
	struct err err;
	uint64_t at = 0;

	check(output_peek(fd, CHARS, which, &at, &seen, &err) == 0,
	    "a region can be looked at");
	check(at <= 4 * CHARS, "nothing behind the head");
	check(stream->cut || seen.n == 0 ||
		  (seen.n <= stream->text.n &&
		      memcmp(seen.p, stream->text.p, seen.n) == 0),
	    "a beginning of the whole");
	buf_done(&seen);
}

static void
check_output(int fd, enum output_stream which)
{
	struct stream stream = { .text = { .max = 100000 } };
	struct err err;

	check(output_read(fd, CHARS, which, &stream, &err) == 0,
	    "a region can be read");
	check(stream.text.n <= 4 * CHARS + 64, "no more text than allowed");
	check_peek(fd, which, &stream);
	buf_done(&stream.text);
}

static void
keeper_answers(struct world *world, int status)
{
	struct wire_result result;

	child_result(&world->child, status, 0, &result);
	check_result(&world->child, world->sent, &result);
	check_output(world->child.region_fd, OUTPUT_OUT);
	check_output(world->child.region_fd, OUTPUT_ERR);
	world->child.has_call = false;
	world->results++;
}

/* A call chooses the child; the job goes to it once it is ready. */
static void
keeper_has_call(struct world *world)
{
	struct child *child = &world->child;

	if (child->state == CHILD_DYING || world->results > 0)
		return;
	child->has_call = true;
	child->wall_ms = 1000;
}

static void
keeper_gives_job(struct child *child)
{
	static const struct wire_job job = { .parts = { .code_n = 1 } };
	const struct cargo cargo = { .tails = { { (const uint8_t *)"1", 1 } } };

	if (!child->has_call || child->started_us > 0 || !child->ready_seen ||
	    child->channel.fd < 0 || child->state != CHILD_SPARE)
		return;
	child->started_us = 1;
	if (channel_put(&child->channel, FRAME_JOB, &job, sizeof(job), &cargo) <
	    0) {
		child->started_us = 0;
		child_kill(child, END_FAILED);
	}
}

/* As keeper_on_child. */
static void
keeper_reads(struct world *world)
{
	struct child *child = &world->child;
	struct err err = { 0 };
	int r;

	if (child->channel.fd < 0)
		return;
	r = child_read(child, &err);
	check(r == 0 || r == -EPIPE || r == -EPROTO || r == -ECHILD,
	    "a known end");
	check(r == 0 || is_text(err.text, sizeof(err.text)), "a reason");
	check(r != -ECHILD || world->sent >= sizeof(struct wire_header) +
						 sizeof(struct err),
	    "no failure that was not sent");
	check(r != -ECHILD || !strpbrk(err.text, "\"\\"),
	    "nothing that ends a quoted word of the log");
	check(child->channel.in.n <= CHILD_FRAME_MAX, "a bounded buffer");
	check(child->channel.in_fds.n == 0, "no descriptor of a child's");
	check(child->unborn <= child->copies, "no copy that was not asked for");
	check(child->channel.peer == 0 || child->channel.peer == getpid(),
	    "the true sender");
	/* A full buffer without a frame would be polled for ever. */
	check(r < 0 || child->channel.in.n < child->channel.in.max,
	    "room for more");
	if (child->ready_seen && child->state == CHILD_WARMING)
		child->state = CHILD_SPARE; /* its walls are as they must be */
	if (child->done_seen && child->has_call) {
		child->state = CHILD_SPENT;
		keeper_answers(world, -1);
		return;
	}
	keeper_gives_job(child);
	if (r == 0)
		return;
	fd_close(child->channel.fd);
	child->channel.fd = -1;
	child_kill(child, r == -EPIPE    ? END_NONE
			  : r == -ECHILD ? END_FAILED
					 : END_BREACH);
}

static void
keeper_hears_of_birth(struct world *world)
{
	struct child *child = &world->child;

	if (child->state == CHILD_FORKING)
		child->state = CHILD_WARMING;
}

static void
keeper_kills(struct child *child, struct input *input)
{
	static const enum child_end ends[] = { END_CANCEL, END_DEADLINE,
		END_UNPROVED, END_LOST };
	enum child_end end = ends[take(input) % 4];

	if (child->state == CHILD_DYING ||
	    (end == END_DEADLINE && child->started_us == 0))
		return;
	if (end == END_UNPROVED) /* said by the keeper itself */
		memset(child->why, 'w', sizeof(child->why) - 1);
	child_kill(child, end);
}

static void
step(struct world *world, struct input *input)
{
	switch (take(input) % 12) {
	case 0:
		child_sends_bytes(world, input);
		break;
	case 1:
	case 2:
		child_sends_frame(world, input);
		break;
	case 3:
		child_sends_descriptors(world, input);
		break;
	case 4:
		child_lies_about_output(world, input);
		break;
	case 5:
		child_prints(world, input);
		break;
	case 6:
		child_leaves(world);
		break;
	case 7:
		keeper_has_call(world);
		break;
	case 8:
		keeper_hears_of_birth(world);
		break;
	case 9:
		keeper_kills(&world->child, input);
		break;
	default:
		keeper_reads(world);
		break;
	}
}

static void
world_open(struct world *world)
{
	struct err err;
	int fds[2];

	*world = (struct world){ 0 };
	child_init(&world->child);
	world->child.region_fd = output_create(CHARS, &err);
	if (world->child.region_fd < 0 || fd_pair(fds) < 0)
		BUG("no descriptors");
	channel_init(&world->child.channel, fds[0], FROM_CHILD, CHILD_FRAME_MAX,
	    FRAME_MAX);
	if (channel_name_peer(&world->child.channel) < 0)
		BUG("no names of peers");
	world->child.state = CHILD_FORKING;
	world->child.copies = 1;
	world->far = fds[1];
}

static int
lowest_fd(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);

	fd_close(fd);
	return fd;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	int before = lowest_fd();
	struct world world;
	int status;

	world_open(&world);
	while (input.n > 0)
		step(&world, &input);
	/* As keeper_child_gone: its last words, then its end. */
	status = size % 3 ? (int)size % 128 : -1;
	keeper_reads(&world);
	world.child.out_of_memory = size % 5 == 0;
	if (world.child.has_call)
		keeper_answers(&world, status);
	check(world.results <= 1, "one result a call");
	child_clear(&world.child);
	child_leaves(&world);
	check(lowest_fd() == before, "no descriptor is left");
	return 0;
}
