/* test_cgroup_slots.c: the slots of a room of version 2, in a tree of plain
 * files: what is written where, as Documentation/admin-guide/cgroup-v2.rst has
 * it, and what is read. For machines whose controllers are version 1's, and for
 * kernels that lack a file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/limits.h"
#include "walls/cgroup_file.h"
#include "walls/cgroup_room.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define SLOTS 2u

static const char *const kernel_files[] = { "cgroup.procs", "cgroup.kill",
	"memory.max", "memory.swap.max", "memory.oom.group", "memory.events",
	"pids.max", "cpu.max" };
static const char *const no_files[] = { NULL };
static const char *const *lacking = no_files;

static char top[64];
static int room_fd, control_fd;
static struct cgroup *cgroup;

static bool
lacks(const char *name)
{
	for (const char *const *one = lacking; *one; one++)
		if (strcmp(*one, name) == 0)
			return true;
	return false;
}

static void
put(int dir, const char *name, const char *text)
{
	int fd =
	    openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

/* In the place of the C library's: a new group has its files at once. */
int group_make(int dir, const char *path, mode_t mode) __asm__("mkdirat");

int
group_make(int dir, const char *path, mode_t mode)
{
	int r = (int)syscall(SYS_mkdirat, dir, path, mode);
	int made = r < 0 ? -1 : openat(dir, path, O_RDONLY | O_CLOEXEC);

	for (size_t i = 0;
	     made >= 0 && i < sizeof(kernel_files) / sizeof(kernel_files[0]);
	     i++)
		if (!lacks(kernel_files[i]))
			put(made, kernel_files[i], "");
	if (made >= 0)
		(void)close(made);
	return r;
}

static void
assert_text(const char *name, const char *wanted)
{
	char text[CGROUP_TEXT_MAX];

	assert_true(cgroup_read(room_fd, name, text) >= 0);
	assert_string_equal(text, wanted);
}

/* What was written to the room's cgroup.subtree_control, one after the other:
 * it is a pipe. */
static void
assert_controllers(const char *wanted)
{
	char text[64] = "";

	(void)!read(control_fd, text, sizeof(text) - 1);
	assert_string_equal(text, wanted);
}

static int
open_slots(uint32_t cpus_milli, wall_set served)
{
	const struct cgroup_limits limits = {
		.slot_memory_bytes = 64ull * MIB,
		.slot_processes = 130,
		.slot_cpus_milli = cpus_milli,
		.slots = SLOTS,
	};

	cgroup = calloc(1, sizeof(*cgroup) + SLOTS * sizeof(cgroup->slot[0]));
	assert_non_null(cgroup);
	cgroup->memory_version = 2;
	cgroup->memory_fd = room_fd;
	cgroup->slots_max = SLOTS;
	return cgroup_slots_open(cgroup, &limits, served);
}

#define ALL                                                         \
	(WALL_BIT(WALL_CGROUP_MEMORY) | WALL_BIT(WALL_CGROUP_CPU) | \
	    WALL_BIT(WALL_CGROUP_PIDS))

static int
setup(void **state)
{
	(void)state;
	lacking = no_files;
	(void)snprintf(top, sizeof(top), "/tmp/test_cgroup_slots.XXXXXX");
	assert_non_null(mkdtemp(top));
	room_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkfifoat(room_fd, "cgroup.subtree_control", 0600), 0);
	control_fd = openat(
	    room_fd, "cgroup.subtree_control", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_true(control_fd >= 0);
	return 0;
}

static void
slot_remove(unsigned slot)
{
	char name[64];

	for (size_t i = 0; i < sizeof(kernel_files) / sizeof(kernel_files[0]);
	     i++) {
		(void)snprintf(
		    name, sizeof(name), "%u/%s", slot, kernel_files[i]);
		(void)unlinkat(room_fd, name, 0);
	}
	(void)snprintf(name, sizeof(name), "%u", slot);
	(void)unlinkat(room_fd, name, AT_REMOVEDIR);
}

