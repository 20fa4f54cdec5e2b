/* fuzz_memfs.c: random operations on a small tree: no crash, nothing leaks
 * out of the quota, and an empty tree holds nothing. Also feeds the bytes to
 * memfs_load.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_input.h"

#include "base/err.h"
#include "wasm/memfs.h"

#include <stdlib.h>
#include <string.h>

#define HANDLES   4u
#define TREE_MAX  65536u
#define NAMES_MAX 64u
#define IO_MAX    9000u
#define LENT      70000u /* bytes that a file borrows: two chunks */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	struct memfs *fs;
	struct memfs_node *handles[HANDLES];
	uint8_t bytes[IO_MAX];
};

/* A path from the alphabet "abc./": collisions and climbs are frequent. */
static struct span
take_path(struct input *input, uint8_t *path)
{
	static const char letters[] = "aabbc../";
	size_t n = take(input) % 16;

	for (size_t i = 0; i < n; i++)
		path[i] = (uint8_t)letters[take(input) % 8];
	return (struct span){ path, n };
}

static uint64_t
take_offset(struct input *input)
{
	uint64_t offset = take(input);

	return offset << (take(input) % 64);
}

static struct memfs_node *
take_dir(struct world *world, struct input *input)
{
	struct memfs_node *node = world->handles[take(input) % HANDLES];

	return node ? node : memfs_root(world->fs, take(input) % 2);
}

static void
do_open(struct world *world, struct input *input)
{
	struct memfs_node **slot = &world->handles[take(input) % HANDLES];
	struct memfs_node *dir = take_dir(world, input), *node;
	uint8_t bits = take(input), path[16];
	struct memfs_how how = {
		.oflags = bits & 15u,
		.follow = bits & 16u,
		.change = bits & 32u,
	};

	if (memfs_open(world->fs, dir, take_path(input, path), &how, &node) !=
	    WASI_OK)
		return;
	if (*slot)
		memfs_release(world->fs, *slot);
	*slot = node;
}

static void
do_handle(struct world *world, struct input *input)
{
	struct memfs_node *node = world->handles[take(input) % HANDLES];
	uint64_t offset = take_offset(input);
	size_t n = take(input) * 35u, done = 0;
	struct memfs_stat stat;

	if (!node)
		return;
	memfs_stat(node, &stat);
	switch (take(input) % 4) {
	case 0:
		if (memfs_read(world->fs, node, offset, world->bytes, n,
			&done) == WASI_OK &&
		    done > n)
			BUG("read too much");
		break;
	case 1:
		if (memfs_write(world->fs, node, offset, world->bytes, n,
			&done) == WASI_OK &&
		    done > n)
			BUG("wrote too much");
		break;
	case 2:
		(void)memfs_resize(world->fs, node, offset);
		break;
	default:
		(void)memfs_set_times(world->fs, node, offset, n, take(input));
		break;
	}
}

static void
do_names(struct world *world, struct input *input)
{
	struct memfs_node *dir = take_dir(world, input), *node;
	struct memfs_node *other = take_dir(world, input);
	uint8_t kind = take(input) % 9, a[16], b[16];
	struct span path = take_path(input, a), target;
	struct memfs *fs = world->fs;

	if (kind == 0)
		(void)memfs_mkdir(fs, dir, path);
	else if (kind == 1)
		(void)memfs_rmdir(fs, dir, path);
	else if (kind == 2)
		(void)memfs_unlink(fs, dir, path);
	else if (kind == 3)
		(void)memfs_symlink(fs, take_path(input, b), dir, path);
	else if (kind == 4)
		(void)memfs_readlink(fs, dir, path, &target);
	else if (kind == 5)
		(void)memfs_lookup(fs, dir, path, take(input) & 1, &node);
	else if (kind == 6)
		(void)memfs_link(
		    fs, dir, path, take(input) & 1, other, take_path(input, b));
	else
		(void)memfs_rename(fs, dir, path, other, take_path(input, b));
}

static void
do_list(struct world *world, struct input *input)
{
	struct memfs_node *dir = take_dir(world, input);
	struct memfs_dirent entry;
	uint64_t cookie = 0;

	while (memfs_next_entry(dir, cookie, &entry)) {
		if (entry.cookie <= cookie)
			BUG("a listing that does not go on");
		cookie = entry.cookie;
	}
}

