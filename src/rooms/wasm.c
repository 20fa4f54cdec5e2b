/* wasm.c: the room of WebAssembly: CPython in Wasmtime over a file tree in
 * memory. Nothing of the host is in it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/wasm.h"

#include "base/log.h"
#include "conf/artifacts.h"
#include "conf/artifacts_check.h"
#include "conf/artifacts_key.h"
#include "conf/limits.h"
#include "rooms/kind.h"
#include "rooms/wasm_files.h"
#include "wasm/guest_sources.h"
#include "wasm/hot.h"
#include "wasm/snapshot.h"
#include "wasm/stack.h"
#include "wasm/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

struct wasm_paths {
	char stdlib[ARTIFACT_PATH_MAX], mpldata[ARTIFACT_PATH_MAX],
	    shelf[ARTIFACT_PATH_MAX], added[ARTIFACT_PATH_MAX],
	    snapshot[ARTIFACT_PATH_MAX], hot[ARTIFACT_PATH_MAX];
};

static void
path_set(char path[ARTIFACT_PATH_MAX], const char *dir, const char *name)
{
	(void)snprintf(path, ARTIFACT_PATH_MAX, "%s/%s", dir, name);
}

static int
engine_restore(const struct wire_conf *conf, const struct wasm_paths *paths,
    struct wasm_room *room, struct err *err)
{
	struct engine_options options = { .module_path = room->module_path,
		.wasi = room->wasi };
	struct snapshot_info info;
	struct stack_sizes stack = { 0 };
	struct guest_mem mem;
	int r = snapshot_read_info(paths->snapshot, &info, err);

	if (r == 0)
		r = stack_setup(&stack, err);
	if (r < 0)
		return r;
	options.memory_max = info.memory_bytes + conf->memory_bytes;
	options.stack_bytes = stack.native_bytes;
	r = engine_open(&options, &room->engine, err);
	if (r == 0)
		r = snapshot_restore(
		    paths->snapshot, room->engine, room->wasi, err);
	if (r < 0)
		return r;
	room->memory_before = info.memory_bytes;
	room->memory_max = options.memory_max;
	room->interrupt = info.interrupt;
	mem = engine_memory(room->engine);
	room->interrupted = mem;
	return snapshot_set_window(&mem, &info.window, stack.window_bytes, err);
}

int
wasm_room_open(const struct wire_conf *conf, bool with_hot,
    struct wasm_room *ret_room, struct err *err)
{
	struct wasm_paths paths;
	struct world_options world = {
		.stdlib_path = paths.stdlib,
		.mpldata_path = paths.mpldata,
		.shelf_path = paths.shelf,
		.added_path = paths.added,
		.limits = { .bytes = conf->files_bytes,
		    .entries = conf->files_count,
		    .file_size = GUEST_FILE_SIZE_MAX },
	};
	const char *dir = conf->artifacts_dir;
	int r;

	path_set(paths.stdlib, dir, ARTIFACT_STDLIB);
	path_set(paths.mpldata, dir, ARTIFACT_MPLDATA);
	path_set(paths.shelf, dir, ARTIFACT_SHELF);
	path_set(paths.added, dir, ARTIFACT_ADDED);
	path_set(paths.snapshot, dir, ARTIFACT_SNAPSHOT);
	path_set(paths.hot, dir, ARTIFACT_HOT);
	path_set(ret_room->module_path, dir, ARTIFACT_MODULE);
	r = world_new(&world, &ret_room->wasi, err);
	if (r == 0)
		r = engine_restore(conf, &paths, ret_room, err);
	/* Without the list calls are slower, and right all the same. */
	if (r == 0 && with_hot &&
	    hot_load(paths.hot, engine_memory(ret_room->engine),
		ret_room->module_path, &ret_room->hot, err) < 0)
		log_warn("event=hot_pages error=\"%s\"", err->text);
	return r;
}

