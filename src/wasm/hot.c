/* hot.c: using a list of hot pages.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/hot.h"

#include "base/own.h"
#include "base/sys.h"
#include "wasm/hot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define RANGES_A_CALL 1024u /* IOV_MAX */

struct hot {
	struct iovec *writes; /* neighbouring pages joined */
	size_t writes_n;
	const volatile uint8_t **reads; /* one byte of each window */
	size_t reads_n;
};

static void
writes_add(
    struct hot *hot, const uint32_t *pages, uint32_t n, struct guest_mem mem)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *page = mem.base + (uint64_t)pages[i] * HOT_PAGE;
		struct iovec *last =
		    hot->writes_n ? &hot->writes[hot->writes_n - 1] : NULL;

		if (((uint64_t)pages[i] + 1) * HOT_PAGE > mem.size)
			return; /* ascending: all others lie outside too */
		if (last && (uint8_t *)last->iov_base + last->iov_len == page)
			last->iov_len += HOT_PAGE;
		else
			hot->writes[hot->writes_n++] =
			    (struct iovec){ page, HOT_PAGE };
	}
}

static void
reads_add(struct hot *hot, const uint32_t *windows, uint32_t n,
    const uint8_t *base, uint64_t start, uint64_t size)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t at = (uint64_t)windows[i] * HOT_WINDOW;

		if (at >= start && at < size)
			hot->reads[hot->reads_n++] = base + at;
	}
}

static int
hot_fill(struct hot *hot, const struct hot_head *head, const uint32_t *numbers,
    struct guest_mem mem, const struct hot_code *code, struct err *err)
{
	hot->writes = calloc(head->writes + 1, sizeof(*hot->writes));
	hot->reads =
	    calloc((size_t)head->reads + head->code + 1, sizeof(*hot->reads));
	if (!hot->writes || !hot->reads)
		return fail(err, ENOMEM, "a list of hot pages");
	writes_add(hot, numbers, head->writes, mem);
	numbers += head->writes;
	reads_add(hot, numbers, head->reads, mem.base, 0, mem.size);
	reads_add(hot, numbers + head->reads, head->code, code->base,
	    code->start, code->size);
	return 0;
}

static int
head_read(int fd, const char *path, struct hot_head *ret_head, struct err *err)
{
	if (pread(fd, ret_head, sizeof(*ret_head), 0) !=
		(ssize_t)sizeof(*ret_head) ||
	    memcmp(ret_head->magic, HOT_MAGIC, sizeof(ret_head->magic)) != 0 ||
	    ret_head->writes > HOT_NUMBERS_MAX ||
	    ret_head->reads > HOT_NUMBERS_MAX ||
	    ret_head->code > HOT_NUMBERS_MAX)
		return fail(err, EPROTO, "%s is no list of hot pages", path);
	return 0;
}

int
hot_load(const char *path, struct guest_mem mem, const char *module_path,
    struct hot **ret_hot, struct err *err)
{
	own_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	own_mem uint32_t *numbers = NULL;
	own_mem struct hot *hot = calloc(1, sizeof(*hot));
	struct hot_code code;
	struct hot_head head;
	size_t n;
	int r;

	if (fd < 0)
		return fail_errno(err, "open %s", path);
	r = head_read(fd, path, &head, err);
	if (r == 0)
		r = hot_find_code(module_path, &code, err);
	if (r < 0)
		return r;
	n = ((size_t)head.writes + head.reads + head.code) * sizeof(*numbers);
	numbers = malloc(n + 1);
	if (!hot || !numbers)
		return fail(err, ENOMEM, "a list of hot pages");
	if (pread(fd, numbers, n, sizeof(head)) != (ssize_t)n)
		return fail(err, EPROTO, "%s is cut short", path);
	r = hot_fill(hot, &head, numbers, mem, &code, err);
	if (r == 0)
		*ret_hot = give_ptr(&hot);
	return r;
}

/* True if one call did it for all the ranges; it may stop in between. */
static bool
populate_all(const struct iovec *ranges, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += ranges[i].iov_len;
	return sys_process_madvise(SYS_PIDFD_SELF, ranges, n,
		   MADV_POPULATE_WRITE) == (ssize_t)bytes;
}

void
hot_populate(const struct hot *hot)
{
	for (size_t at = 0; at < hot->writes_n; at += RANGES_A_CALL) {
		size_t n = hot->writes_n - at < RANGES_A_CALL
			       ? hot->writes_n - at
			       : RANGES_A_CALL;

		if (populate_all(hot->writes + at, n))
			continue;
		for (size_t i = at; i < at + n; i++)
			(void)madvise(hot->writes[i].iov_base,
			    hot->writes[i].iov_len, MADV_POPULATE_WRITE);
	}
}

void
hot_read(const struct hot *hot)
{
	/* A fault maps what the page cache has around it; asking for each
	 * page would visit them one by one. */
	for (size_t i = 0; i < hot->reads_n; i++)
		(void)*hot->reads[i];
}
