/* snapshot.c: writing and mapping snapshots.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/snapshot.h"

#include "base/own.h"
#include "conf/limits.h"
#include "wasm/engine_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SNAPSHOT_MAGIC "BRKSNAP1"
#define PAGE           4096u
#define STATE_MAX      (64u * MIB) /* files and descriptors at the snapshot */

#define GUEST_STACK_TOP 16777216u /* where the guest's C stack begins */
#define WINDOW_MIN      32768u    /* of the window as the guest ships it */
#define WINDOW_MAX      300000u
#define WINDOW_SLACK    400000u /* the first frames lie above its top */

struct snapshot_head {
	char magic[8];
	uint32_t format;
	uint32_t zero;
	uint64_t memory_bytes;   /* follow at PAGE */
	uint64_t files_n, fds_n; /* follow the memory, one after the other */
	struct stack_window window;
	struct interrupt interrupt;
};

/* ---- the C stack's window ---- */

int
snapshot_find_window(const struct guest_mem *mem,
    struct stack_window *ret_window, struct err *err)
{
	struct stack_window found = { 0 };
	unsigned hits = 0;

	for (uint64_t at = GUEST_STACK_TOP; at + 12 <= mem->size; at += 4) {
		uint32_t words[3];
		struct guest_ptr ptr = { (uint32_t)at };

		if (!guest_get(mem, ptr, words, sizeof(words)))
			break;
		if (words[0] > GUEST_STACK_TOP ||
		    words[0] < GUEST_STACK_TOP - WINDOW_SLACK ||
		    words[1] >= words[0] || words[2] >= words[1] ||
		    words[0] - words[2] < WINDOW_MIN ||
		    words[0] - words[2] > WINDOW_MAX)
			continue;
		found = (struct stack_window){ (uint32_t)at, words[0] };
		hits++;
	}
	if (hits != 1)
		return fail(err, ENOENT,
		    "the guest's stack window is there %u times", hits);
	*ret_window = found;
	return 0;
}

int
snapshot_set_window(const struct guest_mem *mem,
    const struct stack_window *window, uint32_t bytes, struct err *err)
{
	struct guest_ptr soft = { window->at + 4 };
	struct guest_ptr hard = { window->at + 8 };
	uint32_t margin = bytes / 16; /* CPython keeps such a part in reserve */

	if (bytes >= window->top ||
	    !guest_put_u32(mem, hard, window->top - bytes) ||
	    !guest_put_u32(mem, soft, window->top - bytes + margin))
		return fail(err, EINVAL, "a stack window of %u bytes", bytes);
	return 0;
}

/* ---- writing ---- */

static int
write_at(int fd, const void *bytes, size_t n, uint64_t offset, struct err *err)
{
	const uint8_t *p = bytes;

	while (n > 0) {
		ssize_t put = pwrite(fd, p, n, (off_t)offset);

		if (put < 0)
			return fail_errno(err, "write the snapshot");
		p += put;
		n -= (size_t)put;
		offset += (uint64_t)put;
	}
	return 0;
}

/* Pages of zeros stay holes in the file. */
static int
memory_write(int fd, const struct guest_mem *mem, struct err *err)
{
	static const uint8_t zeros[PAGE];
	uint64_t start = 0;
	int r = 0;

	while (start < mem->size && r == 0) {
		uint64_t end = start;

		while (end < mem->size &&
		       memcmp(mem->base + end, zeros, PAGE) != 0)
			end += PAGE;
		r = write_at(fd, mem->base + start, (size_t)(end - start),
		    PAGE + start, err);
		start = end + PAGE;
	}
	return r;
}

static int
file_write(int fd, const struct snapshot_head *head,
    const struct guest_mem *mem, const struct buf *files, const struct buf *fds,
    struct err *err)
{
	uint64_t at = PAGE + mem->size;
	int r = memory_write(fd, mem, err);

	if (r == 0)
		r = write_at(fd, files->p, files->n, at, err);
	if (r == 0)
		r = write_at(fd, fds->p, fds->n, at + files->n, err);
	if (r == 0 && ftruncate(fd, (off_t)(at + files->n + fds->n)) < 0)
		r = fail_errno(err, "size the snapshot");
	return r < 0 ? r : write_at(fd, head, sizeof(*head), 0, err);
}

