/* output.c: the output region, written by a child, read by the server.
 * Hostile input: everything in a region.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/output.h"

#include "base/fd.h"
#include "base/own.h"
#include "call/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHAR_BYTES  4u    /* the longest character in UTF-8 */
#define REGION_PAGE 4096u /* counters first, so that text starts on a page */
#define INDEX_AT    256u  /* of the files, behind the counters */
#define IMAGES_AT   REGION_PAGE /* the images' index: a page that few touch */
#define STREAMS_AT  (2u * REGION_PAGE)

struct counters {
	uint64_t bytes;              /* written in all */
	uint64_t chars;              /* of those, as far as they are whole */
	uint8_t pending[CHAR_BYTES]; /* a character not yet whole */
	uint32_t pending_n;
	uint64_t zero;
};

/* Offsets within a region for streams of so many characters. */
struct layout {
	size_t head, tail; /* bytes of each */
	size_t heap_at;    /* of the files */
	size_t images_at;  /* of the images' bytes */
	size_t size;       /* of the whole region */
};

_Static_assert(OUTPUT_STREAMS * sizeof(struct counters) <= INDEX_AT &&
		   INDEX_AT + sizeof(struct files_index) <= REGION_PAGE,
    "counters and index fit one page");

struct output {
	uint8_t *region;
	struct layout layout;
};

static struct layout
layout_of(uint32_t output_chars)
{
	struct layout layout = {
		.head = (size_t)CHAR_BYTES * output_chars,
		.tail = (size_t)CHAR_BYTES * output_chars / 2 + CHAR_BYTES,
	};

	layout.heap_at =
	    STREAMS_AT + OUTPUT_STREAMS * (layout.head + layout.tail);
	layout.heap_at += REGION_PAGE - layout.heap_at % REGION_PAGE;
	layout.images_at = layout.heap_at + FILES_HEAP_BYTES;
	layout.size = layout.images_at + FILES_HEAP_BYTES;
	return layout;
}

static size_t
head_offset(const struct layout *layout, enum output_stream stream)
{
	return STREAMS_AT + (size_t)stream * (layout->head + layout->tail);
}

int
output_create(uint32_t output_chars, struct err *err)
{
	struct layout layout = layout_of(output_chars);
	own_fd int fd = memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return fail_errno(err, "memfd_create");
	if (ftruncate(fd, (off_t)layout.size) < 0)
		return fail_errno(err, "ftruncate output region");
	/* A child must be able neither to grow it nor to cut it. */
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) <
	    0)
		return fail_errno(err, "seal output region");
	return give_fd(&fd);
}

