/* ops_frames.c: what a shell-code tells the keeper: frames of every shape on
 * the child's socket.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

#include "call/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define NO_PIPE 0x4000 /* MSG_NOSIGNAL: the one flag of a child's policy */

static int
say(const void *bytes, size_t n)
{
	return OP_RESULT(
	    syscall(SYS_sendto, OP_CHILD_FD, bytes, n, NO_PIPE, NULL, 0));
}

static size_t
frame(uint8_t *at, unsigned type, uint32_t n, const void *payload)
{
	struct wire_header header = { .n = n, .type = (uint8_t)type };

	memcpy(at, &header, sizeof(header));
	memcpy(at + sizeof(header), payload, n);
	return sizeof(header) + n;
}

static struct wire_done
forged(void)
{
	struct wire_done done = { .end = TURN_RETURNED, .cpu_us = 1 };

	memcpy(done.trap, "FORGED", 6);
	return done;
}

/* A header that promises N bytes: frame-long TYPE N. */
static int
op_frame_long(struct op_run *run)
{
	struct wire_header header = {
		.n = (uint32_t)strtoul(run->words[2], NULL, 0),
		.type = (uint8_t)op_number(run, 1),
	};

	return say(&header, sizeof(header));
}

/* A whole frame of a type, of the size of a DONE: frame TYPE. */
static int
op_frame(struct op_run *run)
{
	struct wire_done done = forged();
	uint8_t bytes[sizeof(done) + 8];

	return say(bytes,
	    frame(bytes, (unsigned)op_number(run, 1), sizeof(done), &done));
}

/* The same without a payload. */
static int
op_frame_empty(struct op_run *run)
{
	uint8_t bytes[8];

	return say(bytes, frame(bytes, (unsigned)op_number(run, 1), 0, bytes));
}

static int
op_done(struct op_run *run)
{
	struct wire_done done = forged();
	uint8_t bytes[sizeof(done) + 8];

	done.status = (int32_t)op_number(run, 1);
	return say(bytes, frame(bytes, FRAME_DONE, sizeof(done), &done));
}

/* A DONE whose numbers are what no child of ours says. */
static int
op_done_wild(struct op_run *run)
{
	struct wire_done done;
	uint8_t bytes[sizeof(done) + 8];

	memset(&done, (int)op_number(run, 1), sizeof(done));
	return say(bytes, frame(bytes, FRAME_DONE, sizeof(done), &done));
}

static int
op_done_twice(struct op_run *run)
{
	struct wire_done done = forged();
	uint8_t bytes[2 * (sizeof(done) + 8)];
	size_t n = frame(bytes, FRAME_DONE, sizeof(done), &done);

	(void)run;
	n += frame(bytes + n, FRAME_DONE, sizeof(done), &done);
	return say(bytes, n);
}

static int
op_frame_half(struct op_run *run)
{
	struct wire_done done = forged();
	uint8_t bytes[sizeof(done) + 8];
	size_t n = frame(bytes, FRAME_DONE, sizeof(done), &done);
	int r = say(bytes, n / 2);

	(void)run;
	if (r == 0)
		syscall(SYS_exit_group, 0);
	return r;
}

/* A result, as the keeper sends them to the server. */
static int
op_result_frame(struct op_run *run)
{
	struct wire_result result = { .id = (uint32_t)op_number(run, 1) };
	uint8_t bytes[sizeof(result) + 8];

	memcpy(result.note, "FORGED", 6);
	return say(bytes, frame(bytes, FRAME_RESULT, sizeof(result), &result));
}

static int
op_grade_frame(struct op_run *run)
{
	static struct wire_grade grade = { .raised = ~(wall_set)0 };
	static uint8_t bytes[sizeof(grade) + 8];

	(void)run;
	return say(bytes, frame(bytes, FRAME_GRADE, sizeof(grade), &grade));
}

/* All there can be of a byte, in one piece. */
static int
op_garbage(struct op_run *run)
{
	static uint8_t bytes[65536];

	memset(bytes, (int)op_number(run, 1), sizeof(bytes));
	return say(bytes, sizeof(bytes));
}

/* A frame that brings descriptors: frame-descriptors TYPE. */
static int
op_frame_descriptors(struct op_run *run)
{
	struct wire_done done = forged();
	uint8_t bytes[sizeof(done) + 8];
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} control = { 0 };
	struct iovec part = { bytes, 0 };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	const int fds[3] = { 0, OP_CHILD_FD, OP_CHILD_FD };

	part.iov_len =
	    frame(bytes, (unsigned)op_number(run, 1), sizeof(done), &done);
	bytes[5] = 3; /* as its header says */
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(&control.header), fds, sizeof(fds));
	return OP_RESULT(syscall(SYS_sendmsg, OP_CHILD_FD, &message, NO_PIPE));
}

/* READY without an end. */
static int
op_flood(struct op_run *run)
{
	uint8_t bytes[4096];
	int r = 0;

	(void)run;
	for (size_t at = 0; at < sizeof(bytes); at += 8)
		(void)frame(bytes + at, FRAME_READY, 0, bytes);
	while (r == 0)
		r = say(bytes, sizeof(bytes));
	return r;
}

/* Reads what comes to it, as if it were another's. */
static int
op_read_socket(struct op_run *run)
{
	char bytes[64];
	long n;

	(void)run;
	do /* told that its time is nearly up, it goes on */
		n = syscall(SYS_read, OP_CHILD_FD, bytes, sizeof(bytes));
	while (n < 0 && errno == EINTR);
	return OP_RESULT(n);
}

static int
op_close_socket(struct op_run *run)
{
	(void)run;
	return OP_RESULT(syscall(SYS_close, OP_CHILD_FD));
}

static int
op_exit(struct op_run *run)
{
	return OP_RESULT(syscall(SYS_exit_group, op_number(run, 1)));
}

const struct op ops_frames[] = {
	{ "frame", 2, op_frame },
	{ "frame-empty", 2, op_frame_empty },
	{ "frame-long", 3, op_frame_long },
	{ "frame-half", 1, op_frame_half },
	{ "frame-descriptors", 2, op_frame_descriptors },
	{ "done", 1, op_done },
	{ "done-wild", 2, op_done_wild },
	{ "done-twice", 1, op_done_twice },
	{ "result", 2, op_result_frame },
	{ "grade", 1, op_grade_frame },
	{ "garbage", 2, op_garbage },
	{ "flood", 1, op_flood },
	{ "read-socket", 1, op_read_socket },
	{ "close-socket", 1, op_close_socket },
	{ "exit", 1, op_exit },
	{ NULL, 0, NULL },
};
