/* build.c: the stages of an installation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/build_impl.h"

#include "base/fd.h"
#include "base/own.h"
#include "conf/artifacts.h"
#include "conf/limits.h"
#include "rooms/kind.h"
#include "rooms/wasm.h"
#include "walls/walls.h"
#include "wasm/engine.h"
#include "wasm/guest_sources.h"
#include "wasm/hot.h"
#include "wasm/snapshot.h"
#include "wasm/stack.h"
#include "wasm/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a guest may take while it is prepared: the walk over all objects needs
 * more than any call. */
#define BUILD_MEMORY_MAX (2048ull * MIB)
#define BUILD_FILES_MAX  (256ull * MIB)
#define OBJECTS_MAX      (64u * MIB) /* addresses of the guest's objects */
#define PACK_MAX         (64u * MIB)

/* A reference count that CPython never changes: PEP 683. */
#define IMMORTAL       0x50000000u
#define IMMORTAL_LEAST 0x40000000u
#define REFCOUNT_MAX   10000000u /* above it a word is not a count */
#define STATIC_DATA    16777216u /* below it lies the C stack */

/* Pages touched by so many of the training programs are worth preparing. */
#define HOT_LEAST 4u

/* ---- a guest of its own ---- */

static void
guest_says(void *arg, int stream, const uint8_t *bytes, size_t n)
{
	(void)arg;
	(void)fd_write_all(
	    stream == 1 ? STDOUT_FILENO : STDERR_FILENO, bytes, n);
}

int
builder_open(const char *dir, const char *stdlib_path, bool with_mpldata,
    struct builder *ret_builder, struct err *err)
{
	char module[ARTIFACT_PATH_MAX], mpldata[ARTIFACT_PATH_MAX];
	struct world_options world = {
		.stdlib_path = stdlib_path,
		.mpldata_path = with_mpldata ? mpldata : NULL,
		.limits = { .bytes = BUILD_FILES_MAX,
		    .entries = FILES_COUNT_DEFAULT,
		    .file_size = BUILD_FILES_MAX },
		.building = true,
	};
	struct engine_options options = { .module_path = module,
		.memory_max = BUILD_MEMORY_MAX };
	struct stack_sizes stack = { 0 };
	int r;

	(void)snprintf(module, sizeof(module), "%s/" ARTIFACT_MODULE, dir);
	(void)snprintf(mpldata, sizeof(mpldata), "%s/" ARTIFACT_MPLDATA, dir);
	r = world_new(&world, &ret_builder->wasi, err);
	if (r == 0)
		r = stack_setup(&stack, err);
	if (r < 0)
		return r;
	wasi_set_output(ret_builder->wasi, guest_says, NULL);
	wasi_fixed_init(&ret_builder->fixed, &ret_builder->fixed_sys);
	wasi_set_sys(ret_builder->wasi, &ret_builder->fixed_sys);
	options.wasi = ret_builder->wasi;
	options.stack_bytes = stack.native_bytes;
	r = engine_open(&options, &ret_builder->engine, err);
	return r < 0 ? r : engine_start(ret_builder->engine, err);
}

int
builder_turn(
    struct builder *builder, const struct guest_source *source, struct err *err)
{
	struct turn turn;

	engine_turn(
	    builder->engine, (struct span){ source->bytes, source->n }, &turn);
	if (turn.end != TURN_RETURNED || turn.status != 0)
		return fail(err, EIO, "the guest's %s ended with %d %s",
		    source->name, turn.status, turn.trap);
	return 0;
}

int
builder_file_out(struct builder *builder, const char *guest_path,
    const char *path, size_t max, struct err *err)
{
	own_buf struct buf bytes = { .max = max };
	own_fd int fd = -1;
	int r = memfs_read_whole(wasi_fs(builder->wasi), guest_path, &bytes);

	if (r < 0)
		return fail(err, -r, "the guest left no %s: %s", guest_path,
		    strerror(-r));
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail_errno(err, "create %s", path);
	r = fd_write_all(fd, bytes.p, bytes.n);
	return r < 0 ? fail(err, -r, "write %s: %s", path, strerror(-r)) : 0;
}

