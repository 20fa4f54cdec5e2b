/* mounts.c: the tree of a directory on the host, read for a room.
 * Hostile input: names and links below it, which others may have made.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/mounts.h"

#include "base/own.h"
#include "conf/limits.h"
#include "conf/mount.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NODES_FIRST 64u
#define READ_STEP   65536u

struct reader {
	struct granted *granted;
	size_t cap;
	int held_fd;     /* a memfd of all small files */
	uint64_t held_n; /* bytes in it */
	unsigned mapped;
	bool cow; /* the mount that is being read */
	bool top; /* nothing of it is there yet */
};

/* Where a walk stands: a directory, and its two names. */
struct spot {
	int fd;
	unsigned depth;
	const char *host, *guest;
};

/* Such a file's bytes begin so far into the memfd, until that is mapped. */
#define IS_HELD(node) ((node)->type == GRANTED_FILE && !(node)->bytes.p)

static int
fail_at(struct err *err, const char *what, const char *path)
{
	return fail(err, errno == EPERM ? EACCES : errno,
	    "mount: %s %.180s: %s", what, path, strerror(errno));
}

/* ---- the list ---- */

static struct granted_node *
node_add(struct reader *reader, enum granted_type type, const char *guest,
    const struct stat *stat, struct err *err)
{
	struct granted *granted = reader->granted;
	struct granted_node *nodes = granted->nodes;
	char *path;

	if (granted->n == MOUNT_NODES_MAX) {
		(void)fail(err, E2BIG, "mount: more than %u files, at %.150s",
		    MOUNT_NODES_MAX, guest);
		return NULL;
	}
	if (granted->n == reader->cap) {
		size_t cap = reader->cap ? reader->cap * 2 : NODES_FIRST;

		nodes = realloc(nodes, cap * sizeof(*nodes));
		if (nodes) {
			granted->nodes = nodes;
			reader->cap = cap;
		}
	}
	path = nodes ? strdup(guest) : NULL;
	if (!path) {
		(void)fail(err, ENOMEM, "mount: no memory");
		return NULL;
	}
	nodes += granted->n++;
	*nodes = (struct granted_node){ .path = path,
		.type = type,
		.top = reader->top,
		.cow = reader->cow,
		.mtime_ns = stat->st_mtim.tv_sec < 0
				? 0
				: (uint64_t)stat->st_mtim.tv_sec * 1000000000u +
				      (uint64_t)stat->st_mtim.tv_nsec };
	reader->top = false;
	return nodes;
}

/* ---- files ---- */

/* Copies what the file has now, at most n bytes: *ret_n. */
static int
hold_bytes(struct reader *reader, int fd, uint64_t n, const char *host,
    uint64_t *ret_n, struct err *err)
{
	uint8_t chunk[READ_STEP];
	uint64_t done = 0;

	while (done < n) {
		size_t ask = n - done < sizeof(chunk) ? (size_t)(n - done)
						      : sizeof(chunk);
		ssize_t got = read(fd, chunk, ask);
		int r;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_at(err, "read", host);
		if (got == 0)
			break;
		r = fd_write_all(reader->held_fd, chunk, (size_t)got);
		if (r < 0)
			return fail(err, -r, "mount: hold %.180s: %s", host,
			    strerror(-r));
		done += (uint64_t)got;
	}
	*ret_n = done;
	return 0;
}

static int
hold(struct reader *reader, int fd, struct granted_node *node, uint64_t n,
    const char *host, struct err *err)
{
	uint64_t held = 0;
	int r;

	if (n > MOUNT_HELD_MAX - reader->held_n)
		return fail(err, E2BIG,
		    "mount: more than %u MiB of small files, at %.150s",
		    (unsigned)(MOUNT_HELD_MAX / MIB), host);
	r = hold_bytes(reader, fd, n, host, &held, err);
	node->bytes.n = (size_t)held;
	reader->held_n += held;
	return r;
}

