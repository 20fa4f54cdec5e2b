/* jail_root.c: the file system of native rooms.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/jail_root.h"

#include "base/fd.h"
#include "base/own.h"
#include "conf/limits.h"
#include "walls/mount_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define TREES_MAX  32u
#define PROC_ATTRS (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

/* What is put on the new root: copies of mounts, made while the old root is
 * still there. */
struct tree {
	char path[PATH_MAX]; /* in the new root, absolute */
	int fd;              /* -1: a symbolic link to: */
	char target[PATH_MAX];
	bool file;
};

struct trees {
	struct tree tree[TREES_MAX];
	unsigned n;
};

static const char *const system_names[] = { "usr", "bin", "sbin", "lib",
	"lib32", "lib64", "libx32" };
/* Of a tree that was made for this. */
static const char *const tree_names[] = { "opt", "etc" };
static const char *const host_etc[] = { "etc/ld.so.cache", "etc/alternatives",
	"etc/fonts", "etc/localtime", "etc/mime.types" };
static const char *const devices[] = { "dev/null", "dev/zero", "dev/full",
	"dev/random", "dev/urandom" };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* One more, if there is such a thing below the directory base. */
static int
trees_add(struct trees *trees, int base, const char *name, uint64_t flags,
    struct err *err)
{
	struct tree *tree = &trees->tree[trees->n];
	struct stat st;
	ssize_t n;

