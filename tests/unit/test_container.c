/* test_container.c: the commands of a container engine, and what is made of
 * what is seen of a container.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/engine_env.h"
#include "rooms/container_seen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct container_plan
a_plan(enum engine_type type, const char *runtime)
{
	struct container_plan plan = { .type = type,
		.engine = "/usr/bin/engine",
		.image = ID,
		.seccomp = "/proc/self/fd/9",
		.memory_bytes = 512u << 20,
		.workspace_bytes = 256u << 20,
		.processes = 128,
		.cpus_milli = 1500,
		.user_processes = 4096,
		.instance = "feedfacefeedface",
		.owner = "12-34-56" };

	(void)snprintf(plan.runtime, sizeof(plan.runtime), "%s", runtime);
	plan.gvisor = runtime_is_gvisor(runtime);
	return plan;
}

/* How many words come before this one; the number of words: it is not there. */
static unsigned
place(const struct args *args, const char *word)
{
	unsigned i = 0;

	while (i < args->n && strcmp(args->v[i], word) != 0)
		i++;
	return i;
}

static void
expect_word(const struct args *args, const char *word, bool there)
{
	if ((place(args, word) < args->n) != there)
		fail_msg("%s is %sthere", word, there ? "not " : "");
}

static void
test_run(void **state)
{
	static const char *const both[] = { "--rm", "--interactive",
		"--pull=never", "--network=none", "--read-only",
		"--user=65532:65532", "--cap-drop=ALL",
		"--security-opt=no-new-privileges",
		"--security-opt=seccomp=/proc/self/fd/9",
		"--tmpfs=/workspace:rw,nosuid,nodev,size=268435456,mode=1777",
		"--tmpfs=/tmp:rw,nosuid,nodev,size=64m,mode=1777",
		"--memory=536870912", "--memory-swap=536870912",
		"--pids-limit=128", "--cpus=1.500", "--ulimit=nofile=1024:1024",
		"--ulimit=core=0:0", "--log-driver=none", "--stop-signal=KILL",
		"--name=breakroom-feedfacefeedface-7",
		"--label=breakroom.server=12-34-56" };
	struct args args;

	(void)state;
	for (enum engine_type type = ENGINE_PODMAN; type <= ENGINE_DOCKER;
	     type++) {
		struct container_plan plan = a_plan(type, "runc");
		char name[CONTAINER_NAME_MAX];

		container_name(&plan, 7, name);
		plan_run(&plan, name, &args);
		assert_false(args.overflow);
		assert_null(args.v[args.n]);
		for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++)
			expect_word(&args, both[i], true);
		/* Nothing of ours comes behind the image but its command. */
		assert_int_equal(place(&args, ID) + 5, args.n);
	}
}

static void
test_streams(void **state)
{
	struct container_plan plan = a_plan(ENGINE_PODMAN, "");
	struct args args;

	(void)state;
	for (int straight = 0; straight <= 1; straight++) {
		plan.straight = straight;
		plan_run(&plan, "x", &args);
		expect_word(&args, "--interactive", true);
		expect_word(&args, "--log-driver=passthrough", straight);
		/* An engine refuses these beside it. */
		expect_word(&args, "--log-driver=none", !straight);
		expect_word(&args, "--attach=stdin", !straight);
		expect_word(&args, "--attach=stdout", !straight);
		expect_word(&args, "--attach=stderr", false);
	}
}

static void
test_engines(void **state)
{
	struct container_plan plan = a_plan(ENGINE_PODMAN, "/opt/runsc-1");
	struct args args, names;

	(void)state;
	args_init(&names);
	args_add(&names, "one");
	args_add(&names, "two");
	plan_run(&plan, "x", &args);
	/* Before the command, the runtime and what it takes. */
	assert_int_equal(place(&args, "--runtime"), 1);
	assert_int_equal(place(&args, "--runtime-flag=network=none"), 3);
	assert_int_equal(place(&args, "run"), 4);
	expect_word(&args, "--read-only-tmpfs=false", true);
	expect_word(&args, "--pids-limit=1024", true);
	expect_word(&args, "--ulimit=nproc=64:64", true);
	plan_remove(&plan, &names, &args);
	expect_word(&args, "--runtime", false);
	expect_word(&args, "--time=0", true);
	assert_int_equal(place(&args, "one") + 2, args.n);
	plan_identities(&plan, &names, &args);
	assert_int_equal(place(&args, "two") + 1, args.n);

	plan = a_plan(ENGINE_DOCKER, "runsc");
	plan_run(&plan, "x", &args);
	assert_int_equal(place(&args, "run"), 1);
	expect_word(&args, "--runtime=runsc", true);
	expect_word(&args, "--read-only-tmpfs=false", false);
	plan_remove(&plan, &names, &args);
	expect_word(&args, "--time=0", false);
}

