/* jail.c: the room of native Python behind walls: an interpreter of the host's,
 * or of a root tree, that has loaded its packages, and a fork of it for each
 * call. This is its factory: what starts that interpreter. Its forks raise the
 * rest of the walls by cell/cell.c, before there is a program.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/own.h"
#include "base/process.h"
#include "base/sys.h"
#include "cell/cell_object.h"
#include "conf/limits.h"
#include "rooms/factory.h"
#include "rooms/worker.h"
#include "rooms/worker_kind.h"
#include "rooms/worker_source.h"
#include "walls/jail_root.h"
#include "walls/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOST_PYTHON "/usr/bin/python3"
#define TREE        "root"   /* in the directory of what was installed */
#define TREE_PYTHON "python" /* there: one line, where its Python is */

/* Reads the length of a program from descriptor 0, and the program. */
#define BOOTSTRAP                                       \
	"import os\n"                                   \
	"def r(n):\n"                                   \
	" b=b''\n"                                      \
	" while len(b)<n:\n"                            \
	"  p=os.read(0,n-len(b))\n"                     \
	"  if not p: raise SystemExit(1)\n"             \
	"  b+=p\n"                                      \
	" return b\n"                                   \
	"s=r(int.from_bytes(r(4),'little')).decode()\n" \
	"exec(compile(s,'<breakroom>','exec'),{'__name__':'__breakroom__'})"

/* The numbers of the interpreter's descriptors. */
enum jail_fd {
	JAIL_SOURCE_FD,
	JAIL_OUT_FD,
	JAIL_LOG_FD,
	JAIL_REQUESTS_FD,
	JAIL_CELL_FD,
	JAIL_FDS
};

struct jail {
	const struct factory_start *start;
	struct jail_root root;
	char python[PATH_MAX];    /* as it is named inside */
	char real[PATH_MAX];      /* and what that is, on the host */
	char prefix[2][PATH_MAX]; /* of these two */
	int source_fd, cell_fd;
};

/* ---- which Python ---- */

/* A line of a file of the directory of what was installed. False: none. */
static bool
installed_line(int dir, const char *name, char line[PATH_MAX])
{
	own_fd int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, PATH_MAX - 1);

	if (n <= 0)
		return false;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return line[0] != '\0';
}

/* The directory above that of a program, unless it is among what every root
 * has. */
static void
add_prefix(struct jail *jail, const char *program, char prefix[PATH_MAX])
{
	struct jail_root *root = &jail->root;

	(void)snprintf(prefix, PATH_MAX, "%s", program);
	for (unsigned up = 0; up < 2 && *prefix; up++)
		*strrchr(prefix, '/') = '\0';
	if (!*prefix || strcmp(prefix, "/usr") == 0 ||
	    strncmp(prefix, "/usr/", 5) == 0)
		return;
	for (unsigned i = 0; i < root->extra_n; i++)
		if (strcmp(root->extra[i], prefix) == 0)
			return;
	root->extra[root->extra_n++] = prefix;
}

static int
choose_host(struct jail *jail, struct err *err)
{
	if (jail->python[0] != '/' || !realpath(jail->python, jail->real))
		return fail_errno(err,
		    "the Python %.150s cannot be found by user %u, who starts "
		    "it",
		    jail->python, geteuid());
	add_prefix(jail, jail->python, jail->prefix[0]);
	add_prefix(jail, jail->real, jail->prefix[1]);
	jail->root.host = true;
	jail->root.base_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return jail->root.base_fd < 0 ? fail_errno(err, "open /") : 0;
}

static int
choose_tree(struct jail *jail, int dir, const char *path, struct err *err)
{
	jail->root.base_fd =
	    openat(dir, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return jail->root.base_fd < 0
		   ? fail_errno(err, "open the root tree %.180s", path)
		   : 0;
}

/* A whole tree with a Python in it, or an environment of the host's Python.
 * What is locked, a newer installation leaves. */
static int
choose_installed(struct jail *jail, const char *line, struct err *err)
{
	const char *dir = jail->start->conf->artifacts_dir;
	/* Opened earlier: who this is now may not pass the way to it. */
	int fd = jail->start->artifacts_fd;

	if (flock(fd, LOCK_SH) < 0)
		return fail_errno(err, "lock %.180s", dir);
	if (line[0] == '/') {
		(void)snprintf(jail->python, sizeof(jail->python), "%s", line);
		return choose_tree(jail, fd, TREE, err);
	}
	if (snprintf(jail->python, sizeof(jail->python), "%s/%s", dir, line) >=
	    (int)sizeof(jail->python))
		return fail(err, ENAMETOOLONG, "%.180s: too long", dir);
	return choose_host(jail, err);
}

static int
choose(struct jail *jail, struct err *err)
{
	const struct wire_conf *conf = jail->start->conf;
	char line[PATH_MAX];

	(void)snprintf(jail->python, sizeof(jail->python), "%s",
	    conf->python[0] ? conf->python : HOST_PYTHON);
	if (conf->root[0])
		return choose_tree(jail, AT_FDCWD, conf->root, err);
	if (!conf->python[0] && conf->artifacts_dir[0] &&
	    installed_line(jail->start->artifacts_fd, TREE_PYTHON, line))
		return choose_installed(jail, line, err);
	return choose_host(jail, err);
}

/* ---- what it starts with ---- */

static int
bytes_fd(const char *name, const void *bytes, size_t n, struct err *err)
{
	own_fd int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0 || fd_write_all(fd, bytes, n) < 0 ||
	    lseek(fd, 0, SEEK_SET) < 0)
		return fail_errno(err, "write %s", name);
	return give_fd(&fd);
}