	if (fstatat(base, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT
			   ? 0
			   : fail_errno(err, "wall mountns: look at %s", name);
	if (trees->n == TREES_MAX)
		return fail(err, E2BIG, "wall mountns: too many directories");
	(void)snprintf(
	    tree->path, sizeof(tree->path), "/%s", name + (name[0] == '/'));
	tree->fd = -1;
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(base, name, tree->target, PATH_MAX - 1);
		if (n < 0)
			return fail_errno(err, "wall mountns: read %s", name);
		tree->target[n] = '\0';
	} else {
		tree->file = !S_ISDIR(st.st_mode);
		tree->fd = mount_tree_copy(base, name, flags, err);
		if (tree->fd < 0)
			return tree->fd;
	}
	trees->n++;
	return 0;
}

static int
trees_add_all(struct trees *trees, int base, const char *const *names, size_t n,
    uint64_t flags, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = trees_add(trees, base, names[i], flags, err);
	return r;
}

static int
trees_gather(struct trees *trees, const struct jail_root *jail, struct err *err)
{
	own_fd int host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	own_fd int base = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (host < 0 || base < 0)
		return fail_errno(err, "wall mountns: open the old root");
	r = trees_add_all(trees, base, system_names, COUNT(system_names),
	    MOUNT_ATTRS_EXEC, err);
	if (r == 0)
		r = trees_add_all(trees, base,
		    jail->host ? host_etc : tree_names,
		    jail->host ? COUNT(host_etc) : COUNT(tree_names),
		    jail->host ? MOUNT_ATTRS : MOUNT_ATTRS_EXEC, err);
	if (r == 0)
		r = trees_add_all(trees, host, jail->extra, jail->extra_n,
		    MOUNT_ATTRS_EXEC, err);
	/* Devices are all that they are for. */
	return r < 0 ? r
		     : trees_add_all(trees, host, devices, COUNT(devices),
			   MOUNT_ATTRS & ~(uint64_t)MOUNT_ATTR_NODEV, err);
}

static void
trees_done(struct trees *trees)
{
	for (unsigned i = 0; i < trees->n; i++)
		fd_close(trees->tree[i].fd);
}

/* The directories that lead to path; each may be there. */
static int
make_way(int root, const char *path, struct err *err)
{
	char way[PATH_MAX];

	for (const char *end = strchr(path + 1, '/'); end;
	     end = strchr(end + 1, '/')) {
		(void)snprintf(
		    way, sizeof(way), "%.*s", (int)(end - path), path);
		if (mkdirat(root, way + 1, 0700) < 0) {
			if (errno == EEXIST)
				continue;
			return fail_errno(err, "wall mountns: mkdir %s", way);
		}
		/* Not as the umask has it. */
		if (fchmodat(root, way + 1, 0755, 0) < 0)
			return fail_errno(err, "wall mountns: chmod %s", way);
	}
	return 0;
}

static int
file_add(int root, const struct tree *tree, struct err *err)
{
	own_fd int file = openat(root, tree->path + 1,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

	if (file < 0)
		return fail_errno(err, "wall mountns: make %s", tree->path);
	if (move_mount(tree->fd, "", root, tree->path + 1,
		MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return fail_errno(
		    err, "wall mountns: move_mount %s", tree->path);
	return 0;
}

static int
tree_add(int root, const struct tree *tree, struct err *err)
{
	int r = make_way(root, tree->path, err);

	if (r < 0)
		return r;
	if (tree->fd < 0)
		return symlinkat(tree->target, root, tree->path + 1) < 0
			   ? fail_errno(
				 err, "wall mountns: link %s", tree->path)
			   : 0;
	return tree->file ? file_add(root, tree, err)
			  : mount_root_add(root, tree->path, tree->fd, err);
}

/* A new one, of the calling process's namespace of process numbers; -1: it may
 * not be mounted, for a container hides parts of its own. */
static int
proc_make(void)
{
	own_fd int fs = fsopen("proc", FSOPEN_CLOEXEC);

	if (fs < 0)
		return -1;
	(void)fsconfig(fs, FSCONFIG_SET_STRING, "hidepid", "invisible", 0);
	/* Nothing of the machine: its command line, its symbols, its load. */
	(void)fsconfig(fs, FSCONFIG_SET_STRING, "subset", "pid", 0);
	return fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0
		   ? -1
		   : fsmount(fs, FSMOUNT_CLOEXEC, PROC_ATTRS);
}

/* Or the one that there is: whoever runs a program covers it. */
static int
proc_mount(int root, struct err *err)
{
	own_fd int proc = proc_make();

	if (proc < 0)
		proc = mount_tree_copy(AT_FDCWD, "/proc", PROC_ATTRS, err);
	if (proc < 0)
		return proc;
	return mount_root_add(root, "/proc", proc, err);
}

/* Libraries ask for the name of the user who runs them. */
static int
text_add(int root, const char *path, const char *text, struct err *err)
{
	own_fd int file =
	    openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);

	if (file < 0 || fd_write_all(file, text, strlen(text)) < 0 ||
	    fchmod(file, 0444) < 0)
		return fail_errno(err, "wall mountns: write /%s", path);
	return 0;
}

static int
users_add(int root, uid_t user, struct err *err)
{
	char text[128];
	int r = make_way(root, "/etc/passwd", err);

	(void)snprintf(text, sizeof(text),
	    "sandbox:x:%u:%u::/workspace:/usr/sbin/nologin\n", user, user);
	if (r == 0)
		r = text_add(root, "etc/passwd", text, err);
	(void)snprintf(text, sizeof(text), "sandbox:x:%u:\n", user);
	return r < 0 ? r : text_add(root, "etc/group", text, err);
}

/* Unless it leads to one of the trees. */
static int
empty_add(int root, const char *path, struct err *err)
{
	return faccessat(root, path + 1, F_OK, 0) == 0
		   ? 0
		   : mount_root_add(root, path, -1, err);
}

static int
root_fill(int root, const struct jail_root *jail, const struct trees *trees,
    struct err *err)
{
	static const char *const empty[] = { "/workspace", "/tmp" };
	int r = 0;

	for (unsigned i = 0; i < trees->n && r == 0; i++)
		r = tree_add(root, &trees->tree[i], err);
	for (size_t i = 0; i < COUNT(empty) && r == 0; i++)
		r = empty_add(root, empty[i], err);
	if (r == 0 && jail->host)
		r = users_add(root, jail->user, err);
	if (r == 0 && symlinkat("/tmp", root, "dev/shm") < 0)
		r = fail_errno(err, "wall mountns: link /dev/shm");
	return r == 0 ? proc_mount(root, err) : r;
}

static int
root_build(const struct jail_root *jail, struct err *err)
{
	static struct trees trees; /* too large for a stack */
	own_fd int root = -1;
	int r = trees_gather(&trees, jail, err);

	if (r == 0) {
		root = mount_root_make(JAIL_ROOT_SIZE, JAIL_ROOT_INODES, err);
		r = root < 0 ? root : 0;
	}
	if (r == 0 && (chdir("/usr") < 0 || move_mount(root, "", AT_FDCWD, ".",
						MOVE_MOUNT_F_EMPTY_PATH) < 0))
		r = fail_errno(err, "wall mountns: move_mount the root");
	if (r == 0)
		r = root_fill(root, jail, &trees, err);
	trees_done(&trees);
	return r < 0 ? r : mount_root_enter(root, err);
}

/* The working directory is base: of all that a process holds, the kernel takes
 * it and the root alone into a new namespace. */
int
wall_jail_root(const struct jail_root *jail, struct err *err)
{
	if (fchdir(jail->base_fd) < 0)
		return fail_errno(err, "wall mountns: enter the root tree");
	if (unshare(CLONE_NEWNS) < 0)
		return fail_errno(err, "wall mountns: unshare");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return fail_errno(err, "wall mountns: make all private");
	return root_build(jail, err);
}