static void
test_overflow(void **state)
{
	struct args args;

	(void)state;
	args_init(&args);
	for (unsigned i = 0; i < ENGINE_ARGS_MAX; i++)
		args_add(&args, "%u", i);
	assert_false(args.overflow);
	args_add(&args, "more");
	assert_true(args.overflow);
	args_init(&args);
	args_add(&args, "%*s", ENGINE_ARGS_TEXT, "");
	assert_true(args.overflow);
}

static void
test_owner(void **state)
{
	static const struct {
		const char *line;
		bool ours;
	} rows[] = {
		{ "breakroom-ab-1 map[breakroom.instance:ab "
		  "breakroom.server:12-34-56]",
		    true },
		{ "breakroom-ab-1 "
		  "breakroom.server=12-34-56,breakroom.instance=ab",
		    true },
		{ "other breakroom.server=12-34-56", false },
		{ "breakroom-ab-1 breakroom.server=12-34", false },
		{ "breakroom-ab-1 breakroom.server=", false },
		{ "breakroom-ab-1 breakroom.server=0-1-1", false },
		{ "breakroom-ab-1", false },
		{ "breakroom-0123456789012345678901234567890123456789 "
		  "breakroom.server=12-34-56",
		    false },
		{ "", false },
	};
	const struct container_owner whole = { 12, 34, 56 };
	char text[48];

	(void)state;
	owner_write(&whole, text);
	assert_string_equal(text, "12-34-56");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct container_owner owner;
		char name[CONTAINER_NAME_MAX];

		assert_int_equal(
		    owner_read(rows[i].line, name, &owner), rows[i].ours);
		if (!rows[i].ours)
			continue;
		assert_string_equal(name, "breakroom-ab-1");
		assert_int_equal(owner.pid, whole.pid);
		assert_int_equal(owner.start, whole.start);
		assert_int_equal(owner.namespace, whole.namespace);
	}
}

static void
test_image(void **state)
{
	char id[65];

	(void)state;
	assert_true(image_id_read("sha256:" ID "\n", id));
	assert_string_equal(id, ID);
	assert_true(image_id_read(ID, id));
	assert_false(image_id_read(ID "0", id));
	assert_false(image_id_read("sha256:--privileged", id));
	assert_false(image_id_read("", id));
}

static void
test_identity(void **state)
{
	static const char *const no[] = { "", "\n", ID, ID "\n", ID " \n",
		ID " runc\n", ID "0 runc /x\n", " " ID " runc \n",
		"Error: no such object\n" };
	static const struct {
		const char *line, *runtime, *parent;
	} yes[] = {
		{ ID " runc \nnext", "runc", "libpod_parent" },
		{ ID " /usr/bin/runsc ", "/usr/bin/runsc", "libpod_parent" },
		{ ID " crun /a/b\n", "crun", "a/b" },
		{ ID " crun machine.slice\n", "crun", "machine.slice" },
	};
	struct container_identity identity;
	struct args args;

	(void)state;
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(identity_read(no[i], &identity));
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		assert_true(identity_read(yes[i].line, &identity));
		assert_string_equal(identity.id, ID);
		assert_string_equal(identity.runtime, yes[i].runtime);
		assert_string_equal(identity.parent, yes[i].parent);
	}
	plan_runtime_delete("/bin/r", &identity, &args);
	assert_int_equal(args.n, 4);
	assert_int_equal(place(&args, ID), 3);
}

#define TOLD                                                      \
	"CapInh: 0\nCapPrm: 0\nCapEff: 0\nCapBnd: 0\nCapAmb: 0\n" \
	"NoNewPrivs: 1\nSeccomp: 2\nUid: 65532\nRelease: 6.1.0\n" \
	"Networks: \nRoot/: 30\nRoot/run: 13\nRoot/var/tmp: 30\n" \
	"Internet: 97\n/workspace: 268435456\n/workspace/: 0\n"   \
	"/tmp: 67108864\n/tmp/: 0\nDone: 1\n"

static const struct container_seen good = {
	.uid = 65532,
	.no_new_privs = 1,
	.seccomp = 2,
	.memory_bytes = 512u << 20,
	.pids = 128,
	.cpus_milli = 1500,
	.files_open = 1024,
	.own = WALL_BIT(WALL_MOUNTNS) | WALL_BIT(WALL_NETNS) |
	       WALL_BIT(WALL_PIDNS) | WALL_BIT(WALL_IPCNS) |
	       WALL_BIT(WALL_UTSNS) | WALL_BIT(WALL_CGROUPNS),
};

