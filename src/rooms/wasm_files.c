/* wasm_files.c: the files of a call, given to the program and taken from it.
 * Hostile input: the tree.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/wasm_files.h"

#include "call/file_name.h"
#include "call/files_in.h"
#include "conf/limits.h"
#include "wasm/memfs.h"
#include "wasm/world.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define NAME_IN_LINE 200u

/* ---- what an operator granted ---- */

static int
add_node(struct memfs *fs, const struct granted_node *node)
{
	switch (node->type) {
	case GRANTED_DIR:
		return memfs_add_dir(fs, node->path, !node->cow);
	case GRANTED_LINK:
		return memfs_add_symlink(
		    fs, node->path, node->target, !node->cow);
	case GRANTED_FILE:
		break;
	}
	return node->cow
		   ? memfs_add_cow(fs, node->path, node->bytes, node->mtime_ns)
		   : memfs_add_file(
			 fs, node->path, node->bytes, true, node->mtime_ns);
}

/* What leads to a mount that stands where programs write is theirs; elsewhere
 * it is read-only, as what is around it. */
static int
add_way(struct memfs *fs, const char *path)
{
	static const char *const writable[] = { GUEST_WORKSPACE "/", "/tmp/" };
	char way[PATH_MAX];
	bool theirs = false;
	size_t n = strlen(path);

	for (size_t i = 0; i < sizeof(writable) / sizeof(writable[0]); i++)
		theirs = theirs ||
			 strncmp(path, writable[i], strlen(writable[i])) == 0;
	while (n > 0 && path[n - 1] != '/')
		n--;
	if (!theirs || n <= 1)
		return 0;
	(void)snprintf(way, sizeof(way), "%.*s", (int)n - 1, path);
	return memfs_add_dir(fs, way, false);
}

int
wasm_files_grant(
    struct wasm_room *room, const struct granted *granted, struct err *err)
{
	struct memfs *fs = wasi_fs(room->wasi);

	for (size_t i = 0; i < granted->n; i++) {
		const struct granted_node *node = &granted->nodes[i];
		int r = node->top ? add_way(fs, node->path) : 0;

		if (r == 0)
			r = add_node(fs, node);
		if (r < 0)
			return fail(err, -r, "mount: add %.180s: %s",
			    node->path, strerror(-r));
	}
	return 0;
}

/* ---- what a call gives and takes ---- */

static void
tell_refusal(struct wasm_room *room, struct span name, int r)
{
	char shown[NAME_IN_LINE], line[NAME_IN_LINE + 160];
	int n;

	file_name_show(name, shown, sizeof(shown));
	n = snprintf(line, sizeof(line),
	    "[the program did not run: %s cannot be put into /workspace: "
	    "%s]\n",
	    shown,
	    r == -ENOSPC ? "the limit of its files is reached" : strerror(-r));
	output_write(room->output, OUTPUT_ERR, (uint8_t *)line, (size_t)n);
}

bool
wasm_files_give(struct wasm_room *room, struct span files)
{
	struct memfs *fs = wasi_fs(room->wasi);
	struct span name, bytes;
	int r = 0;

	while (r == 0 && files_in_next(&files, &name, &bytes))
		r = memfs_put_file(fs, GUEST_WORKSPACE, name, bytes);
	memfs_mark(fs);
	if (r < 0)
		tell_refusal(room, name, r);
	return r == 0;
}

/* A file is read straight into the region. */
static bool
take_file(void *arg, struct span path, struct memfs_node *file)
{
	struct files_writer *writer = arg;
	struct memfs_stat stat;
	uint8_t *bytes;
	size_t n;
	bool more;

	memfs_stat(file, &stat);
	more = files_add(writer, path, stat.size, &bytes);
	if (bytes)
		(void)memfs_read(NULL, file, 0, bytes, (size_t)stat.size, &n);
	return more;
}

void
wasm_files_take(struct wasm_room *room)
{
	struct files_writer writer = output_files(room->output);

	memfs_each_change(wasi_fs(room->wasi), GUEST_WORKSPACE, RESULT_NAME_MAX,
	    take_file, &writer);
	files_end(&writer);
}