static int
wasm_warm(const struct wire_conf *conf, const struct granted *granted,
    void **ret_state, struct err *err)
{
	struct wasm_room *room = calloc(1, sizeof(*room));
	int r;

	if (!room)
		return fail(err, ENOMEM, "a room");
	room->take_files = conf->take_files;
	room->deterministic = conf->deterministic;
	r = wasm_room_open(conf, true, room, err);
	if (r == 0)
		r = wasm_files_grant(room, granted, err);
	if (r < 0)
		free(room);
	else
		*ret_state = room;
	return r;
}

static void
write_output(void *arg, int stream, const uint8_t *bytes, size_t n)
{
	struct wasm_room *room = arg;

	switch (stream) {
	case 1:
		output_write(room->output, OUTPUT_OUT, bytes, n);
		break;
	case WASI_VALUE_FD:
		output_write(room->output, OUTPUT_VALUE, bytes, n);
		break;
	case WASI_HINT_FD:
		output_write(room->output, OUTPUT_HINT, bytes, n);
		break;
	case WASI_IMAGE_FD:
		show_image(
		    &room->shown, room->output, (struct span){ bytes, n });
		break;
	default:
		output_write(room->output, OUTPUT_ERR, bytes, n);
		break;
	}
}

static int
turn_must(
    struct wasm_room *room, const struct guest_source *source, struct err *err)
{
	struct turn turn;

	engine_turn(
	    room->engine, (struct span){ source->bytes, source->n }, &turn);
	if (turn.end != TURN_RETURNED || turn.status != 0)
		return fail(err, EIO, "%s ended with %d %s", source->name,
		    turn.status, turn.trap);
	return 0;
}

/* What a program loads lies in large pages, of which a copy costs a few
 * microseconds instead of one or two milliseconds for 100 MB; what it takes
 * first, and most never more than that, in small ones. Where the kernel has no
 * large pages, copies are slower. */
static void
wasm_stay(void *state)
{
	const struct wasm_room *room = state;
	uint64_t from = room->memory_before + SESSION_SMALL_BYTES;

	if (from < room->memory_max)
		(void)madvise(room->interrupted.base + from,
		    (size_t)(room->memory_max - from), MADV_HUGEPAGE);
}

static int
wasm_prepare(void *state, struct output *output, bool (*hurry)(void *),
    void *arg, struct err *err)
{
	struct wasm_room *room = state;
	struct span none = { 0 };
	int r;

	room->output = output;
	wasi_set_output(room->wasi, write_output, room);
	wasi_set_input(room->wasi, none, none, none);
	if (room->deterministic) { /* every child in the same way, too */
		wasi_fixed_init(&room->fixed, &room->fixed_sys);
		wasi_set_sys(room->wasi, &room->fixed_sys);
		hurry = room_never_hurry;
	}
	if (room->hot && !hurry(arg))
		hot_populate(room->hot);
	/* Never left off: no two children may draw the same random numbers. */
	r = turn_must(room, &guest_fresh, err);
	if (r == 0 && !hurry(arg)) {
		r = turn_must(room, &guest_rehearse, err);
		output_clear(output);
		room->shown.n = 0;
	}
	if (r == 0 && room->hot && !hurry(arg))
		hot_read(room->hot);
	return r;
}

static uint64_t
process_cpu_us(void)
{
	struct timespec cpu;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	return (uint64_t)cpu.tv_sec * 1000000u + (uint64_t)cpu.tv_nsec / 1000u;
}

/* One turn of a program's, which may be interrupted. */
static void
program_turn(
    struct wasm_room *room, const struct room_job *job, struct turn *ret_turn)
{
	const struct guest_source *source =
	    job->options.n > 0 ? &guest_job : &guest_call;