/* The files of each slot in the trees of control groups, as lists of numbers
 * that stay what they are in the interpreter. */
static int
add_groups(const struct cgroup *cgroup, struct buf *into)
{
	int fds[1 + CGROUP_OTHERS_MAX];
	int r = buf_printf(into, ", \"groups\": [");

	for (int slot = 0; r == 0; slot++) {
		unsigned n = cgroup_others(cgroup, slot, fds + 1);

		fds[0] = cgroup_procs_fd(cgroup, slot);
		if (n == 0 || fds[0] < 0)
			break;
		for (unsigned i = 0; r == 0 && i <= n; i++) {
			/* Above those that it has by number. */
			int fd = fcntl(fds[i], F_DUPFD, JAIL_FDS);

			r = fd < 0 ? -errno
				   : buf_printf(into, "%s%d%s",
					 i > 0       ? ", "
					 : slot == 0 ? "["
						     : ", [",
					 fd, i == n ? "]" : "");
		}
	}
	return r < 0 ? r : buf_printf(into, "]");
}

static const char *
truth(wall_set walls, enum wall wall)
{
	return walls & WALL_BIT(wall) ? "true" : "false";
}

/* The program, and its settings as a frame. */
static int
source_make(const struct factory_start *start, struct err *err)
{
	const struct wire_conf *conf = start->conf;
	own_buf struct buf bytes, settings;
	uint8_t header[WORKER_HEADER];
	uint32_t n = (uint32_t)worker_source_n;
	wall_set walls = worker_walls(start->walls);
	int r;

	buf_init(&bytes, 4u * MIB);
	buf_init(&settings, JAIL_SETTINGS_MAX);
	r = worker_settings(conf, &settings);
	if (r == 0) {
		settings.n--; /* the brace */
		r = buf_printf(&settings,
		    ", \"zygote\": true, \"err_bytes\": %zu, \"walls\": %u, "
		    "\"hidden\": %s, \"first\": %s",
		    sizeof(struct err), walls, truth(walls, WALL_MOUNTNS),
		    truth(walls, WALL_PIDNS));
	}
	if (r == 0)
		r = add_groups(start->cgroup, &settings);
	if (r == 0)
		r = buf_printf(&settings, "}");
	worker_header(header, WORKER_SETTINGS, settings.n);
	if (r == 0)
		r = buf_add(&bytes, &n, sizeof(n));
	if (r == 0)
		r = buf_add(&bytes, worker_source, worker_source_n);
	if (r == 0)
		r = buf_add(&bytes, header, sizeof(header));
	if (r == 0)
		r = buf_add(&bytes, settings.p, settings.n);
	return r < 0 ? fail(err, -r, "a worker's program: %s", strerror(-r))
		     : bytes_fd("worker", bytes.p, bytes.n, err);
}

/* ---- the interpreter's process ---- */

static int
raise_root(const struct jail *jail, struct err *err)
{
	int r = wall_jail_root(&jail->root, err);

	/* Libraries write there while they are loaded. */
	return r < 0 ? r : wall_jail_tmp(JAIL_TMP_BYTES, 01777, err);
}

static int
raise_ids(const struct jail *jail, struct err *err)
{
	return wall_ids(jail->start->ids->child, CAP_BIT(CAP_SETPCAP), err);
}

static int
raise_caps(const struct jail *jail, struct err *err)
{
	(void)jail;
	return wall_caps(0, err);
}

static int
raise_parent(const struct jail *jail, struct err *err)
{
	(void)jail;
	return wall_parent(0, err);
}