/* Each thing that is not as planned is a wall that is missing, and told. */
static void
test_judge(void **state)
{
	const struct container_plan plan = a_plan(ENGINE_PODMAN, "");
	struct err why[WALLS];
	struct {
		struct container_seen seen;
		enum wall wall;
	} rows[] = {
		{ good, WALL_CGROUP_MEMORY },
		{ good, WALL_CGROUP_MEMORY },
		{ good, WALL_CGROUP_PIDS },
		{ good, WALL_CGROUP_CPU },
		{ good, WALL_IDS },
		{ good, WALL_CAPS },
		{ good, WALL_NO_NEW_PRIVS },
		{ good, WALL_SECCOMP },
		{ good, WALL_RLIMITS },
		{ good, WALL_NETNS },
	};

	(void)state;
	assert_int_equal(container_lacks(&plan, &good, TOLD, why), 0);
	rows[0].seen.memory_bytes = SEEN_NONE;
	rows[1].seen.swap_bytes = 512u << 20;
	rows[2].seen.pids = 129;
	rows[3].seen.cpus_milli = SEEN_NONE;
	rows[4].seen.uid = 0;
	rows[5].seen.caps = 1;
	rows[6].seen.no_new_privs = 0;
	rows[7].seen.seccomp = 0;
	rows[8].seen.core_bytes = SEEN_NONE;
	rows[9].seen.own &= ~WALL_BIT(WALL_NETNS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(
		    container_lacks(&plan, &rows[i].seen, TOLD, why),
		    WALL_BIT(rows[i].wall));
		assert_true(*why[rows[i].wall].text);
	}
}

/* What only somebody within can see. */
static void
test_told(void **state)
{
	const struct container_plan plan = a_plan(ENGINE_DOCKER, "");
	static const struct {
		const char *from, *to;
		enum wall wall;
	} rows[] = {
		{ "Networks: \n", "Networks: eth0\n", WALL_NETNS },
		{ "Root/: 30", "Root/: 0", WALL_MOUNTNS },
		{ "Root/: 30", "Root/: 13", WALL_MOUNTNS },
		{ "Root/var/tmp: 30", "Root/var/tmp: 0", WALL_MOUNTNS },
		{ "Root/run: 13", "Rooted: 13", WALL_MOUNTNS },
		{ "Internet: 97", "Internet: 0", WALL_SECCOMP },
		{ "/workspace: 2", "/workspace: 3", WALL_MOUNTNS },
		{ "/workspace/: 0", "/workspace/: 1", WALL_MOUNTNS },
		{ "/tmp: 6", "/tmp: 7", WALL_MOUNTNS },
		{ "CapBnd: 0", "CapBnd: 1", WALL_CAPS },
		{ "Uid: 6", "Uid: 1", WALL_IDS },
	};
	struct err why[WALLS];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char told[1024];
		const char *at = strstr(TOLD, rows[i].from);

		assert_non_null(at);
		(void)snprintf(told, sizeof(told), "%.*s%s%s",
		    (int)strlen(TOLD) - (int)strlen(at), TOLD, rows[i].to,
		    at + strlen(rows[i].from));
		assert_int_equal(container_lacks(&plan, &good, told, why),
		    WALL_BIT(rows[i].wall));
	}
	assert_int_not_equal(container_lacks(&plan, &good, "", why), 0);
}

static void
test_gvisor(void **state)
{
	static const struct {
		const char *told;
		bool is;
	} rows[] = {
		{ "Release: 4.4.0\n", true },
		{ "Release: 4.19.0-gvisor\n", true },
		{ "Release: 4.4.01\n", false },
		{ "Release: 6.1.0-gvisor-not\n", false },
		{ "", false },
	};
	static const char *const names[] = { "runsc", "/usr/local/bin/runsc",
		"gvisor" };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(told_gvisor(rows[i].told), rows[i].is);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(runtime_is_gvisor(names[i]));
	assert_false(runtime_is_gvisor("/opt/gvisor/runc"));
	assert_false(runtime_is_gvisor(""));
}

static void
test_limits(void **state)
{
	struct container_seen seen = { 0 };

	(void)state;
	seen_limits("Limit  Soft  Hard  Units\n"
		    "Max core file size        0            0      bytes\n"
		    "Max open files            512          1024   files\n",
	    &seen);
	assert_int_equal(seen.core_bytes, 0);
	assert_int_equal(seen.files_open, 1024);
	seen_limits("Max open files   unlimited   unlimited  files\n", &seen);
	assert_true(seen.files_open == SEEN_NONE);
	assert_true(seen.core_bytes == SEEN_NONE);
}

static void
test_environment(void **state)
{
	const char *env[] = { "PATH=/bin", "BREAKROOM_TOKEN=secret",
		"DOCKER_HOST=unix:///s", "PATHS=x", "AWS_SECRET=y", NULL };
	const char *kept[ENGINE_ENV_MAX + 1];

	(void)state;
	engine_environment((char *const *)env, kept);
	assert_string_equal(kept[0], "PATH=/bin");
	assert_string_equal(kept[1], "DOCKER_HOST=unix:///s");
	assert_null(kept[2]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_engines),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_image),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_judge),
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_gvisor),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
