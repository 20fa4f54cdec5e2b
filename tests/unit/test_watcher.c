/* test_watcher.c: files that change in all the ways in which they are changed,
 * and the process that looks at them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/watcher.h"

#include "base/clock.h"
#include "base/log.h"
#include "conf/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_US UINT64_C(5000000)

static char dir[] = "/tmp/test_watcher.XXXXXX";
static char path[64], other[64], aside[64];
static const char *const watched[] = { path, other };

static int
dir_make(void **state)
{
	(void)state;
	(void)strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/file", dir);
	(void)snprintf(other, sizeof(other), "%s/other", dir);
	(void)snprintf(aside, sizeof(aside), "%s/aside", dir);
	return 0;
}

static int
dir_remove(void **state)
{
	char command[96];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command); /* NOLINT: the name is ours */
}

static void
put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

/* ---- a server that watches ---- */

struct server {
	uv_loop_t loop;
	struct watcher *watcher;
	unsigned changes, errors;
	unsigned last; /* file */
	char text[2][256];
	size_t n;
	char error[256];
};

static void
on_changed(void *arg, unsigned i, struct span text, const struct err *err)
{
	struct server *server = arg;

	server->last = i;
	if (err) {
		server->errors++;
		assert_int_equal(text.n, 0);
		(void)snprintf(
		    server->error, sizeof(server->error), "%s", err->text);
		return;
	}
	server->changes++;
	server->n = text.n;
	(void)snprintf(server->text[i], sizeof(server->text[i]), "%.*s",
	    (int)text.n, (const char *)text.p);
}

static void
server_start(struct server *server, const char *const *paths, unsigned n)
{
	struct err err;

	memset(server, 0, sizeof(*server));
	assert_int_equal(uv_loop_init(&server->loop), 0);
	if (watcher_start(paths, n, &server->watcher, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(
	    watcher_listen(server->watcher, &server->loop, on_changed, server),
	    0);
}

/* One that watches a file of that text. */
static void
server_of(struct server *server, const char *text)
{
	put(path, text);
	server_start(server, watched, 1);
}

static void
server_end(struct server *server)
{
	watcher_stop(server->watcher);
	(void)uv_run(&server->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&server->loop), 0);
}

/* Runs the loop until so many changes and errors were seen; says how long it
 * took. */
static uint64_t
wait_for(struct server *server, unsigned changes, unsigned errors)
{
	uint64_t start = clock_us();

	while (server->changes < changes || server->errors < errors) {
		if (clock_us() - start > PATIENCE_US)
			fail_msg("%u changes and %u errors, not %u and %u",
			    server->changes, server->errors, changes, errors);
		(void)uv_run(&server->loop, UV_RUN_NOWAIT);
		(void)usleep(1000);
	}
	return clock_us() - start;
}

static void
run_for(struct server *server, uint64_t us)
{
	uint64_t start = clock_us();

	while (clock_us() - start < us) {
		(void)uv_run(&server->loop, UV_RUN_NOWAIT);
		(void)usleep(1000);
	}
}

/* ---- changes ---- */

static void
contents_are_there_at_the_start(void **state)
{
	struct watcher *watcher;
	struct err err;

	(void)state;
	put(path, "first");
	put(other, "");
	assert_int_equal(watcher_start(watched, 2, &watcher, &err), 0);
	assert_int_equal(watcher_text(watcher, 0).n, 5);
	assert_memory_equal(watcher_text(watcher, 0).p, "first", 5);
	assert_int_equal(watcher_text(watcher, 1).n, 0);
	watcher_stop(watcher); /* without a loop */
}

static void
changes_are_seen(void **state)
{
	struct server server;

	(void)state;
	put(path, "first");
	put(other, "other");
	server_start(&server, watched, 2);
	put(path, "written"); /* in place */
	assert_true(wait_for(&server, 1, 0) < 1000000);
	assert_string_equal(server.text[0], "written");
	put(aside, "renamed"); /* of the same size */
	assert_int_equal(rename(aside, path), 0);
	assert_true(wait_for(&server, 2, 0) < 1000000);
	assert_string_equal(server.text[0], "renamed");
	put(other, "second");
	assert_true(wait_for(&server, 3, 0) < 1000000);
	assert_string_equal(server.text[1], "second");
	/* Nothing without a change. */
	run_for(&server, 1200000);
	assert_int_equal(server.changes, 3);
	assert_int_equal(server.errors, 0);
	server_end(&server);
}

/* The same size in the same tick of the clock: only the wait before reading
 * tells them apart. */
static void
quick_changes_are_not_lost(void **state)
{
	struct server server;
	char text[8];

	(void)state;
	server_of(&server, "000");
	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(text, sizeof(text), "%03u", i);
		put(path, text);
		(void)uv_run(&server.loop, UV_RUN_NOWAIT);
		(void)usleep(1500);
	}
	run_for(&server, 1500000);
	assert_string_equal(server.text[0], "999");
	server_end(&server);
}