/* Another user's death signal is cleared. */
static int
raise_walls(const struct jail *jail, struct err *err)
{
	static const struct {
		enum wall wall;
		int (*raise)(const struct jail *jail, struct err *err);
		int (*plain)(struct err *err);
	} steps[] = {
		{ WALL_PARENT, raise_parent },
		{ WALL_NETNS, .plain = wall_netns },
		{ WALL_IPCNS, .plain = wall_ipcns },
		{ WALL_UTSNS, .plain = wall_utsns },
		{ WALL_MOUNTNS, raise_root },
		{ WALL_IDS, raise_ids },
		{ WALL_CAPS, raise_caps },
		{ WALL_PARENT, raise_parent },
		{ WALL_NO_NEW_PRIVS, .plain = wall_no_new_privs },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
		if (jail->start->walls & WALL_BIT(steps[i].wall))
			r = steps[i].plain ? steps[i].plain(err)
					   : steps[i].raise(jail, err);
	return r;
}

static int
number_descriptors(const struct jail *jail, struct err *err)
{
	const int from[JAIL_FDS] = { jail->source_fd, jail->start->null_fd,
		STDERR_FILENO, jail->start->socket_fd, jail->cell_fd };
	int high[JAIL_FDS];

	for (unsigned i = 0; i < JAIL_FDS; i++) {
		high[i] = fcntl(from[i], F_DUPFD_CLOEXEC, JAIL_FDS);
		if (high[i] < 0)
			return fail_errno(err, "number a descriptor");
	}
	for (int i = 0; i < JAIL_FDS; i++)
		if (dup2(high[i], i) < 0)
			return fail_errno(err, "number a descriptor");
	return 0;
}

static _Noreturn void
interpreter_main(struct jail *jail)
{
	static const char *const env[] = { "PATH=/usr/local/bin:/usr/bin:/bin",
		"HOME=/tmp", "LANG=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1",
		NULL };
	const char *argv[] = { jail->python, "-I", "-u", "-c", BOOTSTRAP,
		NULL };
	struct err err = { 0 };

	if (raise_walls(jail, &err) == 0 &&
	    number_descriptors(jail, &err) == 0) {
		(void)execve(
		    jail->python, (char *const *)argv, (char *const *)env);
		(void)fail_errno(&err, "execute %.150s", jail->python);
		(void)factory_say(JAIL_REQUESTS_FD, &err);
		_exit(1);
	}
	(void)factory_say(jail->start->socket_fd, &err);
	_exit(1);
}

static pid_t
interpreter_fork(wall_set walls, struct err *err)
{
	pid_t pid;

	if (walls & WALL_BIT(WALL_PIDNS))
		return wall_pidns_fork(err);
	pid = fork();
	return pid < 0 ? fail_errno(err, "fork an interpreter") : pid;
}

/* What has no use without a wall that is missing, and was allowed to be. */
static int
check_walls(const struct jail *jail, struct err *err)
{
	const struct factory_start *start = jail->start;

	if (!jail->root.host && !(start->walls & WALL_BIT(WALL_MOUNTNS)))
		return fail(err, ENOTSUP,
		    "a root tree without the wall mountns cannot be entered: "
		    "name a Python of the host's by --python");
	if (start->conf->allow_processes &&
	    !(worker_walls(start->walls) & WALL_BIT(WALL_PIDNS)))
		return fail(err, ENOTSUP,
		    "--allow-processes without the walls userns and pidns: "
		    "processes would outlive their call");
	return 0;
}

static int
jail_start(struct jail *jail, struct err *err)
{
	pid_t pid;
	int r = choose(jail, err);

	if (r == 0)
		r = check_walls(jail, err);
	if (r < 0)
		return r;
	jail->root.user =
	    jail->start->ids->many ? jail->start->ids->child : geteuid();
	jail->source_fd = source_make(jail->start, err);
	if (jail->source_fd < 0)
		return jail->source_fd;
	jail->cell_fd = bytes_fd("cell", cell_object, cell_object_n, err);
	if (jail->cell_fd < 0)
		return jail->cell_fd;
	pid = interpreter_fork(jail->start->walls, err);
	if (pid == 0)
		interpreter_main(jail);
	return pid;
}

/* Until the interpreter has ended, or nobody is left to ask it. The latter is
 * the end of the keeper, whose death is no signal to those that are outside of
 * its Landlock domain. The interpreter would see it too, unless it is stuck. */
static int
wait_end(int socket_fd, pid_t pid)
{
	own_fd int pidfd = sys_pidfd_open(pid);
	struct pollfd ready[] = { { .fd = pidfd, .events = POLLIN },
		{ .fd = socket_fd } };
	int status = 0;

	while (poll(ready, 2, -1) < 0 && errno == EINTR)
		;
	if (ready[1].revents && poll(ready, 1, JAIL_END_MS) == 0)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* It waits for its interpreter, and is gone with it. */
static void
jail_factory(const struct factory_start *start)
{
	static struct jail jail; /* too large for a stack */
	struct err err = { 0 };
	int status, pid;

	jail.start = start;
	pid = jail_start(&jail, &err);
	if (pid < 0) {
		(void)factory_say(start->socket_fd, &err);
		_exit(1);
	}
	status = wait_end(start->socket_fd, pid);
	/* Read by nobody if that has said it was ready. */
	(void)fail(&err, process_ended_by(status, SIGKILL) ? EAGAIN : ECHILD,
	    "the Python %.150s ended before it was ready (status %#x)",
	    jail.python, (unsigned)status);
	(void)factory_say(start->socket_fd, &err);
	_exit(1);
}

/* What its program allocates and its files, which are memory, as in a
 * container. */
static uint64_t
jail_child_bytes(const struct wire_conf *conf, int artifacts_fd)
{
	(void)artifacts_fd;
	return conf->memory_bytes;
}

const struct room_kind room_jail = {
	.name = "jail",
	.id = ROOM_JAIL,
	.flags = ROOM_WORKER,
	.required = WALLS_OF_PROXIES | WALLS_OF_NATIVE,
	.child_bytes = jail_child_bytes,
	.factory = jail_factory,
	WORKER_KIND,
};
