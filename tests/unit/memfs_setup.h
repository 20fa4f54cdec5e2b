/* memfs_setup.h: a small file tree for tests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_MEMFS_SETUP_H
#define TESTS_UNIT_MEMFS_SETUP_H

#include "wasm/memfs.h"

#define TREE_BYTES (1024u * 1024u)
#define ENTRIES    20u

struct setup {
	struct memfs *fs;
	struct memfs_node *root;
};

int tree_set_up(void **state);
int tree_tear_down(void **state);

/* Opens a file that is made if it is not there; to be released. */
struct memfs_node *tree_make(struct setup *setup, const char *path);

/* The same, released. */
void tree_touch(struct setup *setup, const char *path);

/* What looking the path up gives. */
enum wasi_errno tree_find(struct setup *setup, const char *path);

#endif