int
build_mpldata(
    const char *stdlib_zip_path, const char *out_path, struct err *err)
{
	struct builder builder = { 0 };
	char dir[ARTIFACT_PATH_MAX];
	char *slash;
	int r;

	/* The module of the stage before lies beside what this one makes. */
	(void)snprintf(dir, sizeof(dir), "%s", out_path);
	slash = strrchr(dir, '/');
	if (!slash)
		return fail(err, EINVAL, "%s has no directory", out_path);
	*slash = '\0';
	r = builder_open(dir, stdlib_zip_path, false, &builder, err);
	if (r == 0)
		r = builder_turn(&builder, &guest_pack, err);
	return r < 0 ? r
		     : builder_file_out(&builder, GUEST_BUILD "/mpl-data.pack",
			   out_path, PACK_MAX, err);
}

/* ---- immortal objects ---- */

/* In a fork: walks over the guest's objects and writes their addresses to fd.
 * The fork keeps the walk's own memory out of the snapshot. */
static _Noreturn void
walk_main(struct builder *builder, pid_t parent, int fd)
{
	own_buf struct buf objects = { .max = OBJECTS_MAX };
	struct err err = { 0 };
	int r = wall_parent(parent, &err);

	if (r == 0)
		r = builder_turn(builder, &guest_walk, &err);
	if (r == 0)
		r = memfs_read_whole(
		    wasi_fs(builder->wasi), GUEST_BUILD "/objects", &objects);
	if (r == 0)
		r = fd_write_all(fd, objects.p, objects.n);
	if (r < 0)
		(void)fprintf(stderr, "walk: %s\n", err.text);
	_exit(r < 0);
}

static int
walk_wait(pid_t pid, struct err *err)
{
	int status;

	if (pid < 0)
		return fail_errno(err, "fork");
	if (waitpid(pid, &status, 0) < 0)
		return fail_errno(err, "wait for the walk");
	return status == 0
		   ? 0
		   : fail(err, EIO, "the walk over the guest's objects failed");
}

/* Gives the object at this address an immortal count, if it is one: the walk
 * also lists objects of its own, which this memory does not hold. */
static void
immortalise_one(const struct guest_mem *mem, uint32_t address)
{
	struct guest_ptr ptr = { address };
	uint32_t words[2]; /* reference count and type */

	if (!guest_get(mem, ptr, words, sizeof(words)) || words[0] == 0 ||
	    words[0] >= IMMORTAL_LEAST || words[0] > REFCOUNT_MAX ||
	    words[1] < STATIC_DATA || words[1] >= mem->size)
		return;
	(void)guest_put_u32(mem, ptr, IMMORTAL);
}

/* Makes the objects of the snapshot immortal, so that using one does not write
 * to its page: half the pages that a short program would dirty. */
static int
immortalise(struct builder *builder, struct err *err)
{
	struct guest_mem mem = engine_memory(builder->engine);
	own_fd int fd = memfd_create("objects", MFD_CLOEXEC);
	own_buf struct buf addresses = { .max = OBJECTS_MAX };
	pid_t parent = getpid();
	off_t n;
	pid_t pid;
	int r;

	if (fd < 0)
		return fail_errno(err, "memfd_create");
	pid = fork();
	if (pid == 0)
		walk_main(builder, parent, fd);
	r = walk_wait(pid, err);
	if (r < 0)
		return r;
	n = lseek(fd, 0, SEEK_END);
	if (n <= 0 || n > (off_t)OBJECTS_MAX || n % 4 != 0 ||
	    buf_reserve(&addresses, (size_t)n) < 0 ||
	    pread(fd, addresses.p, (size_t)n, 0) != (ssize_t)n)
		return fail(
		    err, EPROTO, "the walk gave %lld bytes", (long long)n);
	for (size_t i = 0; i < (size_t)n; i += sizeof(uint32_t)) {
		uint32_t address;

		memcpy(&address, addresses.p + i, sizeof(address));
		immortalise_one(&mem, address);
	}
	return 0;
}

/* ---- the snapshot ---- */

/* What the guest says of itself, as text: the address of KeyboardInterrupt. */
static int
marks_find(
    struct builder *builder, struct snapshot_info *ret_info, struct err *err)
{
	struct guest_mem mem = engine_memory(builder->engine);
	own_buf struct buf text = { .max = 32 };
	int r = memfs_read_whole(
	    wasi_fs(builder->wasi), GUEST_BUILD "/interrupt", &text);

	if (r == 0)
		r = buf_add(&text, "", 1);
	if (r < 0)
		return fail(err, -r,
		    "the guest left no " GUEST_BUILD "/interrupt: %s",
		    strerror(-r));
	r = interrupt_find(&mem,
	    (uint32_t)strtoul((const char *)text.p, NULL, 10),
	    &ret_info->interrupt, err);
	return r < 0 ? r : snapshot_find_window(&mem, &ret_info->window, err);
}