struct output *
output_map(int fd, uint32_t output_chars)
{
	struct output *output = calloc(1, sizeof(*output));
	void *region;

	if (!output)
		return NULL;
	output->layout = layout_of(output_chars);
	region = mmap(NULL, output->layout.size, PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	if (region == MAP_FAILED) {
		free(output);
		return NULL;
	}
	output->region = region;
	return output;
}

void
output_unmap(struct output *output)
{
	if (!output)
		return;
	(void)munmap(output->region, output->layout.size);
	free(output);
}

static struct counters *
counters_of(struct output *output, enum output_stream stream)
{
	return (struct counters *)(void *)output->region + stream;
}

void
output_clear(struct output *output)
{
	memset(output->region, 0, OUTPUT_STREAMS * sizeof(struct counters));
}

struct files_writer
output_files(struct output *output)
{
	return (struct files_writer){
		.index = (void *)(output->region + INDEX_AT),
		.heap = output->region + output->layout.heap_at,
	};
}

struct files_writer
output_images(struct output *output)
{
	return (struct files_writer){
		.index = (void *)(output->region + IMAGES_AT),
		.heap = output->region + output->layout.images_at,
	};
}

/* Bytes at the end that may be the beginning of a character. */
static size_t
unfinished(struct span bytes)
{
	bool valid;

	for (size_t back = bytes.n < 3 ? bytes.n : 3; back > 0; back--) {
		struct span end = { bytes.p + bytes.n - back, back };

		if (end.p[0] >= 0xc2 && text_char(end, &valid) == back &&
		    !valid)
			return back;
	}
	return 0;
}

/* Counts characters across writes: the bytes of one may come in two. */
static void
count_chars(struct counters *counters, struct span bytes)
{
	bool valid;

	while (counters->pending_n > 0 && bytes.n > 0) {
		struct span whole = { counters->pending,
			counters->pending_n + 1 };
		size_t n;

		counters->pending[counters->pending_n++] = bytes.p[0];
		n = text_char(whole, &valid);
		if (!valid && n == whole.n && n < CHAR_BYTES) {
			bytes.p++;
			bytes.n--;
			continue; /* may still become whole */
		}
		counters->chars++;
		if (n == whole.n) { /* the new byte belongs to it */
			bytes.p++;
			bytes.n--;
		}
		counters->pending_n = 0;
	}
	if (bytes.n == 0)
		return;
	/* Leave a last character that may continue in the next write. */
	counters->pending_n = (uint32_t)unfinished(bytes);
	bytes.n -= counters->pending_n;
	memcpy(counters->pending, bytes.p + bytes.n, counters->pending_n);
	counters->chars += text_count(bytes);
}

static void
ring_put(uint8_t *ring, size_t size, uint64_t at, struct span bytes)
{
	if (bytes.n > size) { /* only the last bytes can stay */
		at += bytes.n - size;
		bytes.p += bytes.n - size;
		bytes.n = size;
	}
	while (bytes.n > 0) {
		size_t place = (size_t)(at % size);
		size_t n = bytes.n < size - place ? bytes.n : size - place;

		memcpy(ring + place, bytes.p, n);
		at += n;
		bytes.p += n;
		bytes.n -= n;
	}
}

void
output_write(struct output *output, enum output_stream stream,
    const uint8_t *bytes, size_t n)
{
	const struct layout *layout = &output->layout;
	struct counters *counters = counters_of(output, stream);
	uint8_t *head = output->region + head_offset(layout, stream);
	struct span rest = { bytes, n };
	uint64_t at = counters->bytes;

	if (n == 0)
		return;
	if (at < layout->head) {
		size_t room = layout->head - (size_t)at;
		size_t part = n < room ? n : room;

		memcpy(head + at, bytes, part);
		rest.p += part;
		rest.n -= part;
		at += part;
	}
	if (rest.n > 0)
		ring_put(
		    head + layout->head, layout->tail, at - layout->head, rest);
	count_chars(counters, (struct span){ bytes, n });
	counters->bytes += n;
}

/* ---- the reader ---- */

static int
region_pread(int fd, size_t offset, size_t n, struct buf *buf, struct err *err)
{
	if (buf_reserve(buf, n) < 0)
		return fail(err, ENOMEM, "output of %zu bytes", n);
	while (n > 0) {
		ssize_t got = pread(fd, buf->p + buf->n, n, (off_t)offset);

		if (got < 0)
			return fail_errno(err, "read output region");
		if (got == 0)
			return fail(err, EPROTO, "output region is too short");
		buf->n += (size_t)got;
		offset += (size_t)got;
		n -= (size_t)got;
	}
	return 0;
}

/* Reads the ring in the order in which it was written. */
static int
ring_pread(int fd, size_t offset, size_t size, uint64_t total, struct buf *buf,
    struct err *err)
{
	size_t place = (size_t)(total % size);
	int r = 0;

	if (total > size)
		r = region_pread(fd, offset + place, size - place, buf, err);
	else
		place = (size_t)total;
	return r < 0 ? r : region_pread(fd, offset, place, buf, err);
}

/* The tail of a ring may begin inside a character. */
static struct span
tail_aligned(struct span tail)
{
	for (int i = 0; i < 3 && tail.n > 0 && (tail.p[0] & 0xc0) == 0x80;
	     i++) {
		tail.p++;
		tail.n--;
	}
	return tail;
}

/* Adds at most max characters from the end of bytes. */
static int
text_add_last(struct buf *buf, struct span bytes, uint64_t max)
{
	uint64_t count = text_count(bytes);

	if (count > max)
		bytes = text_skip(bytes, count - max);
	return text_add(buf, bytes, max);
}

int
output_add_mark(struct buf *into, const struct stream *stream, uint64_t total)
{
	return buf_printf(into, "\n[truncated, %s%" PRIu64 " chars total]\n",
	    stream->ended ? "at least " : "", total);
}

/* The two ends of a stream of total characters, and the mark between them. */
static int
text_add_ends(const struct stream *stream, uint64_t total, struct span head,
    struct span tail, uint32_t output_chars, struct buf *text)
{
	uint32_t first = output_chars / 2;
	int r = text_add(text, head, first);

	if (r == 0)
		r = output_add_mark(text, stream, total);
	return r < 0 ? r : text_add_last(text, tail, output_chars - first);
}

static int
text_add_cut(struct stream *stream, struct span head, struct span tail,
    uint32_t output_chars)
{
	stream->cut = true;
	return text_add_ends(stream, stream->total_chars, head, tail,
	    output_chars, &stream->text);
}

static int
stream_fill(struct stream *stream, struct span head, struct span tail,
    uint32_t output_chars, bool ring_used)
{
	struct span rest = head;
	uint64_t left = output_chars;
	int r;

	if (ring_used)
		return text_add_cut(
		    stream, head, tail_aligned(tail), output_chars);
	r = text_take(&stream->text, &rest, &left);
	stream->total_chars = output_chars - left + text_count(rest);
	if (r < 0 || rest.n == 0)
		return r;
	stream->text.n = 0; /* it is longer than that */
	return text_add_cut(stream, head, head, output_chars);
}

int
output_read(int fd, uint32_t output_chars, enum output_stream which,
    struct stream *stream, struct err *err)
{
	struct layout layout = layout_of(output_chars);
	size_t at = head_offset(&layout, which);
	struct counters counters;
	own_buf struct buf head = { .max = layout.head };
	own_buf struct buf tail = { .max = layout.head + layout.tail };
	size_t head_n;
	int r;

	if (pread(fd, &counters, sizeof(counters),
		(off_t)((size_t)which * sizeof(counters))) !=
	    (ssize_t)sizeof(counters))
		return fail(err, EPROTO, "output region is too short");
	head_n =
	    counters.bytes < layout.head ? (size_t)counters.bytes : layout.head;
	/* Of the head of a very long stream, only the first half is shown. */
	if (counters.bytes > (uint64_t)layout.head + layout.tail)
		head_n = (size_t)CHAR_BYTES * (output_chars / 2);
	r = region_pread(fd, at, head_n, &head, err);
	/* While the ring has never been full, the last characters may begin
	 * in the head. */
	if (r == 0 && counters.bytes > layout.head &&
	    counters.bytes - layout.head <= layout.tail)
		r = buf_add(&tail, head.p, head.n);
	if (r == 0 && counters.bytes > layout.head)
		r = ring_pread(fd, at + layout.head, layout.tail,
		    counters.bytes - layout.head, &tail, err);
	if (r < 0)
		return r;
	stream->total_chars = counters.chars + (counters.pending_n ? 1 : 0);
	stream->kept_chars = output_chars;
	r = stream_fill(stream, buf_span(&head), buf_span(&tail), output_chars,
	    counters.bytes > layout.head);
	return r < 0 ? fail(err, -r, "text of the output") : 0;
}

int
output_peek(int fd, uint32_t output_chars, enum output_stream which,
    uint64_t *at, struct buf *into, struct err *err)
{
	struct layout layout = layout_of(output_chars);
	own_buf struct buf bytes = { .max = OUTPUT_PEEK_MAX };
	struct counters counters;
	struct span text;
	uint64_t n;
	int r;

	if (pread(fd, &counters, sizeof(counters),
		(off_t)((size_t)which * sizeof(counters))) !=
	    (ssize_t)sizeof(counters))
		return fail(err, EPROTO, "output region is too short");
	n = counters.bytes < layout.head ? counters.bytes : layout.head;
	if (n <= *at)
		return 0;
	n -= *at;
	if (n > OUTPUT_PEEK_MAX)
		n = OUTPUT_PEEK_MAX;
	r = region_pread(fd, head_offset(&layout, which) + (size_t)*at,
	    (size_t)n, &bytes, err);
	if (r < 0)
		return r;
	text = buf_span(&bytes);
	text.n -= unfinished(text);
	r = text_add(into, text, text.n);
	if (r < 0)
		return fail(err, -r, "text of the output");
	*at += text.n;
	return 0;
}

int
output_read_files(
    int fd, uint32_t output_chars, struct file_list *list, struct err *err)
{
	struct layout layout = layout_of(output_chars);

	return files_read(fd, INDEX_AT, layout.heap_at, list, err);
}

int
output_read_images(
    int fd, uint32_t output_chars, struct file_list *list, struct err *err)
{
	struct layout layout = layout_of(output_chars);

	return files_read(fd, IMAGES_AT, layout.images_at, list, err);
}

int
output_show(
    const struct stream *stream, uint32_t output_chars, struct buf *into)
{
	struct span text = buf_span(&stream->text), note;
	uint64_t chars;
	size_t note_n = stream->note_n < text.n ? stream->note_n : text.n;
	bool missing = stream->cut;
	int r;

	text.n -= note_n;
	note = (struct span){ text.p + text.n, note_n };
	chars = text.n <= output_chars ? text.n : text_count_valid(text);
	if (chars <= output_chars ||
	    (stream->cut && stream->kept_chars <= output_chars)) {
		r = buf_add(into, text.p, text.n);
	} else {
		missing = true;
		r = text_add_ends(stream,
		    stream->cut ? stream->total_chars : chars, text,
		    text_last_valid(text, output_chars), output_chars, into);
	}
	if (r == 0)
		r = buf_add(into, note.p, note.n);
	return r < 0 ? r : missing;
}