	wasi_set_input(room->wasi, job->stdin_bytes, job->code, job->options);
	room->told = 0;
	room->running = 1;
	engine_turn(
	    room->engine, (struct span){ source->bytes, source->n }, ret_turn);
	room->running = 0;
	if (!job->stay)
		return;
	/* What came too late is not the next job's. */
	interrupt_clear(&room->interrupted, &room->interrupt);
}

static void
wasm_interrupt(void *state)
{
	struct wasm_room *room = state;

	if (!room->running)
		return;
	room->told = 1;
	interrupt_raise(&room->interrupted, &room->interrupt);
	wasi_interrupt(room->wasi);
}

static void
wasm_run(void *state, struct output *output, const struct room_job *job,
    struct wire_done *ret_done)
{
	struct wasm_room *room = state;
	uint64_t cpu_before = process_cpu_us();
	struct turn turn = { .end = TURN_RETURNED, .status = 1 };

	room->output = output;
	room->shown.n = 0;
	if (wasm_files_give(room, job->files))
		program_turn(room, job, &turn);
	if (room->take_files)
		wasm_files_take(room);
	*ret_done = (struct wire_done){
		.end = turn.end,
		.status = turn.status,
		.out_of_memory = turn.out_of_memory,
		.stays = job->stay && turn.end == TURN_RETURNED,
		.interrupted = (uint32_t)room->told,
		.cpu_us = process_cpu_us() - cpu_before,
		.memory_peak_bytes = engine_memory(room->engine).size -
				     room->memory_before +
				     memfs_bytes_peak(wasi_fs(room->wasi)),
		.memory_bytes = engine_memory(room->engine).size -
				room->memory_before +
				memfs_bytes(wasi_fs(room->wasi)),
	};
	memcpy(ret_done->trap, turn.trap, sizeof(ret_done->trap));
}

static int
wasm_check(int artifacts_fd, struct err *err)
{
	char key[65];
	struct artifacts_inputs inputs;

	int r;

	/* Which packages were added, and whether integers are wide, is told
	 * by the server, by its choice. */
	artifacts_inputs(INT64_ON, &inputs);
	artifacts_key(&inputs, key);
	r = artifacts_check_dir(artifacts_fd, key, KEY_ROOM_DIGITS, NULL);
	if (r == 0)
		return 0;
	artifacts_inputs(INT64_OFF, &inputs);
	artifacts_key(&inputs, key);
	return artifacts_check_dir(artifacts_fd, key, KEY_SHELF_DIGITS, err);
}

/* Python's memory and files, and the pages of the snapshot that it writes. */
static uint64_t
wasm_child_bytes(const struct wire_conf *conf, int artifacts_fd)
{
	/* Its job and its images, too. */
	uint64_t bytes = conf->memory_bytes + conf->files_bytes +
			 FILES_HEAP_BYTES + JOB_MAX + CHILD_SLACK_BYTES;
	struct stat st;

	if (conf->take_files) /* a second time, in the output region */
		bytes += FILES_HEAP_BYTES;

	if (fstatat(artifacts_fd, ARTIFACT_SNAPSHOT, &st, 0) == 0)
		bytes += (uint64_t)st.st_size;
	return bytes;
}

const struct room_kind room_wasm = {
	.name = "wasm",
	.id = ROOM_WASM,
	/* The second wall behind WebAssembly, and what it stands on; the rest
	 * is the third. */
	.required = WALL_BIT(WALL_SECCOMP) | WALL_BIT(WALL_NO_NEW_PRIVS) |
		    WALL_BIT(WALL_CAPS) | WALL_BIT(WALL_FDS) |
		    WALL_BIT(WALL_RLIMITS) | WALL_BIT(WALL_PARENT) |
		    WALL_BIT(WALL_PROOF),
	.check = wasm_check,
	.child_bytes = wasm_child_bytes,
	.warm = wasm_warm,
	.stay = wasm_stay,
	.prepare = wasm_prepare,
	.run = wasm_run,
	.interrupt = wasm_interrupt,
};
