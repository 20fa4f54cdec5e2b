/* worker_kind.c: a child as the proxy of a worker.
 * Hostile input: what the worker says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/worker_kind.h"

#include "base/fd.h"
#include "base/fd_pass.h"
#include "base/own.h"
#include "base/sys.h"
#include "conf/limits.h"
#include "rooms/show_image.h"
#include "rooms/worker.h"
#include "rooms/worker_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What a proxy holds once it has its worker: by number. */
#define STREAM_FD 4
#define LIFE_FD   5 /* held open for as long as the proxy lives */

struct proxy {
	const struct wire_conf *conf;
	const struct room_kind *kind;
	struct buf settings;
	bool session; /* its worker takes several jobs */
	int pidfd;    /* of its worker, until it is handed over; -1 */
	struct worker_reader reader;
	struct output *output;
	volatile sig_atomic_t running; /* a program */
	volatile sig_atomic_t told;    /* it: to come to an end */

	/* of the job */
	bool ready, ended;
	struct worker_end end;
	struct shown shown;
	bool files_begun;
	struct files_writer files;
	uint8_t *file; /* where the rest of a file goes; NULL: nowhere */
	uint64_t file_left;
	struct err refused; /* code 0: it was not */
};

/* ---- what a worker says ---- */

static void
file_begin(struct proxy *proxy, struct span payload)
{
	uint64_t size;
	struct span name;

	if (!worker_file_read(payload, &size, &name) ||
	    !proxy->conf->take_files)
		return;
	if (!proxy->files_begun)
		proxy->files = output_files(proxy->output);
	proxy->files_begun = true;
	if (name.n > RESULT_NAME_MAX)
		name.n = 0;
	(void)files_add(&proxy->files, name, size, &proxy->file);
	proxy->file_left = proxy->file ? size : 0;
}

static void
file_data(struct proxy *proxy, struct span bytes)
{
	size_t n =
	    bytes.n < proxy->file_left ? bytes.n : (size_t)proxy->file_left;

	if (n == 0)
		return;
	memcpy(proxy->file, bytes.p, n);
	proxy->file += n;
	proxy->file_left -= n;
}

static void
on_piece(void *arg, enum worker_frame type, struct span bytes)
{
	struct proxy *proxy = arg;
	enum output_stream stream = type == WORKER_OUT     ? OUTPUT_OUT
				    : type == WORKER_VALUE ? OUTPUT_VALUE
				    : type == WORKER_HINT  ? OUTPUT_HINT
							   : OUTPUT_ERR;

	if (type == WORKER_FILE_DATA)
		file_data(proxy, bytes);
	else
		output_write(proxy->output, stream, bytes.p, bytes.n);
}

static void
on_whole(void *arg, enum worker_frame type, struct span bytes)
{
	struct proxy *proxy = arg;

	if (type == WORKER_READY)
		proxy->ready = true;
	else if (type == WORKER_END)
		proxy->ended = worker_end_read(bytes, &proxy->end);
	else if (type == WORKER_IMAGE)
		show_image(&proxy->shown, proxy->output, bytes);
	else if (type == WORKER_FILE)
		file_begin(proxy, bytes);
	else if (type == WORKER_REFUSED)
		(void)fail(&proxy->refused, EIO, "%.*s", (int)bytes.n,
		    (const char *)bytes.p);
}

/* ---- getting one ---- */

static int
send_frame(int fd, enum worker_frame type, const void *bytes, size_t n)
{
	uint8_t header[WORKER_HEADER];
	int r;

	worker_header(header, type, n);
	r = fd_send_all(fd, header, sizeof(header));
	return r == 0 && n > 0 ? fd_send_all(fd, bytes, n) : r;
}

/* In pieces: a frame has its maximum. */
static int
send_part(int fd, enum worker_frame type, struct span bytes)
{
	int r = 0;

	while (r == 0 && bytes.n > 0) {
		size_t n =
		    bytes.n < WORKER_PIECE_MAX ? bytes.n : WORKER_PIECE_MAX;

		r = send_frame(fd, type, bytes.p, n);
		bytes.p += n;
		bytes.n -= n;
	}
	return r;
}

static int
send_start(struct proxy *proxy, int stream)
{
	uint32_t n = (uint32_t)worker_source_n;
	int r = 0;

	if (proxy->kind->flags & ROOM_SEND_SOURCE) {
		r = fd_send_all(stream, &n, sizeof(n));
		if (r == 0)
			r = fd_send_all(stream, worker_source, n);
	}
	if (r == 0 && proxy->kind->flags & ROOM_SEND_SETTINGS)
		r = send_frame(stream, WORKER_SETTINGS, proxy->settings.p,
		    proxy->settings.n);
	return r;
}

