/* given.c: the files that "run --file" gives to a program.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/given.h"

#include "base/own.h"
#include "call/files_in.h"
#include "server/read_file.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* Behind the last colon, or the last part of the path. */
static const char *
name_of(const char *item, size_t *ret_path_n)
{
	const char *colon = strrchr(item, ':');
	const char *slash = strrchr(item, '/');

	*ret_path_n = colon ? (size_t)(colon - item) : strlen(item);
	if (colon)
		return colon + 1;
	return slash ? slash + 1 : item;
}

static int
read_one(const char *item, struct buf *files, struct err *err)
{
	char path[PATH_MAX];
	own_buf struct buf bytes;
	size_t path_n;
	const char *name = name_of(item, &path_n);
	int r;

	buf_init(&bytes, FILES_IN_BYTES);
	if (path_n >= sizeof(path))
		return fail(err, ENAMETOOLONG, "--file: the path is too long");
	memcpy(path, item, path_n);
	path[path_n] = '\0';
	r = read_file(path, &bytes, err);
	if (r < 0)
		return r;
	r = files_in_add(files, span_of(name), buf_span(&bytes), err);
	return r == -E2BIG ? -EFBIG : r;
}

int
given_read(const struct conf_list *given, struct buf *files, struct err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < given->n; i++)
		r = read_one(given->items[i], files, err);
	return r;
}
