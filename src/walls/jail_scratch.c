/* jail_scratch.c: the writable directories of native rooms. A Python may lie
 * below /tmp; its directories are mounted in the new one again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/jail_root.h"

#include "base/fd.h"
#include "base/own.h"
#include "conf/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define BELOW_TMP "/tmp/"

/* What is mounted below /tmp. */
struct kept {
	unsigned n;
	char path[JAIL_EXTRA_MAX][PATH_MAX];
	int tree[JAIL_EXTRA_MAX];
};

/* Hidden mounts are listed as well: the same place is looked at once. */
static int
keep(struct kept *kept, const char *path, struct err *err)
{
	for (unsigned i = 0; i < kept->n; i++)
		if (strcmp(kept->path[i], path) == 0)
			return 0;
	if (kept->n == JAIL_EXTRA_MAX)
		return fail(err, E2BIG, "wall mountns: too much below /tmp");
	kept->tree[kept->n] = open_tree(
	    AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (kept->tree[kept->n] < 0)
		return fail_errno(err, "wall mountns: open_tree %.180s", path);
	(void)snprintf(kept->path[kept->n++], PATH_MAX, "%s", path);
	return 0;
}

static int
keep_all(struct kept *kept, struct err *err)
{
	FILE *list = fopen("/proc/self/mountinfo", "re");
	char line[2 * PATH_MAX], path[PATH_MAX];
	int r = 0;

	/* Without a /proc there is no Python of a jail either. */
	if (!list)
		return fail_errno(err, "wall mountns: open mountinfo");
	while (r == 0 && fgets(line, sizeof(line), list))
		if (sscanf(line, "%*s %*s %*s %*s %4095s", path) == 1 &&
		    strncmp(path, BELOW_TMP, strlen(BELOW_TMP)) == 0)
			r = keep(kept, path, err);
	(void)fclose(list);
	return r;
}

static int
make_way(const char *path, struct err *err)
{
	char way[PATH_MAX];

	for (const char *end = path; end;) {
		end = strchr(end + 1, '/');
		(void)snprintf(way, sizeof(way), "%.*s",
		    end ? (int)(end - path) : PATH_MAX - 1, path);
		if (mkdir(way, 0700) == 0)
			(void)chmod(way, 0755); /* not as the umask has it */
		else if (errno != EEXIST)
			return fail_errno(
			    err, "wall mountns: mkdir %.180s", way);
	}
	return 0;
}

static int
put_back(const struct kept *kept, struct err *err)
{
	int r = 0;

	for (unsigned i = 0; i < kept->n && r == 0; i++) {
		r = make_way(kept->path[i], err);
		if (r == 0 && move_mount(kept->tree[i], "", AT_FDCWD,
				  kept->path[i], MOVE_MOUNT_F_EMPTY_PATH) < 0)
			r = fail_errno(err, "wall mountns: move_mount %.180s",
			    kept->path[i]);
	}
	return r;
}

static int
tmpfs_on(const char *path, unsigned long bytes, unsigned mode, struct err *err)
{
	char options[96];

	(void)snprintf(options, sizeof(options),
	    "size=%lu,nr_inodes=%u,mode=%o", bytes, JAIL_INODES, mode);
	if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		return fail_errno(err, "wall mountns: tmpfs on %s", path);
	return 0;
}

int
wall_jail_tmp(unsigned long bytes, unsigned mode, struct err *err)
{
	static struct kept kept; /* too large for a stack */
	int r;

	kept.n = 0;
	r = keep_all(&kept, err);
	if (r == 0)
		r = tmpfs_on("/tmp", bytes, mode, err);
	if (r == 0)
		r = put_back(&kept, err);
	for (unsigned i = 0; i < kept.n; i++)
		fd_close(kept.tree[i]);
	return r;
}

int
wall_jail_scratch(
    unsigned long workspace_bytes, unsigned long tmp_bytes, struct err *err)
{
	int r = tmpfs_on("/workspace", workspace_bytes, 0700, err);

	if (r == 0)
		r = wall_jail_tmp(tmp_bytes, 0700, err);
	if (r < 0)
		return r;
	/* What is below shows the numbers of others. */
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		"hidepid=invisible,subset=pid") < 0 &&
	    mount("tmpfs", "/proc", "tmpfs",
		MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY,
		"size=4096,nr_inodes=2") < 0)
		return fail_errno(err, "wall mountns: hide /proc");
	return 0;
}
