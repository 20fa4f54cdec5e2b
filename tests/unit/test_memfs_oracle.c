/* test_memfs_oracle.c: the same random operations on a memfs and on a real
 * directory must have the same results, the same errors, and leave the same
 * tree behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/limits.h"
#include "wasm/memfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SEQUENCES   60
#define OPERATIONS  400
#define HANDLES     8
#define IO_MAX      70000
#define PATH_BYTES  128
#define DEPTH       100 /* ".." and symlinks cannot climb as high */
#define DEPTH_SPARE 90  /* what one path may climb, all symlinks taken */
#define TREE_BYTES  (64u * MIB)

struct handle {
	int fd; /* -1: free */
	struct memfs_node *node;
	bool is_dir, change;
};

struct twin {
	struct memfs *fs;
	struct memfs_node *dir; /* where the operations happen ... */
	char base[64];
	int dir_fd; /* ... here and there */
	uint64_t seed;
	struct handle handles[HANDLES];
	unsigned done;
};

static uint32_t
roll(struct twin *twin, uint32_t below)
{
	twin->seed =
	    twin->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(twin->seed >> 33) % below;
}

/* ---- errors ---- */

static enum wasi_errno
wasi_of(int code)
{
	static const struct {
		int code;
		enum wasi_errno e;
	} table[] = {
		{ 0, WASI_OK },
		{ EBUSY, WASI_BUSY },
		{ EEXIST, WASI_EXIST },
		{ EINVAL, WASI_INVAL },
		{ EISDIR, WASI_ISDIR },
		{ ELOOP, WASI_LOOP },
		{ ENAMETOOLONG, WASI_NAMETOOLONG },
		{ ENOENT, WASI_NOENT },
		{ ENOTDIR, WASI_NOTDIR },
		{ ENOTEMPTY, WASI_NOTEMPTY },
		{ EPERM, WASI_PERM },
		{ EFBIG, WASI_FBIG },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].code == code)
			return table[i].e;
	}
	fail_msg("no WASI error for %s", strerror(code));
	return WASI_IO;
}

static void
same(struct twin *twin, const char *what, const char *path, int host_result,
    enum wasi_errno e)
{
	enum wasi_errno expected = host_result < 0 ? wasi_of(errno) : WASI_OK;

	if (e != expected)
		fail_msg("operation %u, %s %s: %d here, %d there", twin->done,
		    what, path, (int)e, (int)expected);
}

/* ---- paths ---- */

static void
path_add(char *path, const char *text)
{
	size_t n = strlen(path);

	(void)snprintf(path + n, PATH_BYTES - n, "%s", text);
}

/* path has PATH_BYTES. */
static void
random_path(struct twin *twin, char *path, bool climb)
{
	static const char *const names[] = { "a", "b", "c", "dd", "e",
		"a long name with spaces" };
	uint32_t draw = roll(twin, 10);
	uint32_t parts = draw < 6 ? 1 : draw < 9 ? 2 : 3;

	path[0] = 0;
	for (uint32_t i = 0; i < parts; i++) {
		uint32_t kind = roll(twin, 40);
		const char *name = names[roll(twin, 6)];

		if (kind == 0)
			name = ".";
		else if (kind == 1 && climb)
			name = "..";
		if (i > 0)
			path_add(path, kind == 2 ? "//" : "/");
		path_add(path, name);
	}
	if (roll(twin, 15) == 0)
		path_add(path, "/");
}

/* How many directories are above the node; DEPTH for a removed one. */
static unsigned
node_depth(struct twin *twin, struct memfs_node *node)
{
	struct memfs_node *up;
	unsigned depth = 0;

	while (node != memfs_root(twin->fs, 0)) {
		if (memfs_lookup(twin->fs, node, span_of(".."), false, &up) !=
		    WASI_OK)
			return DEPTH;
		node = up;
		depth++;
	}
	return depth;
}

/* Where a path begins: mostly the common directory, sometimes an open one
 * that is deep enough not to climb out from. */
struct start {
	int fd;
	struct memfs_node *node;
	bool climb;
};

