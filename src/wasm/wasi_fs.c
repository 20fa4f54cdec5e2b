/* wasi_fs.c: what the guest does with an open descriptor.
 * Hostile input: descriptors, pointers, lengths, offsets; fuzzed by
 * fuzz_wasi.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasi_state.h"

#include <string.h>

#define DEV_TREE  1u /* st_dev of what is in the tree */
#define DEV_OTHER 2u /* st_dev of descriptors that have no file */

#define ADVICE_MAX 5u /* the last of the POSIX_FADV_... */

/* The guest's list of iovecs. It is read piece by piece and each piece is
 * checked again where it is used: reading into one may change the next. */
struct iovecs {
	struct guest_ptr at;
	uint32_t n;
};

static bool
iovec_get(const struct wasi *wasi, const struct iovecs *iovecs, uint32_t i,
    uint8_t **ret_p, uint32_t *ret_n)
{
	struct guest_ptr at =
	    guest_ptr_add(iovecs->at, (uint64_t)i * WASI_IOVEC_BYTES);
	uint32_t off;

	if (!guest_get_u32(&wasi->mem, at, &off) ||
	    !guest_get_u32(&wasi->mem, guest_ptr_add(at, 4), ret_n))
		return false;
	*ret_p = guest_at(&wasi->mem, guest_ptr_of(off), *ret_n);
	return *ret_p != NULL;
}

/* Finds every piece to be in memory before the first byte moves. */
static enum wasi_errno
iovecs_check(const struct wasi *wasi, const struct iovecs *iovecs)
{
	uint64_t total = 0;
	uint32_t n;
	uint8_t *p;

	if (iovecs->n > GUEST_IOVECS_MAX)
		return WASI_INVAL;
	for (uint32_t i = 0; i < iovecs->n; i++) {
		if (!iovec_get(wasi, iovecs, i, &p, &n))
			return WASI_FAULT;
		total += n;
	}
	return total > GUEST_IO_MAX ? WASI_INVAL : WASI_OK;
}

static size_t
span_read(struct span from, uint64_t offset, uint8_t *bytes, size_t n)
{
	if (offset >= from.n)
		return 0;
	if (n > from.n - offset)
		n = (size_t)(from.n - offset);
	if (n > 0)
		memcpy(bytes, from.p + offset, n);
	return n;
}

static enum wasi_errno
fd_read_piece(struct wasi *wasi, const struct fd *fd, uint64_t offset,
    uint8_t *bytes, size_t n, size_t *ret_n)
{
	switch (fd->kind) {
	case FD_IN:
		*ret_n = span_read(wasi->stdin_bytes, offset, bytes, n);
		return WASI_OK;
	case FD_CALL:
		*ret_n = span_read(wasi->code, offset, bytes, n);
		return WASI_OK;
	case FD_OPTIONS:
		*ret_n = span_read(wasi->options, offset, bytes, n);
		return WASI_OK;
	case FD_NODE:
		return memfs_read(wasi->fs, fd->node, offset, bytes, n, ret_n);
	case FD_FREE:
	case FD_OUT:
		break;
	}
	return WASI_BADF;
}

static enum wasi_errno
fd_write_piece(struct wasi *wasi, const struct fd *fd, uint64_t offset,
    const uint8_t *bytes, size_t n, size_t *ret_n)
{
	switch (fd->kind) {
	case FD_OUT:
		if (n > 0)
			wasi->write_out(wasi->write_arg, fd->stream, bytes, n);
		*ret_n = n;
		return WASI_OK;
	case FD_NODE:
		return memfs_write(wasi->fs, fd->node, offset, bytes, n, ret_n);
	case FD_FREE:
	case FD_IN:
	case FD_CALL:
	case FD_OPTIONS:
		break;
	}
	return WASI_BADF;
}

/* A read or write under way. */
struct io {
	const struct fd *fd;
	bool write;
	uint64_t offset; /* where the next byte is read or written */
};