static int
map(struct reader *reader, int fd, struct granted_node *node, uint64_t n,
    const char *host, struct err *err)
{
	void *bytes;

	if (n > GUEST_FILE_SIZE_MAX)
		return fail(err, EFBIG, "mount: %.180s is too large", host);
	if (reader->mapped == MOUNT_MAPPED_MAX)
		return fail(err, E2BIG,
		    "mount: more than %u files of more than %u KiB, at %.150s",
		    MOUNT_MAPPED_MAX, (unsigned)(MOUNT_MAP_BYTES / KIB), host);
	bytes = mmap(NULL, (size_t)n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return fail_at(err, "map", host);
	reader->mapped++;
	node->bytes = (struct span){ bytes, (size_t)n };
	return 0;
}

static int
read_file(struct reader *reader, int fd, const struct stat *stat,
    const char *host, const char *guest, struct err *err)
{
	struct granted_node *node =
	    node_add(reader, GRANTED_FILE, guest, stat, err);
	uint64_t n = (uint64_t)stat->st_size;

	if (!node)
		return -err->code;
	if (n > MOUNT_MAP_BYTES)
		return map(reader, fd, node, n, host, err);
	return hold(reader, fd, node, n, host, err);
}

/* ---- directories ---- */

static int
read_link(struct reader *reader, const struct spot *spot, const char *name,
    const struct stat *stat, const char *guest, struct err *err)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(spot->fd, name, target, sizeof(target) - 1);
	struct granted_node *node;

	if (n <= 0)
		return 0; /* it is something else by now */
	target[n] = '\0';
	node = node_add(reader, GRANTED_LINK, guest, stat, err);
	if (!node)
		return -err->code;
	node->target = strdup(target);
	return node->target ? 0 : fail(err, ENOMEM, "mount: no memory");
}

static int read_dir(
    struct reader *reader, const struct spot *spot, struct err *err);

/* What is open as fd: a regular file or a directory. */
static int
read_open(struct reader *reader, const struct spot *spot,
    const struct stat *stat, struct err *err)
{
	if (S_ISREG(stat->st_mode))
		return read_file(
		    reader, spot->fd, stat, spot->host, spot->guest, err);
	if (!S_ISDIR(stat->st_mode))
		return 0;
	if (spot->depth > MOUNT_DEPTH_MAX)
		return fail(err, ELOOP, "mount: %.150s is %u directories deep",
		    spot->host, spot->depth);
	if (!node_add(reader, GRANTED_DIR, spot->guest, stat, err))
		return -err->code;
	return read_dir(reader, spot, err);
}

static int
path_join(
    char path[PATH_MAX], const char *dir, const char *name, struct err *err)
{
	int n = snprintf(path, PATH_MAX, "%s/%s", dir, name);

	return n < PATH_MAX
		   ? 0
		   : fail(err, ENAMETOOLONG,
			 "mount: %.150s/...: the path is too long", dir);
}

/* Opened only once it is known to be no device, which opening might wake up. */
static int
read_entry(struct reader *reader, const struct spot *spot, const char *name,
    struct err *err)
{
	own_mem char *paths = malloc(2 * PATH_MAX);
	char *host = paths, *guest = paths ? paths + PATH_MAX : NULL;
	struct spot below = { .depth = spot->depth + 1 };
	own_fd int fd = -1;
	struct stat stat;
	int r = paths ? 0 : fail(err, ENOMEM, "mount: no memory");

