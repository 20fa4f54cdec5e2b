/* apart.c: walls in processes of their own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "apart.h"

#include "conf/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define BROKEN   251
#define PATIENCE 10 /* seconds */

void
apart_broken(const char *what, const struct err *err)
{
	(void)fprintf(stderr, "# not set up: %s: %s\n", what,
	    err ? err->text : strerror(errno));
	_exit(BROKEN);
}

void
apart_must(int r, const struct err *err)
{
	if (r < 0)
		apart_broken("a wall", err);
}

static pid_t
fork_deed(deed_fn *deed, int ready)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		int result;

		(void)alarm(PATIENCE);
		result = deed();
		if (ready < 0)
			_exit(result);
		/* Its own end may be closed: walls do that. */
		if (result != 0 || write(ready, "", 1) != 1)
			apart_broken("a deed to hold", NULL);
		(void)poll(NULL, 0, PATIENCE * 1000);
		_exit(0);
	}
	return pid;
}

int
apart(deed_fn *deed)
{
	int status = 0;
	pid_t pid = fork_deed(deed, -1);

	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	if (WIFSIGNALED(status)) {
		assert_int_not_equal(WTERMSIG(status), SIGALRM);
		return -WTERMSIG(status);
	}
	assert_true(WIFEXITED(status));
	assert_int_not_equal(WEXITSTATUS(status), BROKEN);
	return WEXITSTATUS(status);
}

pid_t
apart_hold(deed_fn *deed)
{
	char byte;
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork_deed(deed, ends[1]);
	(void)close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	(void)close(ends[0]);
	return pid;
}

void
apart_release(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

void
apart_assert_err(
    int r, int code, const struct err *err, const char *name, const char *part)
{
	char begin[64];

	(void)snprintf(begin, sizeof(begin), "wall %s: ", name);
	if (r != -code || err->code != code ||
	    strncmp(err->text, begin, strlen(begin)) != 0 ||
	    !strstr(err->text, part)) {
		(void)fprintf(stderr, "# %d, %d, \"%s\"; expected %d, \"%s\"\n",
		    r, err->code, err->text, code, part);
		_exit(BROKEN);
	}
}

void
apart_file(pid_t pid, const char *file, char *ret_text, size_t n)
{
	char path[64];
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	got = read(fd, ret_text, n - 1);
	assert_true(got >= 0);
	ret_text[got] = '\0';
	(void)close(fd);
}

void
apart_line(
    pid_t pid, const char *file, const char *name, char *ret_value, size_t n)
{
	char text[8192], *line, *rest = text;

	apart_file(pid, file, text, sizeof(text));
	while ((line = strsep(&rest, "\n"))) {
		if (strncmp(line, name, strlen(name)) != 0)
			continue;
		line += strlen(name);
		line += strspn(line, " \t");
		(void)snprintf(ret_value, n, "%s", line);
		return;
	}
	fail_msg("%s has no line %s", file, name);
}

bool
apart_same_namespace(pid_t pid, const char *name)
{
	char path[64], its[64] = "", ours[64] = "";

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
	assert_true(readlink(path, its, sizeof(its) - 1) > 0);
	(void)snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	assert_true(readlink(path, ours, sizeof(ours) - 1) > 0);
	return strcmp(its, ours) == 0;
}

void
apart_ordinary(void)
{
	if (geteuid() != 0)
		return;
	if (setgroups(0, NULL) < 0 ||
	    setresgid(ORDINARY, ORDINARY, ORDINARY) < 0 ||
	    setresuid(ORDINARY, ORDINARY, ORDINARY) < 0 ||
	    prctl(PR_SET_DUMPABLE, 1) < 0)
		apart_broken("become an ordinary user", NULL);
}

void
apart_refuse(long nr, unsigned arg, int code)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arg, 0, arg == 0 ? 0 : 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		apart_broken("a filter", NULL);
}

void
apart_remove(const char *dir)
{
	DIR *files = opendir(dir);

	for (const struct dirent *file; files && (file = readdir(files));)
		(void)unlinkat(dirfd(files), file->d_name, 0);
	if (files)
		(void)closedir(files);
	if (rmdir(dir) < 0)
		print_error("# left behind: %s\n", dir);
}

struct wall_ids
apart_ids(bool many)
{
	return (struct wall_ids){ many, SERVER_ID, KEEPER_ID, CHILD_ID };
}
