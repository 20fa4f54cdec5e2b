/* test_house_proof.c: every look of the proof, over a made-up /proc: a child as
 * it must be passes; one that differs in a single thing does not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/house.h"
#include "walls/cgroup_room.h"

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

#define CHILD      "42"
#define PID        42
#define ID         7000
#define COUNT(all) (sizeof(all) / sizeof((all)[0]))

/* A line of a child's status. wall: that which it shows; 0: looked at always. */
static const struct look {
	const char *name, *right, *wrong;
	wall_set wall;
} looks[] = {
	{ "Uid", "7000\t7000\t7000\t7000", "0\t0\t0\t0", WALL_BIT(WALL_IDS) },
	{ "Gid", "7000\t7000\t7000\t7000", "0\t0\t0\t0", WALL_BIT(WALL_IDS) },
	{ "TracerPid", "0", "7", 0 },
	{ "Threads", "1", "2", 0 },
	{ "CapInh", "0000000000000000", "0000000000000080",
	    WALL_BIT(WALL_CAPS) },
	{ "CapPrm", "0000000000000000", "000001ffffffffff",
	    WALL_BIT(WALL_CAPS) },
	{ "CapEff", "0000000000000000", "0000000000000001",
	    WALL_BIT(WALL_CAPS) },
	{ "CapBnd", "0000000000000000", "0000000000200000",
	    WALL_BIT(WALL_CAPS) },
	{ "CapAmb", "0000000000000000", "0000000000000100",
	    WALL_BIT(WALL_CAPS) },
	{ "NoNewPrivs", "1", "0", WALL_BIT(WALL_NO_NEW_PRIVS) },
	{ "Seccomp", "2", "1", WALL_BIT(WALL_SECCOMP) },
	/* One too few: it has only what it inherits. */
	{ "Seccomp_filters", "5", "4", WALL_BIT(WALL_SECCOMP) },
};

static const struct {
	const char *name;
	enum wall wall;
} namespaces[] = {
	{ "user", WALL_USERNS },
	{ "mnt", WALL_MOUNTNS },
	{ "net", WALL_NETNS },
	{ "ipc", WALL_IPCNS },
	{ "uts", WALL_UTSNS },
	{ "cgroup", WALL_CGROUPNS },
	{ "pid", WALL_PIDNS },
};

/* ---- a made-up /proc ---- */

static char folder[] = "/tmp/breakroom-test-XXXXXX";
static struct house house;

static const char *
path_of(const char *name)
{
	static char path[200];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void
put(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* The child's status, but for the line of odd, which has that value; NULL: it
 * is left out. */
static void
put_status(const struct look *odd, const char *value)
{
	char text[2048] = "Name:\tchild\n";
	size_t n = strlen(text);

	for (size_t i = 0; i < COUNT(looks); i++) {
		const char *its = &looks[i] == odd ? value : looks[i].right;

		if (its)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    "%s:\t%s\n", looks[i].name, its);
	}
	put(CHILD "/status", text);
}

/* Whose namespace of a kind is number; 0: it cannot be read. */
static void
put_namespace(const char *process, const char *kind, unsigned number)
{
	char name[64], target[64];

	(void)snprintf(name, sizeof(name), "%s/ns/%s", process, kind);
	(void)unlink(path_of(name));
	(void)snprintf(target, sizeof(target), "%s:[%u]", kind, number);
	if (number > 0)
		assert_int_equal(symlink(target, path_of(name)), 0);
}

/* A room of one slot. */
static struct cgroup *
groups_make(void)
{
	struct cgroup *cgroup =
	    calloc(1, sizeof(*cgroup) + sizeof(cgroup->slot[0]));

	assert_non_null(cgroup);
	cgroup->memory_version = 1;
	cgroup->n_slots = 1;
	cgroup->keeper_fd = open(path_of("self/cgroup"), O_RDONLY | O_CLOEXEC);
	assert_true(cgroup->keeper_fd >= 0);
	(void)strcpy(cgroup->group, "/breakroom.9");
	return cgroup;
}

static int
proc_open(void **state)
{
	static const char *const dirs[] = { "self", "self/ns", CHILD,
		CHILD "/ns" };

	(void)state;
	(void)strcpy(folder + strlen(folder) - 6, "XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	for (size_t i = 0; i < COUNT(dirs); i++)
		if (mkdir(path_of(dirs[i]), 0700) < 0)
			return -1;
	for (size_t i = 0; i < COUNT(namespaces); i++) {
		put_namespace("self", namespaces[i].name, 1);
		put_namespace(CHILD, namespaces[i].name, 2);
	}
	put("self/status", "Name:\tkeeper\nSeccomp_filters:\t3\n");
	put("self/cgroup", "5:memory:/breakroom.9/keeper\n0::/\n");
	put(CHILD "/cgroup", "5:memory:/breakroom.9/0\n0::/\n");
	put_status(NULL, NULL);
	house = (struct house){
		.grade.raised = WALLS_ALL,
		.ids.child = ID,
		.empties_bounding = true,
		.cgroup = groups_make(),
		.proc_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC),
	};
	house_proof_open(&house);
	house_proof_filters(&house);
	return house.proc_fd < 0 ? -1 : 0;
}

static int
remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void)info;
	(void)kind;
	(void)at;
	return remove(path);
}