static enum wasi_errno
io_piece(
    struct wasi *wasi, const struct io *io, uint8_t *p, size_t n, size_t *ret_n)
{
	if (io->write)
		return fd_write_piece(wasi, io->fd, io->offset, p, n, ret_n);
	return fd_read_piece(wasi, io->fd, io->offset, p, n, ret_n);
}

/* Moves bytes between the descriptor and the pieces, until one is short. A
 * failure behind the first byte is told by the next call. */
static enum wasi_errno
io_run(struct wasi *wasi, struct io *io, const struct iovecs *iovecs,
    uint32_t *ret_n)
{
	enum wasi_errno e = WASI_OK;
	size_t part = 0;
	uint32_t n, done = 0;
	uint8_t *p;

	for (uint32_t i = 0; i < iovecs->n; i++) {
		if (!iovec_get(wasi, iovecs, i, &p, &n) ||
		    n > GUEST_IO_MAX - done)
			e = WASI_FAULT;
		else
			e = io_piece(wasi, io, p, n, &part);
		if (e != WASI_OK)
			break;
		done += (uint32_t)part;
		io->offset += part;
		if (part < n)
			break;
	}
	*ret_n = done;
	return done > 0 ? WASI_OK : e;
}

static uint64_t
fd_size(const struct wasi *wasi, const struct fd *fd)
{
	struct memfs_stat stat;

	if (fd->kind == FD_CALL)
		return wasi->code.n;
	if (fd->kind == FD_OPTIONS)
		return wasi->options.n;
	if (fd->kind != FD_NODE)
		return 0;
	memfs_stat(fd->node, &stat);
	return stat.size;
}

/* The four reads and writes: slots are descriptor, iovecs, their number,
 * the offset if at is not NULL, and where the count goes. */
static uint32_t
fd_io(struct wasi *wasi, const uint64_t *slots, bool write, const uint64_t *at,
    uint64_t ret_slot)
{
	struct fd *fd = fd_of(wasi, slots[0]);
	struct guest_ptr ret = guest_ptr_of(ret_slot);
	struct iovecs iovecs = { guest_ptr_of(slots[1]), (uint32_t)slots[2] };
	struct io io = { fd, write, 0 };
	uint32_t n = 0;
	enum wasi_errno e;

	if (!fd || !(fd->rights & (write ? WASI_RIGHT_WRITE : WASI_RIGHT_READ)))
		return WASI_BADF;
	if (at && (fd->kind == FD_IN || fd->kind == FD_OUT))
		return WASI_SPIPE;
	if (at && *at > INT64_MAX)
		return WASI_INVAL;
	if (!guest_at(&wasi->mem, ret, sizeof(n)))
		return WASI_FAULT;
	e = iovecs_check(wasi, &iovecs);
	if (e != WASI_OK)
		return e;
	io.offset = at ? *at : fd->pos;
	if (write && fd->flags & WASI_FD_APPEND)
		io.offset = fd_size(wasi, fd);
	e = io_run(wasi, &io, &iovecs, &n);
	if (e != WASI_OK)
		return e;
	if (!at)
		fd->pos = io.offset;
	(void)guest_put_u32(&wasi->mem, ret, n);
	return WASI_OK;
}

IMPORT(fd_read)
{
	return fd_io(wasi, args->slot, false, NULL, args->slot[3]);
}

IMPORT(fd_write)
{
	return fd_io(wasi, args->slot, true, NULL, args->slot[3]);
}

IMPORT(fd_pread)
{
	return fd_io(wasi, args->slot, false, &args->slot[3], args->slot[4]);
}

IMPORT(fd_pwrite)
{
	return fd_io(wasi, args->slot, true, &args->slot[3], args->slot[4]);
}

IMPORT(fd_close)
{
	struct fd *fd = fd_of(wasi, args->slot[0]);

	if (!fd)
		return WASI_BADF;
	if (fd->preopen)
		return WASI_NOTSUP;
	if (fd_is_own(args->slot[0]))
		return WASI_OK; /* as far as the program can see */
	if (fd->kind == FD_NODE)
		memfs_release(wasi->fs, fd->node);
	*fd = (struct fd){ .kind = FD_FREE };
	return WASI_OK;
}

