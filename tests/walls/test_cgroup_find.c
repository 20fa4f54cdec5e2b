/* test_cgroup_find.c: where control groups are found, in made-up machines: the
 * files of /proc, and directories of plain files in the place of groups.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/cgroup_delegate.h"
#include "walls/cgroup_file.h"
#include "walls/cgroup_find.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MEMORY WALL_BIT(WALL_CGROUP_MEMORY)
#define PIDS   WALL_BIT(WALL_CGROUP_PIDS)
#define CPU    WALL_BIT(WALL_CGROUP_CPU)
#define KILL   WALL_BIT(WALL_CGROUP_KILL)

/* ---- a made-up machine ---- */

static char folder[] = "/tmp/breakroom-test-XXXXXX";
static struct cgroup_trees trees;
static struct err why[WALLS];

static int
remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void)info;
	(void)kind;
	(void)at;
	return remove(path);
}

static int
machine_open(void **state)
{
	(void)state;
	(void)strcpy(folder + strlen(folder) - 6, "XXXXXX");
	memset(why, 0, sizeof(why));
	return mkdtemp(folder) ? 0 : -1;
}

static int
machine_close(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void
put(const char *name, const char *text)
{
	char path[200];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void
assert_text(const char *name, const char *expected)
{
	char path[200];
	char text[CGROUP_TEXT_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_true(cgroup_read(AT_FDCWD, path, text) >= 0);
	assert_string_equal(text, expected);
}

static wall_set
find(const char *groups, const char *mounts)
{
	put("cgroup", groups);
	put("mountinfo", mounts);
	return cgroup_find(folder, WALLS_CGROUP, &trees, why);
}

static void
assert_tree(unsigned i, int version, wall_set walls, const char *base,
    const char *group)
{
	assert_true(i < trees.n);
	assert_int_equal(trees.tree[i].version, version);
	assert_int_equal(trees.tree[i].walls, walls);
	assert_string_equal(trees.tree[i].base, base);
	assert_string_equal(trees.tree[i].group, group);
}

/* ---- finding ---- */

static void
version_2_serves_all(void **state)
{
	(void)state;
	assert_int_equal(
	    find("0::/user.slice/run-1.scope\n",
		"22 1 8:1 / / rw - ext4 /dev/sda rw\n"
		"31 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 "
		"cgroup2 rw,nsdelegate\n"),
	    WALLS_CGROUP);
	assert_int_equal(trees.n, 1);
	assert_tree(0, 2, WALLS_CGROUP, "/sys/fs/cgroup/user.slice/run-1.scope",
	    "/user.slice/run-1.scope");
	assert_false(trees.tree[0].read_only);
}

static void
version_1_has_a_tree_each(void **state)
{
	(void)state;
	assert_int_equal(
	    find("12:pids:/a\n9:cpu,cpuacct:/b\n4:memory:/c\n"
		 "1:name=systemd:/d\n",
		"40 31 0:30 / /cg/cpu,cpuacct rw - cgroup cgroup "
		"rw,cpu,cpuacct\n"
		"41 31 0:31 / /cg/memory rw - cgroup cgroup rw,memory\n"
		"42 31 0:32 / /cg/pids rw - cgroup cgroup rw,pids\n"),
	    MEMORY | PIDS | CPU);
	assert_int_equal(trees.n, 3);
	assert_tree(0, 1, MEMORY, "/cg/memory/c", "/c");
	assert_tree(1, 1, PIDS, "/cg/pids/a", "/a");
	assert_tree(2, 1, CPU, "/cg/cpu,cpuacct/b", "/b");
	assert_non_null(strstr(why[WALL_CGROUP_KILL].text, "version 2"));
}

/* cpuset begins as cpu does, and cpuacct too. */
static void
a_controller_is_a_whole_word(void **state)
{
	(void)state;
	assert_int_equal(
	    find("3:cpuset:/a\n2:cpuacct:/b\n0::/\n",
		"40 31 0:30 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n"
		"41 31 0:31 / /cg/cpuacct rw - cgroup cgroup rw,cpuacct\n"),
	    0);
	assert_int_equal(trees.n, 0);
	assert_non_null(strstr(why[WALL_CGROUP_CPU].text, "no mount"));
}

static void
both_versions_side_by_side(void **state)
{
	(void)state;
	assert_int_equal(
	    find("4:memory,pids:/m\n1:cpu:/\n0::/x\n",
		"40 31 0:30 / /cg/both rw - cgroup cgroup rw,memory,pids\n"
		"41 31 0:31 / /cg/cpu rw - cgroup cgroup rw,cpu\n"
		"42 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw\n"),
	    WALLS_CGROUP);
	assert_int_equal(trees.n, 3);
	assert_tree(0, 2, KILL, "/cg/unified/x", "/x");
	assert_tree(1, 1, MEMORY | PIDS, "/cg/both/m", "/m");
	assert_tree(2, 1, CPU, "/cg/cpu", "/");
}

/* A container without a namespace of groups: what is mounted begins where the
 * name goes on. */
static void
the_root_of_the_mount_is_left_away(void **state)
{
	(void)state;
	assert_int_equal(
	    find("4:memory:/docker/1f/in\n8:pids:/docker/1f\n1:cpu:/docker/2\n",
		"40 31 0:30 /docker/1f /cg/memory rw - cgroup cg rw,memory\n"
		"41 31 0:31 /docker/1f /cg/pids rw - cgroup cg rw,pids\n"
		"42 31 0:32 /docker/1 /cg/cpu rw - cgroup cg rw,cpu\n"),
	    MEMORY | PIDS);
	assert_tree(0, 1, MEMORY, "/cg/memory/in", "/docker/1f/in");
	assert_tree(1, 1, PIDS, "/cg/pids", "/docker/1f");
	assert_non_null(strstr(why[WALL_CGROUP_CPU].text, "/docker/2"));
}

static void
nothing_is_guessed_beyond_a_namespace(void **state)
{
	(void)state;
	assert_int_equal(find("4:memory:/\n0::/../other\n",
			     "40 31 0:30 /../.. /cg/m rw - cgroup c rw,memory\n"
			     "41 31 0:31 / /cg/u rw - cgroup2 cgroup2 rw\n"),
	    0);
	assert_int_equal(trees.n, 0);
}

static void
a_mount_to_write_to_is_preferred(void **state)
{
	(void)state;
	assert_int_equal(find("0::/\n4:memory:/\n",
			     "40 31 0:30 / /a rw - cgroup2 cgroup2 ro\n"
			     "41 31 0:30 / /b ro,nosuid - cgroup2 cgroup2 rw\n"
			     "42 31 0:30 / /c rw - cgroup2 cgroup2 rw\n"
			     "43 31 0:30 / /d rw - cgroup2 cgroup2 rw\n"
			     "44 31 0:31 / /e ro - cgroup cgroup rw,memory\n"),
	    WALLS_CGROUP);
	assert_tree(0, 2, KILL | PIDS | CPU, "/c", "/");
	assert_tree(1, 1, MEMORY, "/e", "/");
	assert_true(trees.tree[1].read_only);
}

static void
names_are_unescaped(void **state)
{
	(void)state;
	(void)find("0::/a b\n",
	    "40 31 0:30 / /with\\040blank rw - cgroup2 cgroup2 rw\n");
	assert_tree(0, 2, WALLS_CGROUP, "/with blank/a b", "/a b");
}

static void
rooms_are_beside_the_servers_leaf(void **state)
{
	static const char mount[] =
	    "40 31 0:30 / /cg rw - cgroup2 cgroup2 rw\n";

	(void)state;
	(void)find("0::/x/breakroom.server\n", mount);
	assert_tree(0, 2, WALLS_CGROUP, "/cg/x", "/x");
	(void)find("0::/breakroom.server\n", mount);
	assert_tree(0, 2, WALLS_CGROUP, "/cg", "");
}

static void
broken_lines_are_passed_over(void **state)
{
	char *text = malloc(3 * PATH_MAX);

	(void)state;
	assert_non_null(text);
	assert_int_equal(find("", ""), 0);
	assert_int_equal(
	    find(":\n::\n0\n\n:::", "a b\n - \n1 2 - cgroup2\n"), 0);
	(void)strcpy(text, "0::/");
	memset(text + 4, 'x', PATH_MAX);
	(void)strcpy(text + 4 + PATH_MAX, "\n");
	assert_int_equal(
	    find(text, "40 31 0:30 / /cg rw - cgroup2 cgroup2 rw\n"), 0);
	free(text);
	assert_int_equal(cgroup_find("/nowhere", PIDS, &trees, why), 0);
	assert_string_equal(why[WALL_CGROUP_PIDS].text,
	    "/nowhere/cgroup: No such file or directory");
}

static void
only_what_is_wanted_is_looked_for(void **state)
{
	(void)state;
	put("cgroup", "0::/\n");
	put("mountinfo", "40 31 0:30 / /cg rw - cgroup2 cgroup2 rw\n");
	assert_int_equal(cgroup_find(folder, PIDS, &trees, why), PIDS);
	assert_tree(0, 2, PIDS, "/cg", "/");
}

/* ---- version 2: controllers ---- */

static wall_set
delegate(
    const char *controllers, const char *enabled, const char *procs, bool root)
{
	struct cgroup_tree *tree = &trees.tree[0];
	int base = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	wall_set served;

	put("cgroup.controllers", controllers);
	put("cgroup.subtree_control", enabled);
	put("cgroup.procs", procs);
	if (!root)
		put("cgroup.events", "populated 1\nfrozen 0\n");
	tree->version = 2;
	tree->walls = WALLS_CGROUP;
	(void)strcpy(tree->base, folder);
	served = cgroup_delegate(base, tree, why);
	(void)close(base);
	return served;
}

static void
controllers_given_are_used(void **state)
{
	(void)state;
	assert_int_equal(
	    delegate("cpuset cpu memory pids\n", "cpu memory pids\n", "1\n", 0),
	    WALLS_CGROUP);
	/* Nothing was to be enabled. */
	assert_text("cgroup.subtree_control", "cpu memory pids\n");
}

static void
controllers_not_given_are_named(void **state)
{
	(void)state;
	assert_int_equal(
	    delegate("cpuset pids\n", "pids\n", "", 0), KILL | PIDS);
	assert_non_null(strstr(why[WALL_CGROUP_MEMORY].text,
	    "is not given the controller memory"));
	assert_non_null(strstr(why[WALL_CGROUP_CPU].text, "controller cpu"));
}

static void
an_empty_group_enables_them(void **state)
{
	(void)state;
	assert_int_equal(
	    delegate("memory pids\n", "pids\n", "", 0), KILL | MEMORY | PIDS);
	/* A plain file shows the write over what was there. */
	assert_text("cgroup.subtree_control", "+memory");
}

static void
the_root_need_not_be_empty(void **state)
{
	(void)state;
	assert_int_equal(delegate("memory pids\n", "pids\n", "1\n", 1),
	    KILL | MEMORY | PIDS);
}

static void
others_processes_are_left_alone(void **state)
{
	(void)state;
	assert_int_equal(
	    delegate("memory pids\n", "pids\n", "1\n", 0), KILL | PIDS);
	assert_int_equal(why[WALL_CGROUP_MEMORY].code, EBUSY);
	assert_non_null(
	    strstr(why[WALL_CGROUP_MEMORY].text, "process 1 of others"));
	assert_text("cgroup.subtree_control", "pids\n");
}

/* ---- texts ---- */

static void
pids_are_read_within_their_range(void **state)
{
	const char *text = "12\n0\n99999999999\n2147483647\n2147483648\n-5\n7";

	(void)state;
	assert_int_equal(cgroup_next_pid(&text), 12);
	assert_int_equal(cgroup_next_pid(&text), 2147483647);
	/* 7 may be the beginning of a longer number. */
	assert_int_equal(cgroup_next_pid(&text), 0);
	assert_int_equal(cgroup_next_pid(&text), 0);
}

static void
names_of_rooms_are_strict(void **state)
{
	char name[CGROUP_NAME_MAX];
	pid_t pid = 0;

	(void)state;
	cgroup_room_name(1234, name);
	assert_string_equal(name, "breakroom.1234");
	assert_true(cgroup_room_pid(name, &pid));
	assert_int_equal(pid, 1234);
	assert_false(cgroup_room_pid("breakroom.", &pid));
	assert_false(cgroup_room_pid("breakroom.server", &pid));
	assert_false(cgroup_room_pid("breakroom.0", &pid));
	assert_false(cgroup_room_pid("breakroom.01", &pid));
	assert_false(cgroup_room_pid("breakroom.-1", &pid));
	assert_false(cgroup_room_pid("breakroom.1x", &pid));
	assert_false(cgroup_room_pid("breakroom.99999999999", &pid));
	assert_false(cgroup_room_pid("other.1", &pid));
}

static void
values_belong_to_whole_keys(void **state)
{
	(void)state;
	assert_int_equal(
	    cgroup_value(
		"oom_kill_disable 1\nunder_oom 0\noom_kill 3\n", "oom_kill"),
	    3);
	assert_int_equal(
	    cgroup_value("oom 5\noom_kill 2\noom_group_kill 9\n", "oom_kill"),
	    2);
	assert_int_equal(cgroup_value("x oom_kill 2\n", "oom_kill"), 0);
	assert_int_equal(cgroup_value("", "oom_kill"), 0);
}

#define MADE_UP(test) \
	cmocka_unit_test_setup_teardown(test, machine_open, machine_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		MADE_UP(version_2_serves_all),
		MADE_UP(version_1_has_a_tree_each),
		MADE_UP(a_controller_is_a_whole_word),
		MADE_UP(both_versions_side_by_side),
		MADE_UP(the_root_of_the_mount_is_left_away),
		MADE_UP(nothing_is_guessed_beyond_a_namespace),
		MADE_UP(a_mount_to_write_to_is_preferred),
		MADE_UP(names_are_unescaped),
		MADE_UP(rooms_are_beside_the_servers_leaf),
		MADE_UP(broken_lines_are_passed_over),
		MADE_UP(only_what_is_wanted_is_looked_for),
		MADE_UP(controllers_given_are_used),
		MADE_UP(controllers_not_given_are_named),
		MADE_UP(an_empty_group_enables_them),
		MADE_UP(the_root_need_not_be_empty),
		MADE_UP(others_processes_are_left_alone),
		cmocka_unit_test(pids_are_read_within_their_range),
		cmocka_unit_test(names_of_rooms_are_strict),
		cmocka_unit_test(values_belong_to_whole_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