/* What comes before the worker's own first frame, from its factory. */
static int
take_first(struct proxy *proxy, int stream, struct err *err)
{
	uint8_t header[WORKER_HEADER];
	int pidfd = -1;
	int r = fd_wait(stream, WORKER_TURN_MS);

	if (r == 0)
		r = fd_receive_with(stream, header, sizeof(header), &pidfd, 1);
	if (r < 0)
		return fail(err, -r, "a worker does not start: %s",
		    r == -EPIPE ? "its end" : strerror(-r));
	if (pidfd >= 0)
		proxy->pidfd = pidfd;
	return worker_feed(
	    &proxy->reader, (struct span){ header, sizeof(header) }, err);
}

/* Until it is ready, or said to be refused. */
static int
wait_ready(struct proxy *proxy, int stream, struct err *err)
{
	uint8_t bytes[512];
	int r = take_first(proxy, stream, err);

	while (r == 0 && !proxy->ready && proxy->refused.code == 0) {
		ssize_t n;

		r = fd_wait(stream, WORKER_START_MS);
		n = r < 0 ? r : read(stream, bytes, sizeof(bytes));
		if (n <= 0)
			return fail(err, EIO, "a worker does not start: %s",
			    r < 0 ? strerror(-r) : "its end");
		r = worker_feed(
		    &proxy->reader, (struct span){ bytes, (size_t)n }, err);
	}
	if (r == 0 && proxy->refused.code != 0)
		return fail(err, EIO, "%s", proxy->refused.text);
	return r;
}

/* The numbers that the filter and the rest of this file know. First away from
 * them, for one end may have the other's. */
static int
number_ends(struct proxy *proxy, int stream, int life, struct err *err)
{
	const int above = PROXY_PROCS_FD + 1;
	int high = fcntl(stream, F_DUPFD_CLOEXEC, above);
	int higher = fcntl(life, F_DUPFD_CLOEXEC, above);

	if (proxy->pidfd >= 0)
		proxy->pidfd = fcntl(proxy->pidfd, F_DUPFD_CLOEXEC, above);
	if (dup2(high, STREAM_FD) < 0 || dup2(higher, LIFE_FD) < 0)
		return fail_errno(err, "number a worker's stream");
	return 0;
}

int
worker_kind_prepare(void *state, struct output *output, bool (*hurry)(void *),
    void *arg, struct err *err)
{
	struct proxy *proxy = state;
	int procs = fcntl(PROXY_PROCS_FD, F_GETFD) < 0 ? -1 : PROXY_PROCS_FD;
	int stream, life;
	int r;

	(void)hurry;
	(void)arg;
	proxy->output = output;
	worker_reader_init(&proxy->reader);
	r = factory_ask(
	    PROXY_FACTORY_FD, procs, proxy->session, &stream, &life, err);
	if (r < 0)
		return r;
	/* Before another descriptor comes, which would have one of these. */
	r = number_ends(proxy, stream, life, err);
	if (r < 0)
		return r;
	(void)send_start(proxy, STREAM_FD);
	/* Its own word of why it ended is worth more. */
	r = wait_ready(proxy, STREAM_FD, err);
	if (r == 0 && proxy->kind->flags & ROOM_IN_TURN)
		(void)fd_send_all(LIFE_FD, "", 1);
	return r;
}

int
worker_kind_worker(void *state)
{
	struct proxy *proxy = state;
	int pidfd = proxy->pidfd;

	proxy->pidfd = -1;
	return pidfd;
}

int
worker_kind_watch(void *state)
{
	(void)state;
	return STREAM_FD;
}

void
worker_kind_stay(void *state)
{
	struct proxy *proxy = state;

	proxy->session = true;
}

/* ---- a job ---- */

struct packet {
	uint8_t *bytes; /* WORKER_READ of them */
	size_t n;
};

/* Small parts are gathered and go as one: whoever is on their way to the worker
 * wakes for each that comes. */
static int
gather_part(struct packet *packet, enum worker_frame type, struct span bytes)
{
	int r;

	if (bytes.n == 0)
		return 0;
	if (packet->n + WORKER_HEADER + bytes.n > WORKER_READ) {
		r = fd_send_all(STREAM_FD, packet->bytes, packet->n);
		packet->n = 0;
		return r < 0 ? r : send_part(STREAM_FD, type, bytes);
	}
	worker_header(packet->bytes + packet->n, type, bytes.n);
	packet->n += WORKER_HEADER;
	memcpy(packet->bytes + packet->n, bytes.p, bytes.n);
	packet->n += bytes.n;
	return 0;
}

static int
send_job(const struct room_job *job, struct packet *packet)
{
	const uint8_t stay[4] = { job->stay };
	int r = gather_part(packet, WORKER_CODE, job->code);

	if (r == 0)
		r = gather_part(packet, WORKER_INPUT, job->stdin_bytes);
	if (r == 0)
		r = gather_part(packet, WORKER_OPTIONS, job->options);
	if (r == 0)
		r = gather_part(packet, WORKER_FILES, job->files);
	if (r == 0)
		r = gather_part(
		    packet, WORKER_GO, (struct span){ stay, sizeof(stay) });
	return r < 0 ? r : fd_send_all(STREAM_FD, packet->bytes, packet->n);
}

