/* test_cgroup_v2.c: control groups of version 2, real ones as far as a machine
 * has them that gives their controllers to version 1: killing, membership, and
 * the rule about processes in inner groups.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms.h"

#include "walls/cgroup_delegate.h"
#include "walls/cgroup_end.h"
#include "walls/cgroup_file.h"
#include "walls/cgroup_room.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- version 2, in a real tree: what needs no controller of ours ---- */

static int own_group = -1;      /* a group for a test, in the version 2 tree */
static char own_name[PATH_MAX]; /* as /proc/PID/cgroup has it */

/* Beside this process's own, whose processes would be in the way. */
static bool
own_group_open(char ret_path[ROOMS_PATH_MAX])
{
	for (unsigned i = 0; i < trees.n; i++) {
		const struct cgroup_tree *tree = &trees.tree[i];
		const char *base_end = strrchr(tree->base, '/');
		const char *group_end = strrchr(tree->group, '/');

		if (tree->version != 2)
			continue;
		(void)snprintf(ret_path, ROOMS_PATH_MAX, "%.*s/group.%d",
		    (int)(base_end - tree->base), tree->base, (int)getpid());
		(void)snprintf(own_name, sizeof(own_name), "%.*s/group.%d",
		    (int)(group_end - tree->group), tree->group, (int)getpid());
		assert_int_equal(mkdir(ret_path, 0755), 0);
		own_group = open(ret_path, O_RDONLY | O_CLOEXEC);
		return true;
	}
	return false;
}

/* Removes it, once those in it have ended. */
static void
own_group_close(const char *path)
{
	char name[64];
	char base[ROOMS_PATH_MAX];

	(void)strcpy(base, path);
	*strrchr(base, '/') = '\0';
	(void)snprintf(name, sizeof(name), "%s", strrchr(path, '/') + 1);
	(void)unlinkat(own_group, CGROUP_SERVER, AT_REMOVEDIR);
	(void)close(own_group);
	own_group = open(base, O_RDONLY | O_CLOEXEC);
	assert_int_equal(cgroup_room_end(own_group, name), 0);
	(void)close(own_group);
}

/* A slot of version 2 as cgroup_slots_open leaves it, without its limits. */
static struct cgroup *
slot_of_version_2(void)
{
	struct cgroup *cgroup =
	    calloc(1, sizeof(*cgroup) + sizeof(cgroup->slot[0]));

	if (!cgroup || mkdirat(own_group, "0", 0755) < 0)
		return NULL;
	cgroup->memory_version = 2;
	(void)strcpy(cgroup->group, own_name);
	cgroup->memory_fd = own_group;
	cgroup->slots_max = cgroup->n_slots = 1;
	cgroup->slot[0].procs_fd =
	    openat(own_group, "0/cgroup.procs", O_RDWR | O_CLOEXEC);
	cgroup->slot[0].kill_fd =
	    openat(own_group, "0/cgroup.kill", O_WRONLY | O_CLOEXEC);
	cgroup->slot[0].oom_fd =
	    openat(own_group, "0/cgroup.events", O_RDONLY | O_CLOEXEC);
	return cgroup;
}

static bool
version_2_holds(void)
{
	int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	pid_t in = rooms_fork(0, pause);
	bool ok = false;

	for (unsigned i = 0; i < 1000 && !ok; i++) {
		ok = cgroup_holds(room, 0, proc_fd, in);
		(void)poll(NULL, 0, 1);
	}
	ok = ok && !cgroup_holds(room, 0, proc_fd, getpid());
	(void)close(proc_fd);
	return kill(in, SIGKILL) == 0 && rooms_end_of(in) == -SIGKILL && ok;
}

static int
version_2_slot(void)
{
	int end;

	room = slot_of_version_2();
	MUST(room && room->slot[0].procs_fd >= 0 && room->slot[0].kill_fd >= 0);
	MUST(cgroup_take(room) == 0);
	MUST(cgroup_take(room) == -EAGAIN);
	cgroup_release(room, 0);
	MUST(cgroup_take(room) == 0);
	MUST(version_2_holds());
	end = rooms_scatter_in(0);
	MUST(end >= 0 && !(poll(&(struct pollfd){ .fd = end }, 1, 50)));
	cgroup_release(room, 0);
	MUST(rooms_all_gone(end));
	MUST(rooms_take() == 0);
	return 0;
}