static bool
count(void *arg, struct span path, struct memfs_node *file)
{
	unsigned *n = arg;

	if (path.n > 8 || memfs_type(file) != WASI_TYPE_FILE)
		BUG("a change that is none");
	return ++*n < NAMES_MAX + 2;
}

/* What the host does between two calls of a session. */
static void
do_host(struct world *world, struct input *input)
{
	uint8_t path[16];
	size_t n = take(input) * 35u;
	unsigned told = 0;

	if (take(input) % 4 == 0)
		memfs_mark(world->fs);
	memfs_each_change(world->fs, "/", 8, count, &told);
	if (told > NAMES_MAX + 1)
		BUG("more changes than files");
	(void)memfs_put_file(world->fs, "/", take_path(input, path),
	    (struct span){ world->bytes, n });
}

static void
save_and_load(struct memfs *fs, const struct memfs_limits *limits)
{
	struct memfs *again = memfs_new(limits);
	struct buf saved;

	buf_init(&saved, 16u * TREE_MAX);
	if (!again || memfs_add_root(again, "/x/y") < 0 ||
	    memfs_save(fs, &saved) < 0)
		BUG("cannot save");
	/* Rounding may make what is loaded a little larger than allowed. */
	(void)memfs_load(again, buf_span(&saved), NULL);
	memfs_free(again);
	buf_done(&saved);
}

static void
load_raw(const struct memfs_limits *limits, struct input input)
{
	struct memfs *fs = memfs_new(limits);
	struct buf bytes;

	if (!fs)
		BUG("no memory");
	buf_init(&bytes, 1u << 20);
	if (buf_add_text(&bytes, "memfs 1\n") < 0 ||
	    buf_add(&bytes, input.p, input.n) < 0)
		BUG("no memory");
	(void)memfs_load(fs, buf_span(&bytes), NULL);
	buf_done(&bytes);
	memfs_free(fs);
}

static void
world_end(struct world *world)
{
	for (unsigned i = 0; i < HANDLES; i++) {
		if (world->handles[i])
			memfs_release(world->fs, world->handles[i]);
	}
	if (memfs_remove_tree(world->fs, "/") < 0 ||
	    memfs_remove_tree(world->fs, "/x/y") < 0)
		BUG("cannot empty the tree");
	if (memfs_bytes(world->fs) != 0 || memfs_entries(world->fs) != 0)
		BUG("an empty tree holds something");
	memfs_free(world->fs);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct memfs_limits limits = {
		.bytes = TREE_MAX,
		.entries = NAMES_MAX,
		.file_size = 1ull << 40,
	};
	/* To its byte: what reads or writes beyond it is seen. */
	uint8_t *lent = calloc(1, LENT);
	struct input input = { data, size };
	struct world world = { .fs = memfs_new(&limits) };

	if (!lent || !world.fs || memfs_add_root(world.fs, "/x/y") < 0 ||
	    memfs_add_cow(world.fs, "/b", (struct span){ lent, LENT }, 0) < 0 ||
	    memfs_add_device(world.fs, "/c", MEMFS_ZERO) < 0)
		BUG("no memory");
	if (size > 0 && data[0] == 'L')
		load_raw(&limits, (struct input){ data + 1, size - 1 });
	while (input.n > 0) {
		switch (take(&input) % 5) {
		case 0:
			do_open(&world, &input);
			break;
		case 1:
			do_handle(&world, &input);
			break;
		case 2:
			do_names(&world, &input);
			break;
		case 3:
			do_host(&world, &input);
			break;
		default:
			do_list(&world, &input);
			break;
		}
		if (memfs_bytes(world.fs) > TREE_MAX ||
		    memfs_entries(world.fs) > NAMES_MAX)
			BUG("past the quota");
	}
	save_and_load(world.fs, &limits);
	world_end(&world);
	for (size_t i = 0; i < LENT; i++)
		if (lent[i] != 0)
			BUG("a borrowed byte was written to");
	free(lent);
	return 0;
}
