/* test_store.c: what is kept of calls: found by its owner and by nobody else,
 * forgotten by age and by weight, a flooder's own first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/store.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEEP_MS 1000u
#define SECOND  1000000u

struct world {
	struct store *store;
	struct principal *ann, *bob;
};

static int
setup_of(void **state, uint64_t bytes_max)
{
	struct world *world = calloc(1, sizeof(*world));

	world->store = store_new(bytes_max, KEEP_MS);
	world->ann = principal_new("token", "ann");
	world->bob = principal_new("token", "bob");
	assert_non_null(world->store);
	*state = world;
	return 0;
}

static int
setup(void **state)
{
	return setup_of(state, 64u * MIB);
}

static int
setup_small(void **state)
{
	return setup_of(state, 1u * MIB);
}

static int
teardown(void **state)
{
	struct world *world = *state;

	store_free(world->store);
	principal_release(world->ann);
	principal_release(world->bob);
	free(world);
	return 0;
}

static void
add_to(struct file_list *list, const char *name, const char *bytes, bool taken)
{
	struct file *file;

	list->files =
	    realloc(list->files, (list->n + 1) * sizeof(*list->files));
	file = &list->files[list->n++];
	*file = (struct file){ .name = strdup(name), .taken = taken };
	file->size = strlen(bytes);
	buf_init(&file->bytes, 1000000);
	if (taken)
		(void)buf_add_text(&file->bytes, bytes);
}

static void
add_file(struct result *result, const char *name, const char *bytes, bool taken)
{
	add_to(&result->files, name, bytes, taken);
}

/* A call that printed n letters. */
static int
add_call(struct world *world, struct principal *who, size_t n, uint64_t now,
    char id[STORE_ID_SIZE])
{
	struct result result;
	int r;

	result_init(&result);
	assert_int_equal(buf_reserve(&result.out.text, n), 0);
	memset(result.out.text.p, 'x', n);
	result.out.text.n = n;
	r = store_add(world->store, who, &result, now, id);
	result_done(&result);
	return r;
}

static bool
find(struct world *world, struct principal *who, const char *id,
    const char *path, uint64_t now, struct stored *stored)
{
	struct resource_uri uri;
	char text[200];

	(void)snprintf(text, sizeof(text), "breakroom://call/%s/%s", id, path);
	assert_true(resource_uri_parse(text, &uri));
	return store_find(world->store, who, &uri, now, stored);
}

static unsigned
count(struct world *world, struct principal *who, uint64_t now)
{
	struct stored stored;
	uint64_t at = 0;
	unsigned n = 0;

	while (store_next(world->store, who, now, &at, &stored))
		n++;
	return n;
}

/* Images are found by their own path, in the order in which they were shown. */
static void
images_are_kept(void **state)
{
	struct world *world = *state;
	struct result result;
	struct stored stored;
	char id[STORE_ID_SIZE];
	uint64_t at = 0;

	result_init(&result);
	add_file(&result, "1.png", "file", true);
	add_to(&result.images, "1.png", "one", true);
	add_to(&result.images, "2.png", "", false);
	add_to(&result.images, "3.png", "three", true);
	assert_int_equal(store_add(world->store, NULL, &result, 0, id), 0);
	store_move(world->store, id, &result);
	result_done(&result);
	assert_true(find(world, NULL, id, "images/3.png", 1, &stored));
	assert_int_equal(stored.bytes.n, 5);
	assert_memory_equal(stored.bytes.p, "three", 5);
	assert_string_equal(stored.type, "image/png");
	assert_non_null(strstr(stored.uri, "/images/3.png"));
	assert_false(find(world, NULL, id, "images/2.png", 1, &stored));
	assert_true(find(world, NULL, id, "files/1.png", 1, &stored));
	assert_memory_equal(stored.bytes.p, "file", 4);
	assert_true(store_next(world->store, NULL, 1, &at, &stored));
	assert_non_null(strstr(stored.uri, "/files/1.png"));
	assert_true(store_next(world->store, NULL, 1, &at, &stored));
	assert_non_null(strstr(stored.uri, "/images/1.png"));
	assert_true(store_next(world->store, NULL, 1, &at, &stored));
	assert_non_null(strstr(stored.uri, "/images/3.png"));
	assert_false(store_next(world->store, NULL, 1, &at, &stored));
}

