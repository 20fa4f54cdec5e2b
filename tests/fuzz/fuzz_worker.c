/* fuzz_worker.c: a worker that was taken over, as its proxy meets it. Whatever
 * comes, in whatever pieces, nothing more is passed on than came, nothing more
 * is held than an image, and the pieces do not matter.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_input.h"

#include "base/err.h"
#include "conf/limits.h"
#include "rooms/worker.h"

#include <errno.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
	struct worker_reader reader;
	size_t bytes;    /* of payloads */
	unsigned whole;  /* payloads that came whole */
	uint32_t digest; /* of all of it, in order */
};

static void
note(struct heard *heard, enum worker_frame type, struct span bytes)
{
	heard->bytes += bytes.n;
	for (size_t i = 0; i < bytes.n; i++)
		heard->digest =
		    heard->digest * 31u + bytes.p[i] + (uint32_t)type;
}

static void
on_piece(void *arg, enum worker_frame type, struct span bytes)
{
	check(bytes.n > 0 && bytes.n <= WORKER_PIECE_MAX, "a bounded piece");
	check(type == WORKER_OUT || type == WORKER_ERR ||
		  type == WORKER_VALUE || type == WORKER_HINT ||
		  type == WORKER_FILE_DATA,
	    "a type that comes in pieces");
	note(arg, type, bytes);
}

static void
on_whole(void *arg, enum worker_frame type, struct span bytes)
{
	struct heard *heard = arg;
	struct worker_end end;
	struct span name;
	uint64_t file_size;

	heard->whole++;
	note(heard, type, bytes);
	check(bytes.n <= RESULT_IMAGE_BYTES, "a bounded payload");
	if (type == WORKER_END)
		check(worker_end_read(bytes, &end) == (bytes.n == sizeof(end)),
		    "an end of its size");
	if (type == WORKER_FILE && worker_file_read(bytes, &file_size, &name))
		check(name.n == bytes.n - 8, "a name within its frame");
}

/* step: bytes at a time; 0: all at once. */
static int
hear(struct heard *heard, const uint8_t *data, size_t size, size_t step)
{
	struct err err = { 0 };
	int r = 0;

	*heard = (struct heard){
		.reader = { .piece = on_piece, .whole = on_whole, .arg = heard }
	};
	worker_reader_init(&heard->reader);
	for (size_t at = 0; r == 0 && at < size;) {
		size_t n = step == 0 || step > size - at ? size - at : step;

		r = worker_feed(
		    &heard->reader, (struct span){ data + at, n }, &err);
		at += n;
	}
	check(r == 0 || r == -EPROTO, "a known end");
	check(r == 0 || err.text[0], "a reason");
	check(heard->bytes <= size, "nothing that did not come");
	worker_reader_done(&heard->reader);
	return r;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heard whole, cut;
	int r = hear(&whole, data, size, 0);

	check(hear(&cut, data, size, 1 + size % 7) == r, "the same end");
	check(cut.digest == whole.digest && cut.whole == whole.whole,
	    "the same frames");
	return 0;
}
