/* pack.c: reading what guest/pack.py and guest/wheels.py have written: magic,
 * count, a table of names and places, then the bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/pack.h"

#include "base/own.h"
#include "conf/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PACK_MAGIC     "BRKPACK1"
#define PACK_PATH_MAX  512u
#define PACK_UNDER_MAX 128u

int
pack_map(const char *path, struct span *ret_bytes, struct err *err)
{
	own_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	void *bytes;

	if (fd < 0)
		return fail_errno(err, "open %s", path);
	if (fstat(fd, &about) < 0 || about.st_size == 0)
		return fail(err, EINVAL, "%s is empty", path);
	bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return fail_errno(err, "map %s", path);
	*ret_bytes = (struct span){ bytes, (size_t)about.st_size };
	return 0;
}

struct pack_entry { /* as it is written, before the path */
	uint32_t path_n;
	uint64_t offset;
	uint64_t size;
} __attribute__((packed));

/* Each component a name, none of which leads up or nowhere. */
static bool
is_plain(const uint8_t *name, size_t n)
{
	size_t start = 0;

	for (size_t i = 0; i <= n; i++) {
		size_t len = i - start;

		if (i < n && name[i] == '\0')
			return false;
		if (i < n && name[i] != '/')
			continue;
		if (len == 0 || (len == 1 && name[start] == '.') ||
		    (len == 2 && name[start] == '.' && name[start + 1] == '.'))
			return false;
		start = i + 1;
	}
	return true;
}

static int
pack_add(struct memfs *fs, struct span pack, const struct pack_entry *entry,
    char *path, struct err *err)
{
	int r;

	if (entry->offset > pack.n || entry->size > pack.n - entry->offset)
		return fail(err, EPROTO, "a packed file lies outside the pack");
	r = memfs_add_file(fs, path,
	    (struct span){ pack.p + entry->offset, (size_t)entry->size }, true,
	    LIBRARY_TIME_NS);
	if (r == -EEXIST) /* two packages have one: the first stays */
		r = 0;
	return r < 0 ? fail(err, -r, "add %s: %s", path, strerror(-r)) : 0;
}

int
pack_load(
    struct memfs *fs, struct span pack, const char *under, struct err *err)
{
	char path[PACK_UNDER_MAX + PACK_PATH_MAX + 2];
	size_t at = sizeof(PACK_MAGIC) - 1;
	int head = snprintf(path, sizeof(path), "%s/", under);
	uint32_t count;
	int r = 0;

	if (pack.n < at + sizeof(count) || memcmp(pack.p, PACK_MAGIC, at) != 0)
		return fail(err, EPROTO, "not a pack of files");
	memcpy(&count, pack.p + at, sizeof(count));
	at += sizeof(count);
	if (count > PACK_FILES_MAX)
		return fail(err, EPROTO, "a pack of %u files", count);
	while (count-- > 0 && r == 0) {
		struct pack_entry entry;

		if (pack.n - at < sizeof(entry))
			return fail(err, EPROTO, "the pack is cut short");
		memcpy(&entry, pack.p + at, sizeof(entry));
		at += sizeof(entry);
		if (entry.path_n > PACK_PATH_MAX || entry.path_n > pack.n - at)
			return fail(err, EPROTO, "the pack is cut short");
		if (!is_plain(pack.p + at, entry.path_n))
			return fail(err, EPROTO, "a pack with a file nowhere");
		memcpy(path + head, pack.p + at, entry.path_n);
		path[(size_t)head + entry.path_n] = '\0';
		r = pack_add(fs, pack, &entry, path, err);
		at += entry.path_n;
	}
	return r;
}
