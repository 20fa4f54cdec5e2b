/* deno_parts.c: what a worker of the room deno is made of, found on the host.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/deno_cell.h"

#include "base/fd.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACE_MAX 4096u

/* Where it was given: absolute and without links. */
static int
find_given(const char *given, const char *name, char ret_path[PATH_MAX],
    struct err *err)
{
	if (!realpath(given, ret_path))
		return fail_errno(
		    err, "%s of the room deno: %.180s", name, given);
	return 0;
}

/* In what was installed, seen from its directory: who this is now may not pass
 * the way to that. */
static int
find_installed(const struct factory_start *start, const char *name,
    char ret_path[PATH_MAX], struct err *err)
{
	const char *dir = start->conf->artifacts_dir;
	struct stat st;

	ret_path[0] = '\0';
	if (!dir[0] ||
	    (fstatat(start->artifacts_fd, name, &st, 0) < 0 && errno == ENOENT))
		return fail(err, ENOENT,
		    "%s is not there: run \"breakroom install --room deno\"",
		    name);
	(void)snprintf(ret_path, PATH_MAX, "./%s", name);
	return 0;
}

static int
find(const struct factory_start *start, const char *given, const char *name,
    char ret_path[PATH_MAX], struct err *err)
{
	return given[0] ? find_given(given, name, ret_path, err)
			: find_installed(start, name, ret_path, err);
}

static int
needs(const char *dir, const char *name, struct err *err)
{
	char path[PATH_MAX + 32];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (stat(path, &st) < 0)
		return fail_errno(err, "%.220s", path);
	return 0;
}

/* ---- libraries ---- */

/* The loader then says what it would load, and executes nothing. */
static _Noreturn void
trace_main(const char *program, int out)
{
	char *const argv[] = { (char *)(uintptr_t)program, NULL };
	char trace[] = "LD_TRACE_LOADED_OBJECTS=1";
	char *const env[] = { trace, NULL };

	if (dup2(out, STDOUT_FILENO) >= 0)
		(void)execve(program, argv, env);
	_exit(1);
}

static int
trace(const char *program, char text[TRACE_MAX], struct err *err)
{
	int ends[2];
	size_t n = 0;
	ssize_t got = 1;
	int status = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return fail_errno(err, "pipe");
	pid = fork();
	if (pid == 0)
		trace_main(program, ends[1]);
	fd_close(ends[1]);
	while (pid > 0 && got > 0 && n < TRACE_MAX - 1) {
		got = read(ends[0], text + n, TRACE_MAX - 1 - n);
		n += got > 0 ? (size_t)got : 0;
	}
	text[n] = '\0';
	fd_close(ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return fail_errno(err, "fork");
	if (status != 0)
		return fail(err, ENOEXEC, "%.200s cannot be executed", program);
	return 0;
}

/* "name => /path (address)", or "/loader (address)". The loader goes first. */
static void
add_library(struct deno_parts *parts, char *line)
{
	char *path = strchr(line, '/');
	bool loader = path && !strstr(line, "=>");
	unsigned at = loader ? 0 : parts->libraries + !parts->libraries;

	if (!path || at >= DENO_LIBRARIES_MAX)
		return;
	path[strcspn(path, " ")] = '\0';
	(void)snprintf(
	    parts->library[at], sizeof(parts->library[at]), "%s", path);
	if (parts->libraries <= at)
		parts->libraries = at + 1;
}

static int
find_libraries(struct deno_parts *parts, struct err *err)
{
	char text[TRACE_MAX];
	char *rest = text;
	int r = trace(parts->deno, text, err);

	if (r < 0)
		return r;
	while (rest && *rest) {
		char *line = strsep(&rest, "\n");

		add_library(parts, line);
	}
	return 0;
}

/* What is locked, a newer installation leaves. The working directory is the one
 * descriptor's place that goes into a new namespace of mounts. */
static int
enter_installed(const struct factory_start *start, struct err *err)
{
	if (!start->conf->artifacts_dir[0])
		return 0;
	if (flock(start->artifacts_fd, LOCK_SH) < 0 ||
	    fchdir(start->artifacts_fd) < 0)
		return fail_errno(
		    err, "enter %.180s", start->conf->artifacts_dir);
	return 0;
}

static int
check_parts(const struct wire_conf *conf, const struct deno_parts *parts,
    struct err *err)
{
	int r = needs(parts->pyodide, "pyodide.mjs", err);

	if (r == 0)
		r = needs(parts->pyodide, "pyodide.asm.wasm", err);
	if (r == 0 && conf->pyodide_packages[0])
		r = needs(parts->packages, "pyodide-lock.json", err);
	return r;
}

int
deno_parts_find(const struct factory_start *start, struct deno_parts *ret_parts,
    struct err *err)
{
	const struct wire_conf *conf = start->conf;
	struct deno_parts *parts = ret_parts;
	struct err none; /* what need not be there */
	int r = find(start, conf->deno, "deno", parts->deno, err);

	if (r == 0)
		r = find(start, conf->pyodide, "pyodide", parts->pyodide, err);
	if (r == 0 && conf->pyodide_packages[0])
		r = find_given(
		    conf->pyodide_packages, "packages", parts->packages, err);
	else if (r == 0)
		(void)find_installed(start, "packages", parts->packages, &none);
	/* A snapshot belongs to the Pyodide that it was made with. */
	if (r == 0 && !conf->pyodide[0])
		(void)find_installed(
		    start, "snapshot.bin", parts->snapshot, &none);
	if (r == 0)
		r = enter_installed(start, err);
	if (r == 0)
		r = check_parts(conf, parts, err);
	return r < 0 ? r : find_libraries(parts, err);
}