static void
a_slot_of_version_2_is_emptied(void **state)
{
	char path[ROOMS_PATH_MAX];

	(void)state;
	if (!own_group_open(path))
		APART_SKIP("no version 2 tree");
	assert_int_equal(apart(version_2_slot), 0);
	own_group_close(path);
}

static const char *controller; /* one that the version 2 tree has */

static int
vacate_keeper(void)
{
	struct err err;

	MUST(cgroup_enable(own_group, controller) == -EBUSY);
	MUST(cgroup_vacate(own_group, "test", &err) == 0);
	MUST(cgroup_enable(own_group, controller) == 0);
	return 0;
}

static int
vacate_launcher(void)
{
	pid_t pid;

	(void)prctl(PR_SET_NAME, "launcher");
	pid = fork();
	if (pid == 0)
		_exit(vacate_keeper());
	return rooms_end_of(pid);
}

/* Server, launcher and keeper are all there is in the group. */
static int
vacate_server(void)
{
	pid_t pid;

	MUST(cgroup_write(own_group, "cgroup.procs", "0") == 0);
	pid = fork();
	if (pid == 0)
		_exit(vacate_launcher());
	return rooms_end_of(pid);
}

static int
vacate_among_others(void)
{
	pid_t other = fork();
	struct err err = { 0 };
	pid_t pid;
	int r;

	if (other == 0) {
		(void)cgroup_write(own_group, "cgroup.procs", "0");
		(void)poll(NULL, 0, 5000);
		_exit(0);
	}
	(void)poll(NULL, 0, 100);
	pid = fork();
	if (pid == 0) {
		MUST(cgroup_write(own_group, "cgroup.procs", "0") == 0);
		r = cgroup_vacate(own_group, "test", &err);
		MUST(r == -EBUSY && strstr(err.text, "of others"));
		_exit(0);
	}
	r = rooms_end_of(pid);
	(void)kill(other, SIGKILL);
	(void)rooms_end_of(other);
	return r;
}

/* A controller for the groups below path's; beside version 1 it has to be
 * enabled above first, which *ret_enabled says. */
static bool
controller_find(const char *path, char ret_word[64], bool *ret_enabled)
{
	char name[PATH_MAX + 128];
	char text[CGROUP_TEXT_MAX];
	int base;

	*ret_enabled = false;
	(void)cgroup_read(own_group, "cgroup.controllers", text);
	if (sscanf(text, "%63s", ret_word) == 1)
		return true;
	(void)snprintf(name, sizeof(name), "%s/..", path);
	base = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)cgroup_read(base, "cgroup.controllers", text);
	*ret_enabled = sscanf(text, "%63s", ret_word) == 1 &&
		       cgroup_enable(base, ret_word) == 0;
	(void)close(base);
	return *ret_enabled;
}

static void
a_group_is_vacated_of_ours_alone(void **state)
{
	char path[ROOMS_PATH_MAX];
	char word[64];
	char off[66];
	bool enabled;
	int base;

	(void)state;
	if (!own_group_open(path))
		APART_SKIP("no version 2 tree");
	controller = word;
	if (!controller_find(path, word, &enabled)) {
		own_group_close(path);
		APART_SKIP("the version 2 tree has no controller");
	}
	assert_int_equal(apart(vacate_among_others), 0);
	assert_int_equal(faccessat(own_group, CGROUP_SERVER, F_OK, 0), -1);
	assert_int_equal(apart(vacate_server), 0);
	assert_int_equal(faccessat(own_group, CGROUP_SERVER, F_OK, 0), 0);
	own_group_close(path);
	*strrchr(path, '/') = '\0';
	base = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(off, sizeof(off), "-%s", word);
	if (enabled)
		assert_int_equal(
		    cgroup_write(base, "cgroup.subtree_control", off), 0);
	(void)close(base);
}

static int
tests(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(a_slot_of_version_2_is_emptied),
		cmocka_unit_test(a_group_is_vacated_of_ours_alone),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}

int
main(void)
{
	return rooms_run(tests);
}