static bool
fd_is_char(const struct fd *fd)
{
	return fd->kind == FD_IN || fd->kind == FD_OUT ||
	       (fd->kind == FD_NODE && memfs_type(fd->node) == WASI_TYPE_CHAR);
}

static enum wasi_errno
seek_base(const struct wasi *wasi, const struct fd *fd, uint64_t whence,
    uint64_t *ret_base)
{
	switch (whence) {
	case WASI_WHENCE_SET:
		*ret_base = 0;
		return WASI_OK;
	case WASI_WHENCE_CUR:
		*ret_base = fd->pos;
		return WASI_OK;
	case WASI_WHENCE_END:
		*ret_base = fd_size(wasi, fd);
		return WASI_OK;
	default:
		return WASI_INVAL;
	}
}

static enum wasi_errno
seek_target(const struct wasi *wasi, const struct fd *fd, int64_t offset,
    uint64_t whence, uint64_t *ret_pos)
{
	uint64_t base;
	int64_t pos;
	enum wasi_errno e = seek_base(wasi, fd, whence, &base);

	if (e != WASI_OK)
		return e;
	if (__builtin_add_overflow((int64_t)base, offset, &pos))
		return WASI_OVERFLOW;
	if (pos < 0)
		return WASI_INVAL;
	*ret_pos = fd_is_char(fd) ? 0 : (uint64_t)pos;
	return WASI_OK;
}

IMPORT(fd_seek)
{
	struct fd *fd = fd_of(wasi, args->slot[0]);
	struct guest_ptr ret = guest_ptr_of(args->slot[3]);
	uint64_t pos;
	enum wasi_errno e;

	if (!fd)
		return WASI_BADF;
	if (fd->kind == FD_IN || fd->kind == FD_OUT)
		return WASI_SPIPE;
	if (fd->kind == FD_NODE && memfs_type(fd->node) == WASI_TYPE_DIR)
		return WASI_ISDIR;
	e = seek_target(wasi, fd, (int64_t)args->slot[1], args->slot[2], &pos);
	if (e != WASI_OK)
		return e;
	if (!guest_put_u64(&wasi->mem, ret, pos))
		return WASI_FAULT;
	fd->pos = pos;
	return WASI_OK;
}

IMPORT(fd_tell)
{
	const struct fd *fd = fd_of(wasi, args->slot[0]);

	if (!fd)
		return WASI_BADF;
	if (fd->kind == FD_IN || fd->kind == FD_OUT)
		return WASI_SPIPE;
	if (!guest_put_u64(&wasi->mem, guest_ptr_of(args->slot[1]), fd->pos))
		return WASI_FAULT;
	return WASI_OK;
}

static enum wasi_filetype
fd_type(const struct fd *fd)
{
	if (fd->kind == FD_NODE)
		return memfs_type(fd->node);
	return fd->kind == FD_CALL || fd->kind == FD_OPTIONS ? WASI_TYPE_FILE
							     : WASI_TYPE_CHAR;
}

IMPORT(fd_fdstat_get)
{
	const struct fd *fd = fd_of(wasi, args->slot[0]);
	uint8_t record[WASI_FDSTAT_BYTES] = { 0 };

	if (!fd)
		return WASI_BADF;
	record[0] = (uint8_t)fd_type(fd);
	record_put_u16(record, 2, fd->flags);
	record_put_u64(record, 8, fd->rights);
	record_put_u64(record, 16, fd->inheriting);
	if (!guest_put(&wasi->mem, guest_ptr_of(args->slot[1]), record,
		sizeof(record)))
		return WASI_FAULT;
	return WASI_OK;
}

IMPORT(fd_fdstat_set_flags)
{
	struct fd *fd = fd_of(wasi, args->slot[0]);

	if (!fd)
		return WASI_BADF;
	if (args->slot[1] & ~(uint64_t)WASI_FD_ALL)
		return WASI_INVAL;
	fd->flags = (uint16_t)args->slot[1];
	return WASI_OK;
}