/* A file that is written in pieces is sent when it is whole. */
static void
torn_files_are_read_again(void **state)
{
	struct server server;
	int fd;

	(void)state;
	server_of(&server, "old");
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_true(fd >= 0);
	for (unsigned i = 0; i < 120; i++) { /* longer than from look to look */
		assert_int_equal(write(fd, "x", 1), 1);
		run_for(&server, 5000);
	}
	assert_int_equal(server.changes, 0);
	(void)close(fd);
	(void)wait_for(&server, 1, 0);
	assert_int_equal(server.n, 120);
	server_end(&server);
}

/* As Kubernetes changes what is mounted: a link to a link to a directory. */
static void
link_swaps_are_followed(void **state)
{
	struct server server;
	char command[512];

	(void)state;
	(void)snprintf(command, sizeof(command),
	    "cd %s && mkdir ..one ..two && echo one > ..one/file && "
	    "echo two > ..two/file && ln -s ..one ..data && "
	    "ln -s ..data/file file",
	    dir);
	assert_int_equal(system(command), 0); /* NOLINT: the names are ours */
	server_start(&server, watched, 1);
	(void)snprintf(command, sizeof(command),
	    "cd %s && ln -s ..two ..new && mv -T ..new ..data && rm -r ..one",
	    dir);
	assert_int_equal(system(command), 0); /* NOLINT: the names are ours */
	assert_true(wait_for(&server, 1, 0) < 1000000);
	assert_string_equal(server.text[0], "two\n");
	server_end(&server);
}

static void
errors_are_told_once(void **state)
{
	struct server server;

	(void)state;
	server_of(&server, "first");
	assert_int_equal(unlink(path), 0);
	(void)wait_for(&server, 0, 1);
	assert_non_null(strstr(server.error, path));
	assert_non_null(strstr(server.error, "No such file"));
	run_for(&server, 1200000);
	assert_int_equal(server.errors, 1);
	put(path, "again");
	(void)wait_for(&server, 1, 1);
	assert_string_equal(server.text[0], "again");
	/* Kinds that would block, or have no end. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	(void)wait_for(&server, 1, 2);
	assert_non_null(strstr(server.error, "not a regular file"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/zero", path), 0);
	run_for(&server, 1200000);
	assert_int_equal(server.errors, 2); /* the same one */
	assert_int_equal(unlink(path), 0);
	put(path, "last");
	(void)wait_for(&server, 2, 2);
	server_end(&server);
}

static void
large_files_are_bounded(void **state)
{
	struct server server;
	char *text = malloc(MIB + 2);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', MIB + 1);
	text[MIB] = '\0';
	put(path, text);
	server_start(&server, watched, 1);
	text[0] = 'y';
	put(path, text);
	(void)wait_for(&server, 1, 0);
	assert_int_equal(server.n, MIB);
	assert_int_equal(server.text[0][0], 'y');
	text[MIB] = 'x';
	text[MIB + 1] = '\0';
	put(path, text);
	(void)wait_for(&server, 1, 1);
	assert_non_null(strstr(server.error, "larger than 1 MiB"));
	free(text);
	server_end(&server);
}

static void
start_needs_all_files(void **state)
{
	struct watcher *watcher = NULL;
	struct err err;
	struct {
		const char *second;
		int code;
		const char *says;
	} cases[] = {
		{ "/nowhere/at/all", -ENOENT, "/nowhere/at/all: No such" },
		{ "/dev/zero", -EINVAL, "/dev/zero: not a regular file" },
		{ "/tmp", -EISDIR, "/tmp: Is a directory" },
	};

	(void)state;
	put(path, "first");
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const paths[] = { path, cases[i].second };

		assert_int_equal(
		    watcher_start(paths, 2, &watcher, &err), cases[i].code);
		assert_non_null(strstr(err.text, cases[i].says));
	}
	/* No process is left. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void
names_may_be_relative(void **state)
{
	const char *const paths[] = { "file" };
	struct server server;
	char before[256];

	(void)state;
	put(path, "first");
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(dir), 0);
	server_start(&server, paths, 1);
	assert_int_equal(chdir(before), 0);
	put(path, "second");
	(void)wait_for(&server, 1, 0);
	server_end(&server);
}

/* ---- the process ---- */

