/* deno_cell.c: the walls of a worker of the room deno, outermost first, and what
 * it sees of the host.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/deno_cell.h"

#include "base/fd.h"
#include "base/own.h"
#include "conf/limits.h"
#include "rooms/deno_files.h"
#include "walls/cgroup.h"
#include "walls/mount_tree.h"
#include "walls/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* ---- its file system ---- */

/* A copy of a file's mount, taken while the host's are still there, and where
 * it goes. */
struct place {
	int fd;
	bool dir;
	char name[256];
};

struct places {
	struct place place[DENO_LIBRARIES_MAX + 8];
	unsigned n;
};

/* Nothing where path is empty. */
static int
take(struct places *places, const char *path, const char *name, uint64_t flags,
    struct err *err)
{
	struct place *place = &places->place[places->n];
	struct stat st;

	if (!path[0])
		return 0;
	if (stat(path, &st) < 0)
		return fail_errno(err, "wall mountns: look at %.200s", path);
	place->fd = mount_tree_copy(AT_FDCWD, path, flags, err);
	if (place->fd < 0)
		return place->fd;
	place->dir = S_ISDIR(st.st_mode);
	(void)snprintf(place->name, sizeof(place->name), "%s", name);
	places->n++;
	return 0;
}

/* The loader stays where it is; the others are all in one directory. */
static int
take_libraries(
    struct places *places, const struct deno_parts *parts, struct err *err)
{
	int r = 0;

	for (unsigned i = 0; i < parts->libraries && r == 0; i++) {
		const char *path = parts->library[i];
		char name[300];

		(void)snprintf(name, sizeof(name), "/lib%s",
		    i > 0 && path[0] ? strrchr(path, '/') : "");
		r = take(
		    places, path, i > 0 ? name : path, MOUNT_ATTRS_EXEC, err);
	}
	return r;
}

static int
take_all(struct places *places, const struct deno_parts *parts, struct err *err)
{
	const uint64_t device = MOUNT_ATTRS & ~(uint64_t)MOUNT_ATTR_NODEV;
	int r = take(places, parts->deno, "/deno", MOUNT_ATTRS_EXEC, err);

	if (r == 0)
		r = take_libraries(places, parts, err);
	if (r == 0)
		r = take(places, parts->pyodide, "/pyodide", MOUNT_ATTRS, err);
	if (r == 0)
		r = take(
		    places, parts->packages, "/packages", MOUNT_ATTRS, err);
	if (r == 0)
		r = take(
		    places, parts->snapshot, "/snapshot.bin", MOUNT_ATTRS, err);
	if (r == 0)
		r = take(places, "/dev/null", "/dev/null", device, err);
	return r < 0
		   ? r
		   : take(places, "/dev/urandom", "/dev/urandom", device, err);
}

/* Directories of the first level; a name's own, too. */
static int
make_dirs(int root, const char *name, struct err *err)
{
	char way[256];

	for (const char *end = strchr(name + 1, '/'); end;
	     end = strchr(end + 1, '/')) {
		(void)snprintf(
		    way, sizeof(way), "%.*s", (int)(end - name), name);
		if (mkdirat(root, way + 1, 0755) < 0 && errno != EEXIST)
			return fail_errno(err, "wall mountns: mkdir %s", way);
	}
	return 0;
}