static enum wasi_errno
filestat_record(struct wasi *wasi, struct guest_ptr at, uint64_t dev,
    const struct memfs_stat *stat)
{
	uint8_t record[WASI_FILESTAT_BYTES] = { 0 };

	record_put_u64(record, 0, dev);
	record_put_u64(record, 8, stat->ino);
	record[16] = (uint8_t)stat->type;
	record_put_u64(record, 24, stat->nlink);
	record_put_u64(record, 32, stat->size);
	record_put_u64(record, 40, stat->atim_ns);
	record_put_u64(record, 48, stat->mtim_ns);
	record_put_u64(record, 56, stat->ctim_ns);
	if (!guest_put(&wasi->mem, at, record, sizeof(record)))
		return WASI_FAULT;
	return WASI_OK;
}

enum wasi_errno
filestat_put(
    struct wasi *wasi, struct guest_ptr at, const struct memfs_node *node)
{
	struct memfs_stat stat;

	memfs_stat(node, &stat);
	return filestat_record(wasi, at, DEV_TREE, &stat);
}

IMPORT(fd_filestat_get)
{
	const struct fd *fd = fd_of(wasi, args->slot[0]);
	struct guest_ptr at = guest_ptr_of(args->slot[1]);
	struct memfs_stat stat = { .nlink = 1 };

	if (!fd)
		return WASI_BADF;
	if (fd->kind == FD_NODE)
		return filestat_put(wasi, at, fd->node);
	stat.ino = args->slot[0] + 1;
	stat.type = fd_type(fd);
	stat.size = fd_size(wasi, fd);
	return filestat_record(wasi, at, DEV_OTHER, &stat);
}

IMPORT(fd_filestat_set_size)
{
	struct fd *fd = fd_of(wasi, args->slot[0]);

	if (!fd)
		return WASI_BADF;
	if (fd->kind != FD_NODE || !(fd->rights & WASI_RIGHT_WRITE) ||
	    args->slot[1] > INT64_MAX)
		return WASI_INVAL;
	return memfs_resize(wasi->fs, fd->node, args->slot[1]);
}

IMPORT(fd_filestat_set_times)
{
	struct fd *fd = fd_of(wasi, args->slot[0]);

	if (!fd)
		return WASI_BADF;
	if (fd->kind != FD_NODE)
		return WASI_INVAL;
	return memfs_set_times(wasi->fs, fd->node, args->slot[1], args->slot[2],
	    (uint32_t)args->slot[3]);
}

IMPORT(fd_advise)
{
	const struct fd *fd = fd_of(wasi, args->slot[0]);

	if (!fd)
		return WASI_BADF;
	if (fd->kind == FD_IN || fd->kind == FD_OUT)
		return WASI_SPIPE;
	return args->slot[3] > ADVICE_MAX ? WASI_INVAL : WASI_OK;
}

/* fd_sync and fd_datasync: memory is always in step with itself. */
IMPORT(fd_sync)
{
	return fd_of(wasi, args->slot[0]) ? WASI_OK : WASI_BADF;
}

IMPORT(fd_prestat_get)
{
	const struct fd *fd = fd_of(wasi, args->slot[0]);
	uint8_t record[WASI_PRESTAT_BYTES] = { 0 };

	if (!fd || !fd->preopen)
		return WASI_BADF;
	record_put_u32(
	    record, 4, (uint32_t)strlen(memfs_root_name(wasi->fs, fd->root)));
	if (!guest_put(&wasi->mem, guest_ptr_of(args->slot[1]), record,
		sizeof(record)))
		return WASI_FAULT;
	return WASI_OK;
}

IMPORT(fd_prestat_dir_name)
{
	const struct fd *fd = fd_of(wasi, args->slot[0]);
	const char *name;

	if (!fd || !fd->preopen)
		return WASI_BADF;
	name = memfs_root_name(wasi->fs, fd->root);
	if (args->slot[2] < strlen(name))
		return WASI_NAMETOOLONG;
	if (!guest_at(&wasi->mem, guest_ptr_of(args->slot[1]), args->slot[2]) ||
	    !guest_put(
		&wasi->mem, guest_ptr_of(args->slot[1]), name, strlen(name)))
		return WASI_FAULT;
	return WASI_OK;
}