/* Until its END, or its end. */
static int
pump(struct proxy *proxy, uint8_t *bytes, struct err *err)
{
	int r = 0;

	while (r == 0 && !proxy->ended) {
		ssize_t n = read(STREAM_FD, bytes, WORKER_READ);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(err, EPIPE, "the worker ended");
		r = worker_feed(
		    &proxy->reader, (struct span){ bytes, (size_t)n }, err);
	}
	return r;
}

static void
job_begin(struct proxy *proxy, struct output *output)
{
	proxy->output = output;
	proxy->ended = proxy->files_begun = false;
	proxy->shown.n = 0;
	proxy->file_left = 0;
	proxy->told = 0;
	memset(&proxy->end, 0, sizeof(proxy->end));
}

static void
done_fill(const struct proxy *proxy, int r, const struct room_job *job,
    const struct err *err, struct wire_done *ret_done)
{
	const struct worker_end *end = &proxy->end;

	*ret_done = (struct wire_done){
		.end = r < 0 ? TURN_TRAPPED : TURN_RETURNED,
		.status = end->status,
		.signal = end->signal,
		.out_of_memory = (end->flags & WORKER_OUT_OF_MEMORY) != 0,
		.stays = r == 0 && job->stay && end->stays,
		.interrupted = (uint32_t)proxy->told,
		.cpu_us = end->cpu_us,
		.memory_peak_bytes = end->memory_peak_bytes,
		.memory_bytes = end->memory_peak_bytes,
	};
	(void)snprintf(
	    ret_done->trap, sizeof(ret_done->trap), "%.95s", err->text);
}

void
worker_kind_run(void *state, struct output *output, const struct room_job *job,
    struct wire_done *ret_done)
{
	static uint8_t bytes[WORKER_READ]; /* too large for a stack */
	struct packet packet = { .bytes = bytes };
	struct proxy *proxy = state;
	struct err err = { 0 };
	int r;

	job_begin(proxy, output);
	r = send_job(job, &packet);
	proxy->running = r == 0;
	/* A worker that is gone may have said something before. */
	r = pump(proxy, bytes, &err);
	proxy->running = 0;
	if (proxy->files_begun)
		files_end(&proxy->files);
	done_fill(proxy, r, job, &err, ret_done);
}

/* In a signal handler. */
void
worker_kind_interrupt(void *state)
{
	struct proxy *proxy = state;
	uint8_t header[WORKER_HEADER];

	if (!proxy->running)
		return;
	proxy->told = 1;
	worker_header(header, WORKER_INTERRUPT, 0);
	(void)!send(
	    STREAM_FD, header, sizeof(header), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- the zygote's part ---- */

/* Names of modules alone: nothing in them need be escaped. */
static int
add_preload(const char *names, struct buf *into)
{
	int r = 0;

	while (r == 0 && *names) {
		size_t n = strcspn(names, ",");

		r = buf_printf(into, "%s\"%.*s\"",
		    into->p[into->n - 1] == '[' ? "" : ", ", (int)n, names);
		names += n + (names[n] == ',');
	}
	return r;
}

int
worker_settings(const struct wire_conf *conf, struct buf *into)
{
	int r = buf_printf(into, "{\"room\": \"%s\", \"preload\": [",
	    room_id_name((enum room_id)conf->room));

	if (r == 0)
		r = add_preload(conf->preload, into);
	return r < 0
		   ? r
		   : buf_printf(into,
			 "], \"processes\": %s, \"take_files\": %s, "
			 "\"files_bytes\": %llu, \"files_count\": %u, "
			 "\"pids\": %u, \"cpus\": %u, \"memory_bytes\": %llu, "
			 "\"workspace\": \"/workspace\", \"tmp\": \"/tmp\"}",
			 conf->allow_processes ||
				 room_id_has(
				     (enum room_id)conf->room, TRAIT_PROCESSES)
			     ? "true"
			     : "false",
			 conf->take_files ? "true" : "false",
			 (unsigned long long)conf->files_bytes,
			 conf->files_count, conf->processes,
			 (conf->cpus_milli + 999) / 1000,
			 (unsigned long long)conf->memory_bytes);
}

int
worker_kind_warm(const struct wire_conf *conf, const struct granted *granted,
    void **ret_state, struct err *err)
{
	struct proxy *proxy = calloc(1, sizeof(*proxy));
	int r;

	(void)granted;
	if (!proxy)
		return fail(err, ENOMEM, "a room");
	proxy->conf = conf;
	proxy->kind = room_kind_of((enum room_id)conf->room);
	proxy->pidfd = -1;
	proxy->reader = (struct worker_reader){
		.piece = on_piece, .whole = on_whole, .arg = proxy
	};
	buf_init(&proxy->settings, WORKER_TEXT_MAX);
	r = worker_settings(conf, &proxy->settings);
	if (r < 0) {
		free(proxy);
		return fail(err, -r, "a worker's settings: %s", strerror(-r));
	}
	*ret_state = proxy;
	return 0;
}