static int
teardown(void **state)
{
	(void)state;
	cgroup_slots_close(cgroup);
	free(cgroup);
	cgroup = NULL;
	for (unsigned slot = 0; slot < SLOTS; slot++)
		slot_remove(slot);
	(void)unlinkat(room_fd, "cgroup.subtree_control", 0);
	(void)close(control_fd);
	(void)close(room_fd);
	return rmdir(top);
}

static void
a_slot_has_its_limits(void **state)
{
	(void)state;
	assert_int_equal(open_slots(1500, ALL), 0);
	assert_controllers("+memory+cpu+pids");
	assert_text("1/memory.max", "67108864");
	assert_text("1/memory.swap.max", "0");
	assert_text("1/memory.oom.group", "1");
	assert_text("1/pids.max", "130");
	/* Of a period that stays what it is: 100 ms. */
	assert_text("1/cpu.max", "150000");
}

/* Where the room weighs as a whole, a slot is not limited. */
static void
a_slot_without_processors(void **state)
{
	(void)state;
	assert_int_equal(open_slots(0, ALL), 0);
	assert_controllers("+memory+pids");
	assert_text("0/cpu.max", "");
}

static void
only_what_is_served(void **state)
{
	(void)state;
	assert_int_equal(open_slots(1000, WALL_BIT(WALL_CGROUP_MEMORY)), 0);
	assert_controllers("+memory");
	assert_text("0/pids.max", "");
	assert_text("0/cpu.max", "");
}

/* No swap in this kernel, and none of what came after Linux 4.15. */
static void
what_a_kernel_lacks(void **state)
{
	static const char *const names[] = { "memory.swap.max",
		"memory.oom.group", "cgroup.kill", NULL };

	(void)state;
	lacking = names;
	assert_int_equal(open_slots(1000, ALL), 0);
	assert_int_equal(cgroup->slot[0].kill_fd, -1);
	assert_text("0/memory.max", "67108864");
}

static void
what_a_room_cannot_do_without(void **state)
{
	static const char *const names[] = { "memory.max", NULL };

	(void)state;
	lacking = names;
	assert_int_equal(open_slots(1000, ALL), -ENOENT);
	assert_int_equal(cgroup->n_slots, 0);
}

static void
a_slot_is_joined_and_counted(void **state)
{
	struct err err;
	int slot;

	(void)state;
	assert_int_equal(open_slots(1000, ALL), 0);
	slot = cgroup_take(cgroup);
	assert_int_equal(slot, 0);
	assert_int_equal(cgroup_join(cgroup_procs_fd(cgroup, slot), &err), 0);
	assert_text("0/cgroup.procs", "0");
	assert_int_equal(cgroup_oom_kills(cgroup, slot), 0);
	put(room_fd, "0/memory.events",
	    "low 0\nhigh 0\nmax 12\noom 2\noom_kill 3\noom_group_kill 1\n");
	assert_int_equal(cgroup_oom_kills(cgroup, slot), 3);
}

static void
a_slot_that_is_given_back_is_emptied(void **state)
{
	(void)state;
	assert_int_equal(open_slots(1000, ALL), 0);
	assert_int_equal(cgroup_take(cgroup), 0);
	put(room_fd, "0/cgroup.procs", "12345\n");
	put(room_fd, "0/memory.events", "oom 2\noom_kill 3\n");
	cgroup_release(cgroup, 0);
	assert_text("0/cgroup.kill", "1");
	/* Not while there is somebody in it; then as if nothing had been. */
	assert_int_equal(cgroup_take(cgroup), 1);
	assert_int_equal(cgroup_take(cgroup), -EAGAIN);
	put(room_fd, "0/cgroup.procs", "");
	assert_int_equal(cgroup_take(cgroup), 0);
	assert_int_equal(cgroup_oom_kills(cgroup, 0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest all[] = {
		TEST(a_slot_has_its_limits),
		TEST(a_slot_without_processors),
		TEST(only_what_is_served),
		TEST(what_a_kernel_lacks),
		TEST(what_a_room_cannot_do_without),
		TEST(a_slot_is_joined_and_counted),
		TEST(a_slot_that_is_given_back_is_emptied),
	};

	return cmocka_run_group_tests_name("cgroup_slots", all, NULL, NULL);
}
