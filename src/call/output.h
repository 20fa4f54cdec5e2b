/* output.h: what a program printed, and the files that it left: a shared region
 * of fixed size per child. It survives the child's death, is bounded by
 * construction, and is copied once, into the result. Each stream has a head
 * (its first bytes), a tail (a ring of its last bytes) and counters. Only pages
 * that are written cost anything.
 *
 * Hostile input: a child that was taken over may write anything into its
 * region at any time. The reader copies with pread, so that no byte can change
 * under it, and bounds every counter.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_OUTPUT_H
#define CALL_OUTPUT_H

#include "base/err.h"
#include "call/call.h"

#include <stddef.h>
#include <stdint.h>

struct output; /* a mapped region: the writer's side */

enum output_stream {
	OUTPUT_OUT,
	OUTPUT_ERR,
	OUTPUT_VALUE, /* of the program's last expression */
	OUTPUT_HINT,  /* what to do instead, a line each */
	OUTPUT_STREAMS
};

/* A new region for streams of output_chars characters, as a descriptor whose
 * size is sealed. The fd or -errno. */
int output_create(uint32_t output_chars, struct err *err);

/* Maps a region for writing. NULL with errno set. */
struct output *output_map(int fd, uint32_t output_chars);

/* Takes the mapping back; NULL is fine. */
void output_unmap(struct output *output);

/* Adds bytes to a stream; never fails. */
void output_write(struct output *output, enum output_stream stream,
    const uint8_t *bytes, size_t n);

/* Empties all streams: a rehearsal leaves nothing behind. */
void output_clear(struct output *output);

/* Where to list the files of a program that has ended. */
struct files_writer output_files(struct output *output);

/* Where to list the images that it shows, one after the other: files_end after
 * each, so that those before it survive a kill. */
struct files_writer output_images(struct output *output);

/* Reads a stream into *stream as text: valid UTF-8, at most output_chars
 * characters of it, and where it was longer output_add_mark's line between head
 * and tail. stream->text is initialised, stream->ended said. 0 or -errno. */
int output_read(int fd, uint32_t output_chars, enum output_stream which,
    struct stream *stream, struct err *err);

/* Adds to *into, as text, what stands in the head of a stream behind its first
 * *at bytes, and moves *at there: at most OUTPUT_PEEK_MAX bytes at a time, and
 * nothing of a character that is not whole yet. The writer may be writing. What
 * was added so is what output_read gives, as far as that shows the head. 0 or
 * -errno. */
int output_peek(int fd, uint32_t output_chars, enum output_stream which,
    uint64_t *at, struct buf *into, struct err *err);

/* Reads the files into *list, which is initialised: see files_read. */
int output_read_files(
    int fd, uint32_t output_chars, struct file_list *list, struct err *err);
int output_read_images(
    int fd, uint32_t output_chars, struct file_list *list, struct err *err);

/* Adds "[truncated, N chars total]" on a line of its own: what stands in the
 * place of what is missing of a stream of total characters; "at least N" of one
 * that was ended. 0 or -ENOMEM. */
int output_add_mark(
    struct buf *into, const struct stream *stream, uint64_t total);

/* Adds a stream to *into as it is shown: at most output_chars characters of
 * the program's, cut as output_read would have cut it, and what the room added
 * to it. 1: something is missing; 0: nothing; -ENOMEM. */
int output_show(
    const struct stream *stream, uint32_t output_chars, struct buf *into);

#endif