static struct start
random_start(struct twin *twin)
{
	struct handle *handle = &twin->handles[roll(twin, HANDLES)];
	struct start start = { twin->dir_fd, twin->dir, true };

	if (roll(twin, 5) == 0 && handle->fd >= 0 && handle->is_dir &&
	    node_depth(twin, handle->node) >= DEPTH_SPARE) {
		start.fd = handle->fd;
		start.node = handle->node;
		start.climb = false;
	}
	return start;
}

/* ---- comparing ---- */

static enum wasi_filetype
type_of(mode_t mode)
{
	if (S_ISDIR(mode))
		return WASI_TYPE_DIR;
	return S_ISLNK(mode) ? WASI_TYPE_LINK : WASI_TYPE_FILE;
}

static void
same_stat(struct twin *twin, const char *path, const struct stat *there,
    struct memfs_node *node)
{
	struct memfs_stat here;

	memfs_stat(node, &here);
	if (here.type != type_of(there->st_mode))
		fail_msg("%s: another type", path);
	/* Some file systems count no links of directories. */
	if (here.nlink != there->st_nlink &&
	    !(here.type == WASI_TYPE_DIR && there->st_nlink == 1))
		fail_msg("operation %u, %s: %u links here, %u there",
		    twin->done, path, (unsigned)here.nlink,
		    (unsigned)there->st_nlink);
	if (here.type != WASI_TYPE_DIR && here.size != (uint64_t)there->st_size)
		fail_msg("operation %u, %s: size %lld here, %lld there",
		    twin->done, path, (long long)here.size,
		    (long long)there->st_size);
}

static void
same_bytes(struct twin *twin, int fd, struct memfs_node *node, uint64_t offset,
    size_t n)
{
	static uint8_t here[IO_MAX], there[IO_MAX];
	size_t got = 0;
	ssize_t expected = pread(fd, there, n, (off_t)offset);
	enum wasi_errno e = memfs_read(twin->fs, node, offset, here, n, &got);

	same(twin, "read", "", (int)expected, e);
	if (expected < 0)
		return;
	assert_int_equal(got, expected);
	assert_memory_equal(here, there, got);
}

static unsigned
count_entries(struct memfs_node *dir)
{
	struct memfs_dirent entry;
	unsigned n = 0;

	for (uint64_t c = 0; memfs_next_entry(dir, c, &entry); c = entry.cookie)
		n++;
	return n;
}

static void same_tree(
    struct twin *twin, struct memfs *fs, int fd, struct memfs_node *dir);

static void
same_entry(struct twin *twin, struct memfs *fs, int dir_fd,
    struct memfs_node *dir, const char *name)
{
	char there[256] = { 0 };
	struct memfs_node *node;
	struct span here;
	struct stat about;
	int fd;

	assert_int_equal(0, fstatat(dir_fd, name, &about, AT_SYMLINK_NOFOLLOW));
	assert_int_equal(
	    WASI_OK, memfs_lookup(fs, dir, span_of(name), false, &node));
	same_stat(twin, name, &about, node);
	if (S_ISLNK(about.st_mode)) {
		assert_true(readlinkat(dir_fd, name, there, sizeof(there)) > 0);
		assert_int_equal(
		    WASI_OK, memfs_readlink(fs, dir, span_of(name), &here));
		assert_int_equal(here.n, strlen(there));
		assert_memory_equal(here.p, there, here.n);
		return;
	}
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	assert_true(fd >= 0);
	if (S_ISDIR(about.st_mode))
		same_tree(twin, fs, dup(fd), node);
	else
		for (off_t at = 0; at < about.st_size; at += IO_MAX)
			same_bytes(twin, fd, node, (uint64_t)at, IO_MAX);
	close(fd);
}

/* Takes fd. */
static void
same_tree(struct twin *twin, struct memfs *fs, int fd, struct memfs_node *dir)
{
	DIR *list = fdopendir(fd);
	struct dirent *entry;
	unsigned n = 0;

	assert_non_null(list);
	rewinddir(list);
	while ((entry = readdir(list))) {
		n++;
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			same_entry(twin, fs, dirfd(list), dir, entry->d_name);
	}
	assert_int_equal(n, count_entries(dir));
	closedir(list);
}

