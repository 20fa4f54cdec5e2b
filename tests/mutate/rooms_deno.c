/* rooms_deno.c: what else a worker of the room deno can do without: a root that
 * hides the host, a user namespace of its own, its control groups, each of
 * Deno's permissions, V8's word that no text becomes code, and the loss of
 * JavaScript's globals.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms.h"

#include "base/err.h"
#include "rooms/deno_files.h"
#include "walls/cgroup.h"
#include "walls/mount_tree.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define FILES_MAX 64u
#define WORDS_MAX 40u
#define HOST      "/host"

#define GLOBALS_LINE "  takeGlobals();\n"

int __real_mount_root_enter(int root, struct err *err);
int __wrap_mount_root_enter(int root, struct err *err);
int __real_unshare(int flags);
int __wrap_unshare(int flags);
int __real_cgroup_join(int procs_fd, struct err *err);
int __wrap_cgroup_join(int procs_fd, struct err *err);
int __real_cgroup_join_others(
    const struct cgroup *cgroup, int procs_fd, struct err *err);
int __wrap_cgroup_join_others(
    const struct cgroup *cgroup, int procs_fd, struct err *err);

extern const struct deno_file __real_deno_files[];
extern struct deno_file __wrap_deno_files[];
struct deno_file __wrap_deno_files[FILES_MAX];

/* ---- the runner ---- */

/* The same, with spaces in the place of the line. */
static const uint8_t *
without_globals_line(const struct deno_file *file)
{
	uint8_t *copy = malloc(file->n);
	uint8_t *line;

	if (!copy)
		abort();
	memcpy(copy, file->bytes, file->n);
	line = memmem(copy, file->n, GLOBALS_LINE, sizeof(GLOBALS_LINE) - 1);
	if (!line)
		abort();
	memset(line, ' ', sizeof(GLOBALS_LINE) - 2);
	return copy;
}

void
rooms_deno_begin(void)
{
	if (deno_files_n > FILES_MAX)
		abort();
	for (unsigned i = 0; i < deno_files_n; i++) {
		struct deno_file *file = &__wrap_deno_files[i];

		*file = __real_deno_files[i];
		if (worker_has("globals") &&
		    strcmp(file->name, "room.mjs") == 0)
			file->bytes = without_globals_line(file);
	}
}

/* ---- what Deno is told ---- */

/* A word in the place of one that takes something away; NULL: none. */
static const char *
in_place_of(const char *word)
{
	static const char *const permissions[] = { "net", "env", "sys", "run",
		"ffi", "write", "import" };
	static char allowed[sizeof(permissions) / sizeof(permissions[0])][32];

	if (strncmp(word, "--allow-read=", 13) == 0 && worker_has("read"))
		return "--allow-read";
	if (strncmp(word, "--v8-flags=", 11) == 0 && worker_has("strings"))
		return "--v8-flags=--wasm-tiering-budget=100000000";
	if (strcmp(word, "--no-remote") == 0 ||
	    strcmp(word, "--cached-only") == 0)
		return worker_has("remote") ? NULL : word;
	if (strncmp(word, "--deny-", 7) != 0)
		return word;
	for (size_t i = 0; i < sizeof(permissions) / sizeof(permissions[0]);
	     i++) {
		if (strcmp(word + 7, permissions[i]) != 0 ||
		    !worker_has(permissions[i]))
			continue;
		(void)snprintf(allowed[i], sizeof(allowed[i]), "--allow-%s",
		    permissions[i]);
		return allowed[i];
	}
	return word;
}

char *const *
rooms_deno_argv(const char *path, char *const *argv)
{
	static const char *words[WORDS_MAX];
	size_t n = 0;

	if (strcmp(path, "/deno") != 0)
		return argv;
	for (size_t i = 0; argv[i] && n < WORDS_MAX - 1; i++) {
		words[n] = in_place_of(argv[i]);
		n += words[n] != NULL;
	}
	words[n] = NULL;
	return (char *const *)(uintptr_t)words;
}

/* ---- where it runs ---- */

/* All of the host's file systems are below /host. */
int
__wrap_mount_root_enter(int root, struct err *err)
{
	int host;
	int r;

	if (!worker_off_here("deno-root"))
		return __real_mount_root_enter(root, err);
	host = mount_tree_copy(AT_FDCWD, "/", 0, err);
	r = host < 0 ? host : mount_root_add(root, HOST, host, err);
	return r < 0 ? r : __real_mount_root_enter(root, err);
}

int
__wrap_unshare(int flags)
{
	return flags == CLONE_NEWUSER && worker_off_here("own-userns")
		   ? 0
		   : __real_unshare(flags);
}

int
__wrap_cgroup_join(int procs_fd, struct err *err)
{
	return worker_off_here("cgroup.memory")
		   ? 0
		   : __real_cgroup_join(procs_fd, err);
}

int
__wrap_cgroup_join_others(
    const struct cgroup *cgroup, int procs_fd, struct err *err)
{
	return worker_off_here("cgroup.pids")
		   ? 0
		   : __real_cgroup_join_others(cgroup, procs_fd, err);
}