static int
put(int root, const struct place *place, struct err *err)
{
	own_fd int file = -1;
	int r = make_dirs(root, place->name, err);

	if (r < 0)
		return r;
	if (place->dir)
		return mount_root_add(root, place->name, place->fd, err);
	file = openat(root, place->name + 1,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (file < 0 || move_mount(place->fd, "", root, place->name + 1,
			    MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return fail_errno(err, "wall mountns: mount %s", place->name);
	return 0;
}

static int
put_runner(int root, struct err *err)
{
	own_fd int dir = -1;

	if (mkdirat(root, "runner", 0755) < 0)
		return fail_errno(err, "wall mountns: mkdir /runner");
	dir = openat(root, "runner", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (unsigned i = 0; i < deno_files_n; i++) {
		const struct deno_file *file = &deno_files[i];
		own_fd int fd = openat(dir, file->name,
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

		if (fd < 0 || fd_write_all(fd, file->bytes, file->n) < 0)
			return fail_errno(
			    err, "wall mountns: write %s", file->name);
	}
	return 0;
}

/* Deno asks where it lies, and would go no further without an answer; there is
 * no other /proc. */
static int
put_rest(int root, struct err *err)
{
	static const char *const empty[] = { "/workspace", "/tmp", "/proc",
		"/proc/self" };

	for (size_t i = 0; i < COUNT(empty); i++)
		if (mkdirat(root, empty[i] + 1, 0755) < 0)
			return fail_errno(
			    err, "wall mountns: mkdir %s", empty[i]);
	if (symlinkat("/deno", root, "proc/self/exe") < 0)
		return fail_errno(err, "wall mountns: link /proc/self/exe");
	return put_runner(root, err);
}

static int
root_build(const struct deno_parts *parts, struct err *err)
{
	static struct places places; /* large */
	own_fd int root = -1;
	int r = take_all(&places, parts, err);

	if (r == 0) {
		root = mount_root_make(DENO_ROOT_SIZE, DENO_ROOT_INODES, err);
		r = root < 0 ? root : 0;
	}
	if (r == 0 &&
	    (chdir(parts->pyodide) < 0 || move_mount(root, "", AT_FDCWD, ".",
					      MOVE_MOUNT_F_EMPTY_PATH) < 0))
		r = fail_errno(err, "wall mountns: move_mount the root");
	for (unsigned i = 0; r == 0 && i < places.n; i++)
		r = put(root, &places.place[i], err);
	if (r == 0)
		r = put_rest(root, err);
	return r < 0 ? r : mount_root_enter(root, err);
}

static int
own_root(const struct deno_parts *parts, struct err *err)
{
	(void)umask(022);
	if (unshare(CLONE_NEWNS) < 0)
		return fail_errno(err, "wall mountns: unshare");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return fail_errno(err, "wall mountns: make all private");
	return root_build(parts, err);
}

/* ---- all walls ---- */

static int
raise_user(const struct factory_start *start, struct err *err)
{
	const struct wall_ids *ids = start->ids;
	int r = ids->many ? wall_ids(ids->child, CAP_BIT(CAP_SETPCAP), err) : 0;

	/* In one of its own its threads are counted apart from those of other
	 * workers. No number of a user has a meaning in it. */
	if (r == 0 && unshare(CLONE_NEWUSER) < 0)
		r = fail_errno(err, "wall userns: unshare");
	if (r == 0)
		r = wall_caps(0, err);
	if (r == 0)
		r = wall_parent(0, err); /* another user's was cleared */
	return r < 0 ? r : wall_no_new_privs(err);
}

/* Without a group for its memory there is still a limit of a kind: V8 maps far
 * more than it uses. */
static uint64_t
data_bytes(const struct factory_start *start, int procs_fd)
{
	return procs_fd >= 0 ? 0
			     : DENO_DATA_BYTES + start->conf->memory_bytes +
				   start->conf->files_bytes;
}

static int
raise_walls(const struct factory_start *start, const struct deno_parts *parts,
    int procs_fd, struct err *err)
{
	static const struct {
		enum wall wall;
		int (*raise)(struct err *err);
	} namespaces[] = {
		{ WALL_NETNS, wall_netns },
		{ WALL_IPCNS, wall_ipcns },
		{ WALL_UTSNS, wall_utsns },
		{ WALL_CGROUPNS, wall_cgroupns },
	};
	int r = wall_parent(0, err);

	if (r == 0 && procs_fd >= 0)
		r = cgroup_join(procs_fd, err);
	if (r == 0 && procs_fd >= 0)
		r = cgroup_join_others(start->cgroup, procs_fd, err);
	for (size_t i = 0; r == 0 && i < COUNT(namespaces); i++)
		if (start->walls & WALL_BIT(namespaces[i].wall))
			r = namespaces[i].raise(err);
	if (r == 0)
		r = own_root(parts, err);
	if (r == 0)
		r = raise_user(start, err);
	if (r == 0)
		r = wall_landlock_native(err);
	if (r == 0)
		r = wall_rlimits_native(
		    data_bytes(start, procs_fd), start->conf->processes, err);
	return r;
}

/* Its three, and no other. */
static int
number_descriptors(
    const struct factory_start *start, int stream, struct err *err)
{
	if (dup2(stream, STDIN_FILENO) < 0 || dup2(stream, STDOUT_FILENO) < 0 ||
	    dup2(start->null_fd, STDERR_FILENO) < 0)
		return fail_errno(err, "number a worker's descriptors");
	if (fd_close_others(NULL, 0) < 0)
		return fail_errno(err, "close all others");
	return 0;
}

/* No text becomes code; nothing is compiled anew beside a program that has just
 * begun, nor taken back to slower code, which would be compiled in its place. */
static const char v8_flags[] =
    "--v8-flags=--disallow-code-generation-from-strings,"
    "--wasm-tiering-budget=300000000,--no-wasm-deopt";

static int
become(const struct deno_parts *parts, struct err *err)
{
	const char *const argv[] = { "/deno", "run", "--no-remote", "--no-npm",
		"--cached-only", "--no-prompt", "--no-config", "--no-lock",
		"--deny-net", "--deny-env", "--deny-sys", "--deny-run",
		"--deny-ffi", "--deny-write", "--deny-import", v8_flags,
		"--allow-read=/pyodide/,/packages/,/runner/,/snapshot.bin",
		"/runner/runner.mjs", "/pyodide/",
		parts->snapshot[0] ? "/snapshot.bin" : "-",
		parts->packages[0] ? "/packages/" : "-", NULL };
	const char *const env[] = { "LD_LIBRARY_PATH=/lib", "DENO_DIR=/tmp",
		"DENO_NO_UPDATE_CHECK=1", "NO_COLOR=1", "PATH=/", "HOME=/tmp",
		NULL };

	(void)execve("/deno", (char *const *)argv, (char *const *)env);
	return fail_errno(err, "execute %.200s", parts->deno);
}

void
deno_cell_enter(const struct factory_start *start,
    const struct deno_parts *parts, const int ends[FACTORY_FDS],
    struct err *err)
{
	if (raise_walls(start, parts, ends[FACTORY_PROCS], err) == 0 &&
	    number_descriptors(start, ends[FACTORY_STREAM], err) == 0 &&
	    wall_seccomp(SECCOMP_DENO, err) == 0)
		(void)become(parts, err);
}