/* ---- operations ---- */

static void
do_open(struct twin *twin)
{
	struct handle *handle = &twin->handles[roll(twin, HANDLES)];
	struct start start = random_start(twin);
	struct memfs_how how = {
		.oflags = roll(twin, 2) ? roll(twin, 16) : WASI_OPEN_CREATE,
		.follow = roll(twin, 4) != 0,
		.change = roll(twin, 3) != 0,
	};
	int flags = O_CLOEXEC | (how.change ? O_RDWR : O_RDONLY);
	char path[PATH_BYTES];
	struct memfs_node *node = NULL;
	enum wasi_errno e;
	int fd;

	/* Kernels differ about making a directory by open. */
	if (how.oflags & WASI_OPEN_CREATE)
		how.oflags &= ~WASI_OPEN_DIRECTORY;
	else
		how.oflags &= ~WASI_OPEN_EXCLUSIVE; /* undefined alone */
	flags |= how.oflags & WASI_OPEN_CREATE ? O_CREAT : 0;
	flags |= how.oflags & WASI_OPEN_DIRECTORY ? O_DIRECTORY : 0;
	flags |= how.oflags & WASI_OPEN_EXCLUSIVE ? O_EXCL : 0;
	flags |= how.oflags & WASI_OPEN_TRUNCATE ? O_TRUNC : 0;
	flags |= how.follow ? 0 : O_NOFOLLOW;
	random_path(twin, path, start.climb);
	fd = openat(start.fd, path, flags, 0600);
	e = memfs_open(twin->fs, start.node, span_of(path), &how, &node);
	same(twin, "open", path, fd, e);
	if (fd < 0)
		return;
	if (handle->fd >= 0) {
		close(handle->fd);
		memfs_release(twin->fs, handle->node);
	}
	*handle = (struct handle){ fd, node, memfs_type(node) == WASI_TYPE_DIR,
		how.change };
}

static uint64_t
random_offset(struct twin *twin)
{
	static const uint32_t edges[] = { 0, 0, 256, 65536, 131072, 300000 };

	return edges[roll(twin, 6)] + roll(twin, 300);
}

static void
do_write(struct twin *twin, struct handle *handle)
{
	static uint8_t bytes[IO_MAX];
	size_t n = roll(twin, 8) ? roll(twin, 600) : roll(twin, IO_MAX);
	uint64_t offset = random_offset(twin);
	size_t got = 0;
	ssize_t r;

	if (!handle->change)
		return;
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)roll(twin, 256);
	r = pwrite(handle->fd, bytes, n, (off_t)offset);
	same(twin, "write", "", (int)r,
	    memfs_write(twin->fs, handle->node, offset, bytes, n, &got));
	assert_int_equal(got, r);
}

static void
do_handle(struct twin *twin)
{
	struct handle *handle = &twin->handles[roll(twin, HANDLES)];
	uint64_t size = random_offset(twin);
	struct stat about;

	if (handle->fd < 0)
		return;
	assert_int_equal(0, fstat(handle->fd, &about));
	if (!handle->is_dir || about.st_nlink > 0)
		same_stat(twin, "(open)", &about, handle->node);
	switch (roll(twin, 4)) {
	case 0:
		do_write(twin, handle);
		break;
	case 1:
		same_bytes(twin, handle->fd, handle->node, random_offset(twin),
		    roll(twin, 2000));
		break;
	case 2:
		if (handle->change)
			same(twin, "truncate", "",
			    ftruncate(handle->fd, (off_t)size),
			    memfs_resize(twin->fs, handle->node, size));
		break;
	default:
		close(handle->fd);
		memfs_release(twin->fs, handle->node);
		handle->fd = -1;
		break;
	}
}