static void
all_of_a_call_is_found(void **state)
{
	struct world *world = *state;
	struct result result;
	struct stored stored;
	char id[STORE_ID_SIZE];

	result_init(&result);
	(void)buf_add_text(&result.out.text, "out");
	(void)buf_add_text(&result.err.text, "err");
	add_file(&result, "a b.csv", "1,2", true);
	add_file(&result, "big", "", false);
	add_file(&result, "z", "\x89PNG\r\n\x1a\n", true);
	assert_int_equal(store_add(world->store, NULL, &result, 0, id), 0);
	/* The answer is made between the two. */
	assert_int_equal(result.files.files[0].bytes.n, 3);
	store_move(world->store, id, &result);
	assert_int_equal(result.files.files[0].bytes.n, 0);
	assert_int_equal(strspn(id, "0123456789abcdef"), STORE_ID_SIZE - 1);
	/* The answer names them still. */
	assert_string_equal(result.files.files[0].name, "a b.csv");
	assert_int_equal(result.files.files[0].size, 3);
	result_done(&result);

	assert_true(find(world, NULL, id, "stdout", 1, &stored));
	assert_int_equal(stored.bytes.n, 3);
	assert_memory_equal(stored.bytes.p, "out", 3);
	assert_string_equal(stored.name, "stdout");
	assert_string_equal(stored.type, "text/plain");
	assert_true(find(world, NULL, id, "stderr", 1, &stored));
	assert_memory_equal(stored.bytes.p, "err", 3);
	assert_true(find(world, NULL, id, "files/a%20b.csv", 1, &stored));
	assert_memory_equal(stored.bytes.p, "1,2", 3);
	assert_string_equal(stored.type, "text/csv");
	assert_string_equal(stored.name, "a b.csv");
	assert_non_null(strstr(stored.uri, "/files/a%20b.csv"));
	assert_true(find(world, NULL, id, "files/z", 1, &stored));
	assert_string_equal(stored.type, "image/png");
	assert_false(stored.text);
	assert_false(find(world, NULL, id, "files/big", 1, &stored));
	assert_false(find(world, NULL, id, "files/none", 1, &stored));
	assert_int_equal(count(world, NULL, 1), 4);
}

static void
others_find_nothing(void **state)
{
	struct world *world = *state;
	struct stored stored;
	char id[STORE_ID_SIZE];

	assert_int_equal(add_call(world, world->ann, 5, 0, id), 0);
	assert_true(find(world, world->ann, id, "stdout", 1, &stored));
	assert_false(find(world, world->bob, id, "stdout", 1, &stored));
	assert_false(find(world, NULL, id, "stdout", 1, &stored));
	assert_int_equal(count(world, world->ann, 1), 1);
	assert_int_equal(count(world, world->bob, 1), 0);
	assert_int_equal(count(world, NULL, 1), 0);
	assert_int_equal(add_call(world, NULL, 5, 0, id), 0);
	assert_false(find(world, world->ann, id, "stdout", 1, &stored));
	/* A principal of that name is the same one after a restart. */
	principal_release(world->ann);
	world->ann = principal_new("token", "ann");
	assert_int_equal(count(world, world->ann, 1), 1);
}

static void
time_ends(void **state)
{
	struct world *world = *state;
	struct stored stored;
	char id[STORE_ID_SIZE], later[STORE_ID_SIZE];

	assert_int_equal(add_call(world, NULL, 5, 0, id), 0);
	assert_int_equal(add_call(world, NULL, 5, SECOND / 2, later), 0);
	assert_true(find(world, NULL, id, "stdout", SECOND - 1, &stored));
	assert_false(find(world, NULL, id, "stdout", SECOND, &stored));
	assert_true(find(world, NULL, later, "stdout", SECOND, &stored));
	assert_int_equal(count(world, NULL, 2 * SECOND), 0);
	assert_int_equal(store_bytes(world->store), 0);
}

static void
time_ends_unasked(void **state)
{
	struct world *world = *state;
	char id[STORE_ID_SIZE];

	assert_int_equal(add_call(world, NULL, 10, 0, id), 0);
	store_expire(world->store, SECOND - 1);
	assert_true(store_bytes(world->store) > 0);
	store_expire(world->store, SECOND);
	assert_int_equal(store_bytes(world->store), 0);
}

static void
places_tell_nothing_of_others(void **state)
{
	struct world *world = *state;
	uint64_t of_ann = 0, of_bob = 0;
	char id[STORE_ID_SIZE];
	struct stored stored;

	assert_int_equal(add_call(world, world->ann, 10, 0, id), 0);
	assert_true(store_next(world->store, world->ann, 0, &of_ann, &stored));
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(add_call(world, world->ann, 10, 0, id), 0);
	assert_int_equal(add_call(world, world->bob, 10, 0, id), 0);
	assert_true(store_next(world->store, world->bob, 0, &of_bob, &stored));
	assert_int_equal(of_ann, of_bob);
}

