/* container_ask.c: a command of an engine, and what it says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/container_ask.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/own.h"
#include "base/process.h"
#include "base/signals.h"
#include "conf/engine_env.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_USUAL \
	"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define EXIT_EXEC 127 /* as shells say that a program could not be run */

int
command_find(const char *name, char ret_path[PATH_MAX])
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return snprintf(ret_path, PATH_MAX, "%s", name) < PATH_MAX &&
			       access(ret_path, X_OK) == 0
			   ? 0
			   : -ENOENT;
	for (path = path ? path : PATH_USUAL; *path;) {
		size_t n = strcspn(path, ":");

		if (n > 0 &&
		    snprintf(ret_path, PATH_MAX, "%.*s/%s", (int)n, path,
			name) < PATH_MAX &&
		    access(ret_path, X_OK) == 0)
			return 0;
		path += n + (path[n] == ':');
	}
	return -ENOENT;
}

static _Noreturn void
command_exec(const struct args *args, int in, int out, int error)
{
	const int given[] = { in, out, error };
	const char *env[ENGINE_ENV_MAX + 1];
	int high[3];

	/* Above those numbers first: none is overwritten before it is used. */
	for (int i = 0; i < 3; i++)
		high[i] = fcntl(given[i], F_DUPFD_CLOEXEC, 10);
	for (int i = 0; i < 3; i++)
		if (high[i] < 0 || dup2(high[i], i) < 0)
			_exit(EXIT_EXEC);
	(void)setsid();
	signals_default();
	engine_environment(environ, env);
	(void)execve(args->v[0], (char *const *)args->v, (char *const *)env);
	_exit(EXIT_EXEC);
}

pid_t
command_start(const struct args *args, int in, int out, int error)
{
	pid_t pid;

	if (args->overflow)
		return -E2BIG;
	pid = fork();
	if (pid == 0)
		command_exec(args, in, out, error);
	return pid < 0 ? -errno : pid;
}

void
command_complaint(int fd, char ret_line[200])
{
	char text[4096];
	ssize_t n;
	char *line;

	(void)fd_set_nonblocking(fd, true);
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	for (n = (ssize_t)strlen(text); n > 0 && text[n - 1] == '\n'; n--)
		text[n - 1] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	/* Behind it one engine tells of its help, or what it does then. */
	if (strcasestr(text, "error"))
		line = strcasestr(text, "error");
	line[strcspn(line, "\n")] = '\0';
	n = (ssize_t)strnlen(line, 199);
	for (ssize_t i = 0; i < n; i++)
		ret_line[i] = (char)(line[i] < ' ' ? ' ' : line[i]);
	ret_line[n] = '\0';
}

/* All that comes, until the end or the time is over. */
static int
read_text(int fd, uint64_t until_us, struct buf *text)
{
	for (;;) {
		uint64_t now = clock_us();
		ssize_t n;
		int r = now >= until_us
			    ? -ETIMEDOUT
			    : fd_wait(fd, (int)((until_us - now) / 1000) + 1);

		if (r == 0)
			r = buf_reserve(text, 4096);
		if (r < 0)
			return r;
		n = read(fd, text->p + text->n, 4096);
		if (n < 0)
			return -errno;
		if (n == 0)
			return buf_add(text, "", 1);
		text->n += (size_t)n;
	}
}

int
command_ask(
    const struct args *args, int null_fd, struct buf *ret_text, struct err *err)
{
	own_fd int out = -1, out_end = -1, error = -1, error_end = -1;
	int ends[2];
	int status = 0;
	pid_t pid;
	int r;

	buf_init(ret_text, ENGINE_TEXT_MAX);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return fail_errno(err, "pipe");
	out = ends[0];
	out_end = ends[1];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return fail_errno(err, "pipe");
	error = ends[0];
	error_end = ends[1];
	pid = command_start(args, null_fd, out_end, error_end);
	if (pid < 0)
		return fail(
		    err, -pid, "start %.100s: %s", args->v[0], strerror(-pid));
	fd_close(give_fd(&out_end));
	fd_close(give_fd(&error_end));
	r = read_text(out, clock_us() + ENGINE_ASK_MS * 1000ull, ret_text);
	if (r < 0)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (r < 0)
		return fail(err, -r, "%.100s: %s", args->v[0], strerror(-r));
	if (process_ended_by(status, SIGKILL))
		return fail(err, EAGAIN, "%.100s: it was killed", args->v[0]);
	if (status != 0) {
		char line[200];

		command_complaint(error, line);
		return fail(err, EIO, "%.40s: %s", args->v[0],
		    *line ? line : "it cannot be executed");
	}
	return 0;
}