static void
do_two_names(struct twin *twin)
{
	struct start from = random_start(twin), to = random_start(twin);
	char a[PATH_BYTES], b[PATH_BYTES];
	bool follow = roll(twin, 2);

	random_path(twin, a, from.climb);
	random_path(twin, b, to.climb);
	if (roll(twin, 3) == 0)
		same(twin, "link", b,
		    linkat(
			from.fd, a, to.fd, b, follow ? AT_SYMLINK_FOLLOW : 0),
		    memfs_link(twin->fs, from.node, span_of(a), follow, to.node,
			span_of(b)));
	else
		same(twin, "rename", b, renameat(from.fd, a, to.fd, b),
		    memfs_rename(
			twin->fs, from.node, span_of(a), to.node, span_of(b)));
}

static void
do_symlink(struct twin *twin)
{
	struct start start = random_start(twin);
	char target[PATH_BYTES], path[PATH_BYTES];

	random_path(twin, target, true);
	random_path(twin, path, start.climb);
	same(twin, "symlink", path, symlinkat(target, start.fd, path),
	    memfs_symlink(
		twin->fs, span_of(target), start.node, span_of(path)));
}

static void
do_stat(struct twin *twin)
{
	struct start start = random_start(twin);
	bool follow = roll(twin, 2);
	struct memfs_node *node;
	struct stat about;
	char path[PATH_BYTES];
	int r;

	random_path(twin, path, start.climb);
	r = fstatat(start.fd, path, &about, follow ? 0 : AT_SYMLINK_NOFOLLOW);
	same(twin, "stat", path, r,
	    memfs_lookup(twin->fs, start.node, span_of(path), follow, &node));
	if (r == 0)
		same_stat(twin, path, &about, node);
}

static void
do_one_name(struct twin *twin)
{
	struct start start = random_start(twin);
	struct span here;
	char path[PATH_BYTES], there[256];

	random_path(twin, path, start.climb);
	switch (roll(twin, 6)) {
	case 0:
		same(twin, "rmdir", path,
		    unlinkat(start.fd, path, AT_REMOVEDIR),
		    memfs_rmdir(twin->fs, start.node, span_of(path)));
		break;
	case 1:
		same(twin, "unlink", path, unlinkat(start.fd, path, 0),
		    memfs_unlink(twin->fs, start.node, span_of(path)));
		break;
	case 2:
		same(twin, "readlink", path,
		    (int)readlinkat(start.fd, path, there, sizeof(there)),
		    memfs_readlink(twin->fs, start.node, span_of(path), &here));
		break;
	default:
		same(twin, "mkdir", path, mkdirat(start.fd, path, 0700),
		    memfs_mkdir(twin->fs, start.node, span_of(path)));
		break;
	}
}

static void
do_something(struct twin *twin)
{
	switch (roll(twin, 8)) {
	case 0:
	case 1:
		do_open(twin);
		break;
	case 2:
	case 3:
		do_handle(twin);
		break;
	case 4:
		do_two_names(twin);
		break;
	case 5:
		do_symlink(twin);
		break;
	case 6:
		do_stat(twin);
		break;
	default:
		do_one_name(twin);
		break;
	}
	twin->done++;
}

/* ---- a sequence ---- */

static struct memfs *
tree_new(void)
{
	struct memfs_limits limits = {
		.bytes = TREE_BYTES,
		.entries = FILES_COUNT_DEFAULT,
		.file_size = GUEST_FILE_SIZE_MAX,
	};
	struct memfs *fs = memfs_new(&limits);

	assert_non_null(fs);
	return fs;
}

static void
twin_open(struct twin *twin, unsigned seed)
{
	struct memfs_node *down;
	int fd;

	*twin = (struct twin){ .fs = tree_new(), .seed = seed };
	(void)snprintf(
	    twin->base, sizeof(twin->base), "/tmp/test_memfs.XXXXXX");
	assert_non_null(mkdtemp(twin->base));
	twin->dir = memfs_root(twin->fs, 0);
	twin->dir_fd = open(twin->base, O_RDONLY | O_CLOEXEC);
	for (unsigned i = 0; i < DEPTH; i++) {
		assert_int_equal(0, mkdirat(twin->dir_fd, "d", 0700));
		fd = openat(twin->dir_fd, "d", O_RDONLY | O_CLOEXEC);
		close(twin->dir_fd);
		twin->dir_fd = fd;
		assert_int_equal(
		    WASI_OK, memfs_mkdir(twin->fs, twin->dir, span_of("d")));
		assert_int_equal(WASI_OK, memfs_lookup(twin->fs, twin->dir,
					      span_of("d"), false, &down));
		twin->dir = down;
	}
	assert_true(twin->dir_fd >= 0);
	memfs_hold(twin->dir);
	for (unsigned i = 0; i < HANDLES; i++)
		twin->handles[i].fd = -1;
}