/* The only child of this process. */
static pid_t
child_find(void)
{
	char name[64];
	FILE *file;
	int pid = 0;

	(void)snprintf(
	    name, sizeof(name), "/proc/self/task/%d/children", (int)getpid());
	file = fopen(name, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &pid), 1);
	(void)fclose(file);
	return pid;
}

/* A line of its status. */
static void
status_find(pid_t pid, const char *key, char line[128])
{
	char name[64];
	FILE *file;

	(void)snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	file = fopen(name, "re");
	assert_non_null(file);
	do
		assert_non_null(fgets(line, 128, file));
	while (strncmp(line, key, strlen(key)) != 0);
	(void)fclose(file);
}

static void
process_has_walls(void **state)
{
	struct server server;
	char line[128];
	pid_t pid;

	(void)state;
	server_of(&server, "first");
	pid = child_find();
	status_find(pid, "Name:", line);
	assert_string_equal(line, "Name:\twatcher\n");
	status_find(pid, "Seccomp:", line);
	assert_string_equal(line, "Seccomp:\t2\n");
	status_find(pid, "NoNewPrivs:", line);
	assert_string_equal(line, "NoNewPrivs:\t1\n");
	status_find(pid, "CapEff:", line);
	if (geteuid() == 0) /* CAP_DAC_READ_SEARCH */
		assert_string_equal(line, "CapEff:\t0000000000000004\n");
	else
		assert_string_equal(line, "CapEff:\t0000000000000000\n");
	server_end(&server);
}

/* Of another user's, too, when root started the server. */
static void
private_files_are_read(void **state)
{
	struct server server;

	(void)state;
	if (geteuid() != 0)
		skip();
	put(path, "first");
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(chmod(path, 0400), 0);
	server_start(&server, watched, 1);
	put(aside, "second");
	assert_int_equal(chown(aside, 65534, 65534), 0);
	assert_int_equal(rename(aside, path), 0);
	(void)wait_for(&server, 1, 0);
	assert_string_equal(server.text[0], "second");
	server_end(&server);
}

static void
loss_is_told(void **state)
{
	struct server server;

	(void)state;
	put(path, "first");
	put(other, "other");
	server_start(&server, watched, 2);
	assert_int_equal(kill(child_find(), SIGKILL), 0);
	(void)wait_for(&server, 0, 2);
	assert_non_null(strstr(server.error, "the watcher is gone"));
	run_for(&server, 200000);
	assert_int_equal(server.errors, 2);
	server_end(&server);
}

/* It ends with its server, however that ends. */
static void
process_ends_with_its_server(void **state)
{
	int ends[2];
	pid_t pid, watcher = 0;
	uint64_t start;

	(void)state;
	put(path, "first");
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		struct watcher *made;
		struct err err;

		if (watcher_start(watched, 1, &made, &err) < 0)
			_exit(1);
		watcher = child_find();
		(void)!write(ends[1], &watcher, sizeof(watcher));
		(void)pause();
		_exit(0);
	}
	assert_int_equal(
	    read(ends[0], &watcher, sizeof(watcher)), sizeof(watcher));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	start = clock_us();
	/* Somebody else reaps it; until then it is there as a zombie. */
	while (kill(watcher, 0) == 0 && clock_us() - start < PATIENCE_US) {
		char line[128];
		char name[64];

		(void)snprintf(
		    name, sizeof(name), "/proc/%d/status", (int)watcher);
		if (access(name, F_OK) != 0)
			break;
		status_find(watcher, "State:", line);
		if (strchr(line, 'Z'))
			break;
		(void)usleep(1000);
	}
	assert_true(clock_us() - start < 1000000);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, dir_make, dir_remove)
	const struct CMUnitTest tests[] = {
		TEST(contents_are_there_at_the_start),
		TEST(changes_are_seen),
		TEST(quick_changes_are_not_lost),
		TEST(torn_files_are_read_again),
		TEST(link_swaps_are_followed),
		TEST(errors_are_told_once),
		TEST(large_files_are_bounded),
		TEST(start_needs_all_files),
		TEST(names_may_be_relative),
		TEST(process_has_walls),
		TEST(private_files_are_read),
		TEST(loss_is_told),
		TEST(process_ends_with_its_server),
	};

	log_setup(STDERR_FILENO, LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
