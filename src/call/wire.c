/* wire.c: frames to bytes and back.
 * Hostile input: frames from a child. Pure; fuzzed by fuzz_wire.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/wire.h"

#include "conf/limits.h"

#include <errno.h>
#include <string.h>

/* The size of each frame's fixed part, how many bytes may follow it, and how
 * many descriptors come with it. */
static const struct shape {
	uint32_t fixed;
	uint32_t tail_max;
	uint8_t fds;
} shapes[FRAME_TYPES] = {
	[FRAME_CONF] = { sizeof(struct wire_conf), MOUNTS_TEXT_MAX, 0 },
	[FRAME_CALL] = { sizeof(struct wire_call), JOB_MAX, 0 },
	[FRAME_CANCEL] = { sizeof(struct wire_cancel), 0, 0 },
	[FRAME_DROP] = { sizeof(struct wire_session), 0, 0 },
	[FRAME_WARM] = { 0, 0, 0 },
	[FRAME_FAILED] = { sizeof(struct err), 0, 0 },
	[FRAME_RESULT] = { sizeof(struct wire_result), 0, 1 },
	[FRAME_GRADE] = { sizeof(struct wire_grade), 0, 0 },
	[FRAME_BEGUN] = { sizeof(struct wire_begun), 0, 1 },
	[FRAME_ENDED] = { sizeof(struct wire_session), 0, 0 },
	[FRAME_FORK] = { sizeof(struct wire_fork), 0, 3 },
	[FRAME_CHILD] = { sizeof(struct wire_child), 0, 1 },
	[FRAME_EXIT] = { sizeof(struct wire_exit), 0, 0 },
	[FRAME_HURRY] = { 0, 0, 0 },
	[FRAME_JOB] = { sizeof(struct wire_job), JOB_MAX, 0 },
	[FRAME_REGION] = { 0, 0, 1 },
	[FRAME_BRANCH] = { 0, 0, 2 },
	[FRAME_READY] = { 0, 0, 0 },
	[FRAME_WORKER] = { 0, 0, 1 },
	[FRAME_DONE] = { sizeof(struct wire_done), 0, 0 },
	[FRAME_UNBORN] = { 0, 0, 0 },
};

unsigned
wire_fds(enum frame_type type)
{
	return shapes[type].fds;
}

static int
header_check(
    const struct wire_header *header, uint32_t allowed, struct err *err)
{
	const struct shape *shape;

	if (header->type == 0 || header->type >= FRAME_TYPES ||
	    !(allowed & 1u << header->type))
		return fail(
		    err, EPROTO, "frame of type %u out of turn", header->type);
	shape = &shapes[header->type];
	if (header->n < shape->fixed ||
	    header->n > shape->fixed + shape->tail_max)
		return fail(err, EPROTO, "frame of type %u with %u bytes",
		    header->type, header->n);
	/* A frame may come without its descriptors (a fork that failed, a
	 * result without output), but never with others. */
	if ((header->fds != 0 && header->fds != shape->fds) || header->zero)
		return fail(err, EPROTO, "frame of type %u with a bad header",
		    header->type);
	return 0;
}

int
wire_next(struct span bytes, uint32_t allowed, struct frame *ret_frame,
    size_t *ret_n, struct err *err)
{
	struct wire_header header;
	int r;

	if (bytes.n < sizeof(header))
		return 0;
	memcpy(&header, bytes.p, sizeof(header));
	r = header_check(&header, allowed, err);
	if (r < 0)
		return r;
	if (bytes.n - sizeof(header) < header.n)
		return 0;
	*ret_frame = (struct frame){
		.type = (enum frame_type)header.type,
		.fds = header.fds,
		.payload = { bytes.p + sizeof(header), header.n },
	};
	*ret_n = sizeof(header) + header.n;
	return 1;
}

int
wire_take(const struct frame *frame, void *record, size_t n,
    struct span *ret_rest, struct err *err)
{
	if (frame->payload.n < n || (!ret_rest && frame->payload.n != n))
		return fail(
		    err, EPROTO, "frame of type %d is cut short", frame->type);
	if (n > 0)
		memcpy(record, frame->payload.p, n);
	if (ret_rest)
		*ret_rest =
		    (struct span){ frame->payload.p + n, frame->payload.n - n };
	return 0;
}

int
wire_put(struct buf *buf, enum frame_type type, const void *record, size_t n,
    const struct span tails[WIRE_TAILS])
{
	struct wire_header header = {
		.n = (uint32_t)n,
		.type = (uint8_t)type,
		.fds = shapes[type].fds,
	};
	int r;

	for (unsigned i = 0; i < WIRE_TAILS; i++)
		header.n += (uint32_t)tails[i].n;
	r = buf_reserve(buf, sizeof(header) + header.n);
	if (r < 0)
		return r;
	(void)buf_add(buf, &header, sizeof(header));
	(void)buf_add(buf, record, n);
	for (unsigned i = 0; i < WIRE_TAILS; i++)
		(void)buf_add(buf, tails[i].p, tails[i].n);
	return 0;
}

bool
wire_parts_fit(const struct wire_parts *parts, size_t n)
{
	return (uint64_t)parts->code_n + parts->stdin_n + parts->options_n +
		   parts->files_n ==
	       n;
}