static int
snapshot_take(struct builder *builder, const char *dir, struct err *err)
{
	char path[ARTIFACT_PATH_MAX];
	struct snapshot_info info = { 0 };
	int r;

	(void)snprintf(path, sizeof(path), "%s/" ARTIFACT_ABOUT, dir);
	r = builder_file_out(
	    builder, GUEST_BUILD "/about.json", path, ABOUT_MAX, err);
	if (r == 0)
		r = immortalise(builder, err);
	if (r < 0)
		return r;
	r = marks_find(builder, &info, err);
	if (r < 0)
		return r;
	r = memfs_remove_tree(wasi_fs(builder->wasi), GUEST_BUILD);
	if (r < 0)
		return fail(
		    err, -r, "remove " GUEST_BUILD ": %s", strerror(-r));
	(void)snprintf(path, sizeof(path), "%s/" ARTIFACT_SNAPSHOT, dir);
	return snapshot_write(path, builder->engine, builder->wasi, &info, err);
}

int
build_snapshot(const char *dir, struct err *err)
{
	char stdlib[ARTIFACT_PATH_MAX];
	struct builder builder = { 0 };
	int r;

	(void)snprintf(stdlib, sizeof(stdlib), "%s/" ARTIFACT_STDLIB, dir);
	r = builder_open(dir, stdlib, true, &builder, err);
	for (size_t i = 0; i < guest_order_count && r == 0; i++)
		r = builder_turn(&builder, &guest_order[i], err);
	return r < 0 ? r : snapshot_take(&builder, dir, err);
}

/* ---- the list of hot pages ---- */

/* In a fork: one training program, as a child would run it. A program that
 * raises still shows which pages a call touches. */
static _Noreturn void
train_main(struct wasm_room *room, const struct guest_source *program,
    struct hot_counts *counts, pid_t parent)
{
	struct room_job job = { .code = { program->bytes, program->n } };
	struct wire_done done;
	struct err err = { 0 };
	int region = -1;
	struct output *output = NULL;
	int r = wall_parent(parent, &err);

	if (r == 0)
		r = region = output_create(OUTPUT_CHARS_DEFAULT, &err);
	if (r >= 0) {
		output = output_map(region, OUTPUT_CHARS_DEFAULT);
		r = output ? room_wasm.prepare(
				 room, output, room_never_hurry, NULL, &err)
			   : fail(&err, ENOMEM, "no memory for its output");
	}
	if (r == 0) {
		room_wasm.run(room, output, &job, &done);
		r = done.end == TURN_RETURNED ? hot_count(counts, &err) : -EIO;
	}
	if (r < 0)
		(void)fprintf(stderr, "%s: %s\n", program->name, err.text);
	_exit(r < 0);
}

static int
train(struct wasm_room *room, struct hot_counts *counts, struct err *err)
{
	pid_t parent = getpid();

	for (size_t i = 0; i < guest_train_count; i++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0)
			train_main(room, &guest_train[i], counts, parent);
		if (pid < 0)
			return fail_errno(err, "fork");
		if (waitpid(pid, &status, 0) < 0 || status != 0)
			return fail(err, EIO, "training program %s failed",
			    guest_train[i].name);
	}
	return 0;
}

int
build_hot(const char *dir, struct err *err)
{
	struct wire_conf conf = {
		.memory_bytes = MEMORY_BYTES_DEFAULT,
		.files_bytes = FILES_BYTES_DEFAULT,
		.files_count = FILES_COUNT_DEFAULT,
	};
	struct wasm_room room = { 0 };
	struct hot_counts *counts;
	char path[ARTIFACT_PATH_MAX];
	int r;

	(void)snprintf(
	    conf.artifacts_dir, sizeof(conf.artifacts_dir), "%s", dir);
	r = wasm_room_open(&conf, false, &room, err);
	if (r < 0)
		return r;
	counts =
	    hot_counts_new(engine_memory(room.engine), room.module_path, err);
	if (!counts)
		return -err->code;
	r = train(&room, counts, err);
	(void)snprintf(path, sizeof(path), "%s/" ARTIFACT_HOT, dir);
	return r < 0 ? r : hot_write(counts, HOT_LEAST, path, err);
}