	if (r == 0)
		r = path_join(host, spot->host, name, err);
	if (r == 0)
		r = path_join(guest, spot->guest, name, err);
	if (r < 0)
		return r;
	if (fstatat(spot->fd, name, &stat, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fail_at(err, "look at", host);
	if (S_ISLNK(stat.st_mode))
		return read_link(reader, spot, name, &stat, guest, err);
	if (!S_ISREG(stat.st_mode) && !S_ISDIR(stat.st_mode))
		return 0;
	fd = openat(spot->fd, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) /* gone, or a link by now: it is not there */
		return errno == ENOENT || errno == ELOOP
			   ? 0
			   : fail_at(err, "open", host);
	if (fstat(fd, &stat) < 0)
		return fail_at(err, "look at", host);
	below.fd = fd;
	below.host = host;
	below.guest = guest;
	return read_open(reader, &below, &stat, err);
}

struct names {
	char **names;
	size_t n, cap;
};

static void
names_done(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
}

static int
names_add(struct names *names, const char *name)
{
	if (names->n == names->cap) {
		size_t cap = names->cap ? names->cap * 2 : NODES_FIRST;
		char **more = realloc(names->names, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		names->names = more;
		names->cap = cap;
	}
	names->names[names->n] = strdup(name);
	return names->names[names->n] ? (names->n++, 0) : -ENOMEM;
}

static int
names_read(int dir_fd, const char *host, struct names *names, struct err *err)
{
	int again = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		r = fail_at(err, "list", host);
		fd_close(again);
		return r;
	}
	errno = 0;
	while (r == 0 && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			r = names_add(names, entry->d_name);
		if (r < 0 || names->n > MOUNT_NODES_MAX)
			r = fail(err, r < 0 ? -r : E2BIG,
			    "mount: more than %u files, in %.150s",
			    MOUNT_NODES_MAX, host);
		errno = 0;
	}
	if (r == 0 && errno != 0)
		r = fail_at(err, "list", host);
	(void)closedir(dir);
	return r;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of their names: two rooms of one directory are alike. */
static int
read_dir(struct reader *reader, const struct spot *spot, struct err *err)
{
	struct names names = { 0 };
	int r = names_read(spot->fd, spot->host, &names, err);

	if (r == 0 && names.n > 0)
		qsort(names.names, names.n, sizeof(*names.names), by_name);
	for (size_t i = 0; r == 0 && i < names.n; i++)
		r = read_entry(reader, spot, names.names[i], err);
	names_done(&names);
	return r;
}

/* ---- mounts ---- */

/* The operator's own path may lead through links; a single file is fine. */
static int
read_mount(struct reader *reader, const char *text, struct err *err)
{
	char host[PATH_MAX], guest[MOUNT_GUEST_MAX + 1];
	struct spot top = { .host = host, .guest = guest };
	struct mount mount;
	struct stat stat;
	own_fd int fd = -1;

	if (mount_read(text, &mount) || mount.host.n >= sizeof(host))
		return fail(err, EINVAL, "mount: not one: %.150s", text);
	memcpy(host, mount.host.p, mount.host.n);
	host[mount.host.n] = '\0';
	memcpy(guest, mount.guest.p, mount.guest.n);
	guest[mount.guest.n] = '\0';
	fd = open(host, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return fail_at(err, "open", host);
	if (fstat(fd, &stat) < 0)
		return fail_at(err, "look at", host);
	if (!S_ISDIR(stat.st_mode) && !S_ISREG(stat.st_mode))
		return fail(err, ENOTDIR,
		    "mount: %.180s is neither a directory nor a file", host);
	reader->cow = mount.cow;
	reader->top = true;
	top.fd = fd;
	return read_open(reader, &top, &stat, err);
}

/* All small files are one mapping, which costs a fork next to nothing. */
static int
map_held(struct reader *reader, struct err *err)
{
	struct granted *granted = reader->granted;
	const uint8_t *at = NULL;

	if (reader->held_n > 0) {
		void *held = mmap(NULL, (size_t)reader->held_n, PROT_READ,
		    MAP_PRIVATE, reader->held_fd, 0);

		if (held == MAP_FAILED)
			return fail_at(err, "map", "the small files");
		at = held;
		granted->held = (struct span){ held, (size_t)reader->held_n };
	}
	for (size_t i = 0; i < granted->n; i++) {
		struct granted_node *node = &granted->nodes[i];

		if (!IS_HELD(node) || node->bytes.n == 0)
			continue;
		node->bytes.p = at;
		at += node->bytes.n;
	}
	return 0;
}

int
mounts_read(struct span texts, struct granted *ret_granted, struct err *err)
{
	struct reader reader = { .granted = ret_granted };
	own_fd int held_fd = -1;
	const char *text = (const char *)texts.p;
	int r = 0;

	*ret_granted = (struct granted){ 0 };
	if (texts.n == 0)
		return 0;
	if (text[texts.n - 1] != '\0')
		return fail(err, EPROTO, "mount: no end");
	held_fd = memfd_create("mounts", MFD_CLOEXEC);
	if (held_fd < 0)
		return fail_at(err, "hold", "files");
	reader.held_fd = held_fd;
	for (const char *end = text + texts.n; r == 0 && text < end;
	     text += strlen(text) + 1)
		r = read_mount(&reader, text, err);
	if (r == 0)
		r = map_held(&reader, err);
	if (r < 0)
		mounts_done(ret_granted);
	return r;
}

static void
unmap(struct span bytes)
{
	if (bytes.n > 0)
		(void)munmap((void *)(uintptr_t)bytes.p, bytes.n);
}

void
mounts_done(struct granted *granted)
{
	for (size_t i = 0; i < granted->n; i++) {
		struct granted_node *node = &granted->nodes[i];

		/* Held ones are smaller, and part of another mapping. */
		if (node->bytes.n > MOUNT_MAP_BYTES)
			unmap(node->bytes);
		free((void *)(uintptr_t)node->path);
		free((void *)(uintptr_t)node->target);
	}
	unmap(granted->held);
	free(granted->nodes);
	*granted = (struct granted){ 0 };
}