/* Files that are there from the start, and borrow what they hold. */
static void
twin_lend(struct twin *twin, const uint8_t *bytes)
{
	static const struct {
		const char *name;
		size_t n;
	} files[] = { { "a", 200000 }, { "b", 65536 }, { "dd", 300 } };
	char path[2 * DEPTH + 8];

	for (unsigned i = 0; i < DEPTH; i++)
		(void)strcpy(path + 2u * i, "/d");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int fd = openat(twin->dir_fd, files[i].name,
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		assert_int_equal(files[i].n, write(fd, bytes, files[i].n));
		close(fd);
		(void)snprintf(path + 2u * DEPTH, sizeof(path) - 2u * DEPTH,
		    "/%s", files[i].name);
		assert_int_equal(0, memfs_add_cow(twin->fs, path,
					(struct span){ bytes, files[i].n }, 0));
	}
}

static int
remove_one(
    const char *path, const struct stat *about, int kind, struct FTW *where)
{
	(void)about;
	(void)kind;
	(void)where;
	return remove(path);
}

/* A tree loaded from what was saved is the same, too. */
static void
same_after_load(struct twin *twin)
{
	struct memfs *again = tree_new();
	struct buf saved;
	struct err err;

	buf_init(&saved, 256u * MIB);
	assert_int_equal(0, memfs_save(twin->fs, &saved));
	if (memfs_load(again, buf_span(&saved), &err) < 0)
		fail_msg("%s", err.text);
	same_tree(twin, again, open(twin->base, O_RDONLY | O_CLOEXEC),
	    memfs_root(again, 0));
	assert_int_equal(memfs_entries(again), 0);
	buf_done(&saved);
	memfs_free(again);
}

static void
twin_close(struct twin *twin)
{
	for (unsigned i = 0; i < HANDLES; i++) {
		if (twin->handles[i].fd < 0)
			continue;
		close(twin->handles[i].fd);
		memfs_release(twin->fs, twin->handles[i].node);
	}
	memfs_release(twin->fs, twin->dir);
	close(twin->dir_fd);
	assert_int_equal(0, memfs_remove_tree(twin->fs, "/"));
	assert_int_equal(0, memfs_bytes(twin->fs));
	assert_int_equal(0, memfs_entries(twin->fs));
	memfs_free(twin->fs);
	assert_int_equal(
	    0, nftw(twin->base, remove_one, 32, FTW_DEPTH | FTW_PHYS));
}

static void
borrowed_files_end_alike(void **state)
{
	static uint8_t bytes[200000], before[sizeof(bytes)];
	struct twin twin;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = before[i] = (uint8_t)(i * 31 / 7 + 1);
	for (unsigned seed = 1; seed <= SEQUENCES / 2; seed++) {
		twin_open(&twin, 1000 + seed);
		twin_lend(&twin, bytes);
		for (unsigned i = 0; i < OPERATIONS; i++)
			do_something(&twin);
		same_tree(&twin, twin.fs, open(twin.base, O_RDONLY | O_CLOEXEC),
		    memfs_root(twin.fs, 0));
		twin_close(&twin);
	}
	assert_memory_equal(bytes, before, sizeof(bytes));
}

static void
random_sequences_end_alike(void **state)
{
	struct twin twin;

	(void)state;
	for (unsigned seed = 1; seed <= SEQUENCES; seed++) {
		twin_open(&twin, seed);
		for (unsigned i = 0; i < OPERATIONS; i++)
			do_something(&twin);
		same_tree(&twin, twin.fs, open(twin.base, O_RDONLY | O_CLOEXEC),
		    memfs_root(twin.fs, 0));
		same_after_load(&twin);
		twin_close(&twin);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_sequences_end_alike),
		cmocka_unit_test(borrowed_files_end_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