static int
proc_close(void **state)
{
	(void)state;
	(void)close(house.proc_fd);
	(void)close(house.cgroup->keeper_fd);
	free(house.cgroup);
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The child passes, or does not, with these words. */
static void
assert_proof(const char *words)
{
	struct err err = { 0 };
	int r = house_proof(&house, PID, 0, &err);

	if (!words) {
		assert_string_equal(err.text, "");
		assert_int_equal(r, 0);
		return;
	}
	assert_int_equal(r, -EPERM);
	assert_non_null(strstr(err.text, words));
}

/* ---- the looks ---- */

static void
a_child_as_it_must_be(void **state)
{
	(void)state;
	assert_int_equal(house.filters, 3);
	assert_proof(NULL);
}

static void
every_line_of_its_status(void **state)
{
	char words[64];

	(void)state;
	for (size_t i = 0; i < COUNT(looks); i++) {
		(void)snprintf(
		    words, sizeof(words), "proof: %s is ", looks[i].name);
		put_status(&looks[i], looks[i].wrong);
		assert_proof(words);
		put_status(&looks[i], "");
		assert_proof(words);
		put_status(&looks[i], NULL);
		assert_proof(words);
		assert_proof("not known");
		/* A wall that the host does not give is not looked for. */
		house.grade.raised = WALLS_ALL & ~looks[i].wall;
		assert_proof(looks[i].wall ? NULL : words);
		house.grade.raised = WALLS_ALL;
	}
}

static void
each_of_its_users(void **state)
{
	char value[64];

	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (unsigned odd = 0; odd < 4; odd++) {
			(void)snprintf(value, sizeof(value), "%u\t%u\t%u\t%u",
			    odd == 0 ? 0 : ID, odd == 1 ? 0 : ID,
			    odd == 2 ? 0 : ID, odd == 3 ? 0 : ID);
			put_status(&looks[i], value);
			assert_proof(looks[i].name);
		}
	put_status(&looks[0], "7000\t7000");
	assert_proof("Uid");
}

static void
what_this_host_does_not_do(void **state)
{
	const struct look *bounding = &looks[7];
	const struct look *filters = &looks[COUNT(looks) - 1];

	(void)state;
	/* An ordinary user's bounding set stays as it was. */
	put_status(bounding, bounding->wrong);
	house.empties_bounding = false;
	assert_proof(NULL);
	/* A kernel that does not count filters. */
	put("self/status", "Name:\tkeeper\n");
	house_proof_filters(&house);
	assert_int_equal(house.filters, -1);
	put_status(filters, NULL);
	assert_proof(NULL);
}

static void
every_namespace(void **state)
{
	char words[64];

	(void)state;
	for (size_t i = 0; i < COUNT(namespaces); i++) {
		const char *name = namespaces[i].name;

		(void)snprintf(
		    words, sizeof(words), "proof: %s namespace is ", name);
		put_namespace(CHILD, name, 1);
		assert_proof(words);
		assert_proof("the host's");
		house.grade.raised = WALLS_ALL & ~WALL_BIT(namespaces[i].wall);
		assert_proof(NULL);
		house.grade.raised = WALLS_ALL;
		put_namespace(CHILD, name, 0);
		assert_proof(words);
		assert_proof("not known");
		put_namespace(CHILD, name, 2);
		assert_proof(NULL);
	}
}

static void
its_control_group(void **state)
{
	static const char *const wrong[] = { "5:memory:/\n",
		"5:memory:/breakroom.9\n", "5:memory:/breakroom.9/1\n",
		"5:memory:/breakroom.9/0/below\n", "5:memory:/breakroom.90/0\n",
		"5:pids:/breakroom.9/0\n", "0::/breakroom.9/0\n",
		"5:memory:/../0\n", "" };

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		put(CHILD "/cgroup", wrong[i]);
		assert_proof("proof: it is not in its control group");
	}
	/* As it is seen from a namespace that begins at the keeper's group. */
	put("self/cgroup", "5:memory:/\n");
	put(CHILD "/cgroup", "5:memory:/../0\n");
	assert_proof(NULL);
	assert_int_equal(unlink(path_of(CHILD "/cgroup")), 0);
	assert_proof("proof: it is not in its control group");
}

static void
a_slot_or_none(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(house_proof(&house, PID, 1, &err), -EPERM);
	/* Without groups nothing is asked of them. */
	put(CHILD "/cgroup", "");
	assert_int_equal(house_proof(&house, PID, -1, &err), 0);
}

static void
a_process_that_is_not_there(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(house_proof(&house, 0, 0, &err), -EPERM);
	assert_int_equal(house_proof(&house, -1, 0, &err), -EPERM);
	assert_int_equal(house_proof(&house, PID + 1, 0, &err), -ENOENT);
	put(CHILD "/status", "");
	assert_proof("not known");
}

#define LOOK(name) cmocka_unit_test_setup_teardown(name, proc_open, proc_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		LOOK(a_child_as_it_must_be),
		LOOK(every_line_of_its_status),
		LOOK(each_of_its_users),
		LOOK(what_this_host_does_not_do),
		LOOK(every_namespace),
		LOOK(its_control_group),
		LOOK(a_slot_or_none),
		LOOK(a_process_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
