/* memfs_setup.c: a small file tree for tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "memfs_setup.h"

#include "conf/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

int
tree_set_up(void **state)
{
	static const struct memfs_limits limits = {
		.bytes = TREE_BYTES,
		.entries = ENTRIES,
		.file_size = GUEST_FILE_SIZE_MAX,
	};
	struct setup *setup = calloc(1, sizeof(*setup));

	assert_non_null(setup);
	setup->fs = memfs_new(&limits);
	assert_non_null(setup->fs);
	setup->root = memfs_root(setup->fs, 0);
	*state = setup;
	return 0;
}

int
tree_tear_down(void **state)
{
	struct setup *setup = *state;

	memfs_free(setup->fs);
	free(setup);
	return 0;
}

struct memfs_node *
tree_make(struct setup *setup, const char *path)
{
	struct memfs_how how = { .oflags = WASI_OPEN_CREATE, .change = true };
	struct memfs_node *node = NULL;

	assert_int_equal(WASI_OK,
	    memfs_open(setup->fs, setup->root, span_of(path), &how, &node));
	return node;
}

void
tree_touch(struct setup *setup, const char *path)
{
	memfs_release(setup->fs, tree_make(setup, path));
}

enum wasi_errno
tree_find(struct setup *setup, const char *path)
{
	struct memfs_node *node;

	return memfs_lookup(setup->fs, setup->root, span_of(path), true, &node);
}