int
snapshot_write(const char *path, struct engine *engine, struct wasi *wasi,
    const struct snapshot_info *info, struct err *err)
{
	own_fd int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	own_buf struct buf files = { .max = STATE_MAX };
	own_buf struct buf fds = { .max = STATE_MAX };
	struct guest_mem mem = engine_memory(engine);
	struct snapshot_head head = {
		.magic = SNAPSHOT_MAGIC,
		.format = SNAPSHOT_FORMAT,
		.memory_bytes = mem.size,
		.window = info->window,
		.interrupt = info->interrupt,
	};
	int r;

	if (fd < 0)
		return fail_errno(err, "create %s", path);
	r = memfs_save(wasi_fs(wasi), &files);
	if (r < 0)
		return fail(err, -r, "save the room's files: %s", strerror(-r));
	r = wasi_save(wasi, &fds, err);
	if (r < 0)
		return r;
	head.files_n = files.n;
	head.fds_n = fds.n;
	return file_write(fd, &head, &mem, &files, &fds, err);
}

/* ---- reading ---- */

static int
head_read(
    int fd, const char *path, struct snapshot_head *ret_head, struct err *err)
{
	struct stat about;

	if (pread(fd, ret_head, sizeof(*ret_head), 0) !=
	    (ssize_t)sizeof(*ret_head))
		return fail(err, EPROTO, "%s is cut short", path);
	if (memcmp(ret_head->magic, SNAPSHOT_MAGIC, 8) != 0 ||
	    ret_head->format != SNAPSHOT_FORMAT)
		return fail(
		    err, EPROTO, "%s is no snapshot of this version", path);
	if (fstat(fd, &about) < 0)
		return fail_errno(err, "stat %s", path);
	if (ret_head->memory_bytes % PAGE != 0 ||
	    ret_head->memory_bytes > UINT32_MAX ||
	    ret_head->files_n > STATE_MAX || ret_head->fds_n > STATE_MAX ||
	    (uint64_t)about.st_size != PAGE + ret_head->memory_bytes +
					   ret_head->files_n + ret_head->fds_n)
		return fail(
		    err, EPROTO, "%s has sizes that do not add up", path);
	return 0;
}

int
snapshot_read_info(
    const char *path, struct snapshot_info *ret_info, struct err *err)
{
	own_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct snapshot_head head;
	int r;

	if (fd < 0)
		return fail_errno(err, "open %s", path);
	r = head_read(fd, path, &head, err);
	if (r == 0)
		*ret_info = (struct snapshot_info){
			.memory_bytes = head.memory_bytes,
			.window = head.window,
			.interrupt = head.interrupt,
		};
	return r;
}

static int
state_restore(int fd, const struct snapshot_head *head, struct wasi *wasi,
    struct err *err)
{
	size_t n = (size_t)(head->files_n + head->fds_n);
	own_mem uint8_t *bytes = malloc(n + 1);
	int r;

	if (!bytes || pread(fd, bytes, n, (off_t)(PAGE + head->memory_bytes)) !=
			  (ssize_t)n)
		return fail(err, EIO, "read the snapshot's files");
	r = memfs_load(
	    wasi_fs(wasi), (struct span){ bytes, (size_t)head->files_n }, err);
	if (r < 0)
		return r;
	return wasi_load(wasi,
	    (struct span){ bytes + head->files_n, (size_t)head->fds_n }, err);
}

int
snapshot_restore(
    const char *path, struct engine *engine, struct wasi *wasi, struct err *err)
{
	own_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct snapshot_head head;
	struct guest_mem mem;
	int r;

	if (fd < 0)
		return fail_errno(err, "open %s", path);
	r = head_read(fd, path, &head, err);
	if (r == 0)
		r = engine_memory_grow(engine, head.memory_bytes, err);
	if (r < 0)
		return r;
	mem = engine_memory(engine);
	if (mem.size != head.memory_bytes)
		return fail(err, EPROTO, "%s is of another guest", path);
	if (mmap(mem.base, (size_t)mem.size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_FIXED, fd, PAGE) == MAP_FAILED)
		return fail_errno(err, "map %s", path);
	return state_restore(fd, &head, wasi, err);
}
