/* worker.c: reading a worker's frames.
 * Hostile input: all of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/worker.h"

#include "conf/limits.h"

#include <errno.h>
#include <string.h>

/* What a payload may be; a type that is not here comes from no worker. */
static const struct rule {
	uint8_t type;
	bool whole;
	size_t max;
} rules[] = {
	{ WORKER_OUT, false, WORKER_PIECE_MAX },
	{ WORKER_ERR, false, WORKER_PIECE_MAX },
	{ WORKER_VALUE, false, WORKER_PIECE_MAX },
	{ WORKER_HINT, false, WORKER_PIECE_MAX },
	{ WORKER_FILE_DATA, false, WORKER_PIECE_MAX },
	{ WORKER_IMAGE, true, RESULT_IMAGE_BYTES },
	{ WORKER_FILE, true, 8 + WORKER_NAME_MAX },
	{ WORKER_END, true, sizeof(struct worker_end) },
	{ WORKER_READY, true, WORKER_TEXT_MAX },
	{ WORKER_REFUSED, true, WORKER_TEXT_MAX },
	{ WORKER_PIDFD, true, 0 },
};

static const struct rule *
rule_of(uint8_t type)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].type == type)
			return &rules[i];
	return NULL;
}

static uint32_t
u32_at(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static uint64_t
u64_at(const uint8_t *p)
{
	return u32_at(p) | (uint64_t)u32_at(p + 4) << 32;
}

void
worker_header(uint8_t header[WORKER_HEADER], enum worker_frame type, size_t n)
{
	memset(header, 0, WORKER_HEADER);
	for (unsigned i = 0; i < 4; i++)
		header[i] = (uint8_t)(n >> (8 * i));
	header[4] = (uint8_t)type;
}

void
worker_reader_init(struct worker_reader *reader)
{
	reader->header_n = 0;
	reader->left = 0;
	buf_init(&reader->held, RESULT_IMAGE_BYTES);
}

void
worker_reader_done(struct worker_reader *reader)
{
	buf_done(&reader->held);
}

/* The header is whole. */
static int
frame_begin(struct worker_reader *reader, struct err *err)
{
	const uint8_t *header = reader->header;
	const struct rule *rule = rule_of(header[4]);
	uint32_t n = u32_at(header);

	if (!rule || header[5] || header[6] || header[7])
		return fail(
		    err, EPROTO, "frame of type %u from a worker", header[4]);
	if (n > rule->max)
		return fail(err, EPROTO, "frame %c of %u bytes from a worker",
		    header[4], n);
	reader->left = n;
	reader->held.n = 0;
	return 0;
}

static void
frame_end(struct worker_reader *reader)
{
	enum worker_frame type = (enum worker_frame)reader->header[4];

	reader->header_n = 0;
	if (rule_of((uint8_t)type)->whole)
		reader->whole(reader->arg, type, buf_span(&reader->held));
}

/* As much of the payload as is there; taken off *bytes. */
static int
payload_take(struct worker_reader *reader, struct span *bytes, struct err *err)
{
	enum worker_frame type = (enum worker_frame)reader->header[4];
	size_t n = bytes->n < reader->left ? bytes->n : reader->left;
	int r = 0;

	if (rule_of((uint8_t)type)->whole)
		r = buf_add(&reader->held, bytes->p, n);
	else if (n > 0)
		reader->piece(reader->arg, type, (struct span){ bytes->p, n });
	if (r < 0)
		return fail(err, -r, "a worker's frame: %s", strerror(-r));
	reader->left -= n;
	bytes->p += n;
	bytes->n -= n;
	return 0;
}

int
worker_feed(struct worker_reader *reader, struct span bytes, struct err *err)
{
	int r = 0;

	while (r == 0 && bytes.n > 0) {
		if (reader->header_n < WORKER_HEADER) {
			reader->header[reader->header_n++] = *bytes.p++;
			bytes.n--;
			if (reader->header_n < WORKER_HEADER)
				continue;
			r = frame_begin(reader, err);
		}
		if (r == 0)
			r = payload_take(reader, &bytes, err);
		if (r == 0 && reader->left == 0)
			frame_end(reader);
	}
	return r;
}

bool
worker_end_read(struct span payload, struct worker_end *ret_end)
{
	const uint8_t *p = payload.p;

	if (payload.n != sizeof(*ret_end))
		return false;
	*ret_end = (struct worker_end){
		.status = (int32_t)u32_at(p),
		.signal = u32_at(p + 4),
		.stays = u32_at(p + 8),
		.flags = u32_at(p + 12),
		.cpu_us = u64_at(p + 16),
		.memory_peak_bytes = u64_at(p + 24),
	};
	return true;
}

bool
worker_file_read(struct span payload, uint64_t *ret_size, struct span *ret_name)
{
	if (payload.n < 8)
		return false;
	*ret_size = u64_at(payload.p);
	*ret_name = (struct span){ payload.p + 8, payload.n - 8 };
	return true;
}
