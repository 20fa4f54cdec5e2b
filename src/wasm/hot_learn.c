/* hot_learn.c: which pages do programs touch? The kernel's page map of a
 * process that ran one tells: a page of the snapshot that is not of the file
 * any more was written, one that is mapped at all was read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/hot.h"

#include "base/fd.h"
#include "base/own.h"
#include "wasm/hot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_FILE    (1ull << 61) /* of a file, or shared */

#define WINDOW_PAGES (HOT_WINDOW / HOT_PAGE)

struct hot_counts {
	struct guest_mem mem;
	struct hot_code code;
	size_t mem_pages, code_pages;
	/* One byte a page: more than 255 programs are never run. */
	uint8_t *written; /* mem_pages */
	uint8_t *read;    /* windows of mem */
	uint8_t *run;     /* windows of the code's file */
};

static void *
shared_new(size_t n)
{
	void *bytes = mmap(
	    NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return bytes == MAP_FAILED ? NULL : bytes;
}

struct hot_counts *
hot_counts_new(struct guest_mem mem, const char *module_path, struct err *err)
{
	own_mem struct hot_counts *counts = calloc(1, sizeof(*counts));

	if (!counts) {
		(void)fail(err, ENOMEM, "counters of pages");
		return NULL;
	}
	if (hot_find_code(module_path, &counts->code, err) < 0)
		return NULL;
	counts->mem = mem;
	counts->mem_pages = (size_t)(mem.size / HOT_PAGE);
	counts->code_pages = (size_t)(counts->code.size / HOT_PAGE);
	counts->written = shared_new(counts->mem_pages);
	counts->read = shared_new(counts->mem_pages / WINDOW_PAGES + 1);
	counts->run = shared_new(counts->code_pages / WINDOW_PAGES + 1);
	if (!counts->written || !counts->read || !counts->run) {
		(void)fail_errno(err, "counters of pages");
		return NULL;
	}
	return give_ptr(&counts);
}

static int
pagemap_read(int fd, const uint8_t *from, size_t pages, uint64_t *entries,
    struct err *err)
{
	off_t at = (off_t)((uintptr_t)from / HOT_PAGE * sizeof(uint64_t));
	size_t n = pages * sizeof(uint64_t);

	if (pread(fd, entries, n, at) != (ssize_t)n)
		return fail_errno(err, "read /proc/self/pagemap");
	return 0;
}

static void
count_memory(struct hot_counts *counts, const uint64_t *entries)
{
	bool seen = false;

	for (size_t i = 0; i < counts->mem_pages; i++) {
		bool present = entries[i] & PAGEMAP_PRESENT;
		bool of_file = entries[i] & PAGEMAP_FILE;

		if (present && !of_file)
			counts->written[i]++;
		if (present && of_file)
			seen = true;
		if ((i + 1) % WINDOW_PAGES == 0) {
			counts->read[i / WINDOW_PAGES] += seen;
			seen = false;
		}
	}
}

static void
count_code(struct hot_counts *counts, const uint64_t *entries, size_t first)
{
	for (size_t i = first; i < counts->code_pages; i++) {
		size_t window = i / WINDOW_PAGES;

		if (!(entries[i - first] & PAGEMAP_PRESENT))
			continue;
		counts->run[window]++;
		i = (window + 1) * WINDOW_PAGES - 1; /* once a window */
	}
}

int
hot_count(struct hot_counts *counts, struct err *err)
{
	own_fd int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	size_t first = (size_t)(counts->code.start / HOT_PAGE);
	size_t most = counts->mem_pages > counts->code_pages
			  ? counts->mem_pages
			  : counts->code_pages;
	own_mem uint64_t *entries = calloc(most, sizeof(*entries));
	int r;

	if (fd < 0)
		return fail_errno(err, "open /proc/self/pagemap");
	if (!entries)
		return fail(err, ENOMEM, "a map of pages");
	r = pagemap_read(fd, counts->mem.base, counts->mem_pages, entries, err);
	if (r < 0)
		return r;
	count_memory(counts, entries);
	r = pagemap_read(fd, counts->code.base + counts->code.start,
	    counts->code_pages - first, entries, err);
	if (r == 0)
		count_code(counts, entries, first);
	return r;
}

static int
list_add(struct buf *list, const uint8_t *counters, size_t n, unsigned least,
    uint32_t *ret_count)
{
	int r = 0;

	for (uint32_t i = 0; i < n && r == 0; i++) {
		if (counters[i] < least || *ret_count == HOT_NUMBERS_MAX)
			continue;
		r = buf_add(list, &i, sizeof(i));
		(*ret_count)++;
	}
	return r;
}

int
hot_write(const struct hot_counts *counts, unsigned least, const char *path,
    struct err *err)
{
	own_fd int fd =
	    open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	own_buf struct buf list = { .max = 3 * HOT_NUMBERS_MAX * 4 };
	struct hot_head head = { .magic = HOT_MAGIC };
	int r;

	if (fd < 0)
		return fail_errno(err, "create %s", path);
	r = list_add(
	    &list, counts->written, counts->mem_pages, least, &head.writes);
	if (r == 0)
		r = list_add(&list, counts->read,
		    counts->mem_pages / WINDOW_PAGES, least, &head.reads);
	if (r == 0)
		r = list_add(&list, counts->run,
		    counts->code_pages / WINDOW_PAGES, least, &head.code);
	if (r == 0)
		r = fd_write_all(fd, &head, sizeof(head));
	if (r == 0)
		r = fd_write_all(fd, list.p, list.n);
	return r < 0 ? fail(err, -r, "write %s: %s", path, strerror(-r)) : 0;
}