static void
nothing_is_not_kept(void **state)
{
	struct world *world = *state;
	char id[STORE_ID_SIZE];

	assert_int_equal(add_call(world, NULL, 0, 0, id), -ENODATA);
	assert_int_equal(store_bytes(world->store), 0);
}

static void
too_much_is_not_kept(void **state)
{
	struct world *world = *state;
	char id[STORE_ID_SIZE], small[STORE_ID_SIZE];
	struct stored stored;

	assert_int_equal(add_call(world, NULL, 10, 0, small), 0);
	assert_int_equal(add_call(world, NULL, 1u * MIB, 0, id), -E2BIG);
	assert_true(find(world, NULL, small, "stdout", 1, &stored));
}

static void
oldest_goes_first(void **state)
{
	struct world *world = *state;
	char ids[8][STORE_ID_SIZE];
	struct stored stored;

	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(add_call(world, NULL, 300000, i, ids[i]), 0);
		assert_true(store_bytes(world->store) <= 1u * MIB);
	}
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(
		    find(world, NULL, ids[i], "stdout", 9, &stored), i >= 5);
}

static void
a_flood_hurts_the_flooder(void **state)
{
	struct world *world = *state;
	char id[STORE_ID_SIZE], flood[STORE_ID_SIZE];
	struct stored stored;

	assert_int_equal(add_call(world, world->bob, 200000, 0, id), 0);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(
		    add_call(world, world->ann, 300000, 1, flood), 0);
	assert_true(find(world, world->bob, id, "stdout", 2, &stored));
	assert_int_equal(count(world, world->ann, 2), 2);
	/* Also with calls of next to nothing, whose number is what counts. */
	for (unsigned i = 0; i < 3 * KEEP_CALLS_MAX; i++)
		assert_int_equal(add_call(world, world->ann, 1, 3, flood), 0);
	assert_true(find(world, world->bob, id, "stdout", 4, &stored));
	assert_true(count(world, world->ann, 4) < KEEP_CALLS_MAX);
}

static void
many_little_calls_do_not_drive_out_a_large_one(void **state)
{
	struct world *world = *state;
	char id[STORE_ID_SIZE], flood[STORE_ID_SIZE];
	struct stored stored;

	assert_int_equal(add_call(world, world->bob, 3000000, 0, id), 0);
	for (unsigned i = 0; i < KEEP_CALLS_MAX + 10; i++)
		assert_int_equal(add_call(world, world->ann, 1, 1, flood), 0);
	assert_true(find(world, world->bob, id, "stdout", 2, &stored));
	assert_int_equal(count(world, world->ann, 2), KEEP_CALLS_MAX - 1);
}

/* A walk goes on where it was, whatever came and went since. */
static void
walks_survive_changes(void **state)
{
	struct world *world = *state;
	char id[STORE_ID_SIZE];
	struct stored stored;
	uint64_t at = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(
		    add_call(world, world->ann, 1 + i, i * SECOND / 10, id), 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(store_next(
		    world->store, world->ann, SECOND - 1, &at, &stored));
		assert_int_equal(stored.bytes.n, 10 - i); /* newest first */
	}
	assert_int_equal(add_call(world, world->ann, 99, SECOND - 1, id), 0);
	(void)count(world, world->ann, SECOND - 1); /* another walk */
	/* The four oldest are gone: two are left behind the place. */
	while (store_next(
	    world->store, world->ann, SECOND + 3 * SECOND / 10, &at, &stored)) {
		assert_int_equal(stored.bytes.n, 6 - n);
		n++;
	}
	assert_int_equal(n, 2);
	/* At a place whose call is gone: the next older one. */
	assert_int_equal(count(world, world->ann, SECOND * 15 / 10), 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    all_of_a_call_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    images_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    others_find_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(time_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    time_ends_unasked, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    places_tell_nothing_of_others, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    nothing_is_not_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    too_much_is_not_kept, setup_small, teardown),
		cmocka_unit_test_setup_teardown(
		    oldest_goes_first, setup_small, teardown),
		cmocka_unit_test_setup_teardown(
		    a_flood_hurts_the_flooder, setup_small, teardown),
		cmocka_unit_test_setup_teardown(
		    many_little_calls_do_not_drive_out_a_large_one, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    walks_survive_changes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
