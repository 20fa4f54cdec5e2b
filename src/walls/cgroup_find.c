/* cgroup_find.c: finding the control group trees. The mount's root is
 * considered: in a container without a control group namespace, the own
 * group's name begins with what the mount leaves away. Hostile input: names of
 * groups and mounts, whose lengths are bounded here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/cgroup_find.h"

#include "base/buf.h"
#include "base/own.h"
#include "conf/limits.h"
#include "walls/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One line of mountinfo, in pieces. */
struct mount {
	char *root, *point, *options, *type, *super;
};

/* Where a wanted group may be; the best so far. */
struct place {
	bool found, read_only;
	char dir[PATH_MAX];
};

static const enum wall walls[] = {
	WALL_CGROUP_KILL, /* first: version 2 comes first among the trees */
	WALL_CGROUP_MEMORY,
	WALL_CGROUP_PIDS,
	WALL_CGROUP_CPU,
};

const char *
cgroup_controller(enum wall wall)
{
	return wall == WALL_CGROUP_MEMORY ? "memory"
	       : wall == WALL_CGROUP_PIDS ? "pids"
	       : wall == WALL_CGROUP_CPU  ? "cpu"
					  : NULL;
}

wall_set
cgroup_why(
    wall_set set, struct err why[WALLS], const char *base, const char *name)
{
	int code = errno;

	for (unsigned i = 0; i < WALLS; i++) {
		errno = code;
		if (set & WALL_BIT(i))
			(void)fail_errno(&why[i], "%s%s%s",
			    cgroup_path_end(base), *name ? "/" : "", name);
	}
	errno = code;
	return set;
}

/* Reads a whole file of /proc, which has no size beforehand. */
static int
slurp(const char *folder, const char *name, struct buf *text)
{
	char path[PATH_MAX];
	own_fd int fd = -1;
	ssize_t n;
	int r;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		r = buf_reserve(text, CGROUP_TEXT_MAX);
		if (r < 0)
			return r;
		n = read(fd, text->p + text->n, CGROUP_TEXT_MAX);
		text->n += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	return n < 0 ? -errno : buf_add(text, "", 1);
}

bool
cgroup_line(const char *text, const char *controller, char ret_group[PATH_MAX])
{
	for (const char *line = text; *line; line += *line == '\n') {
		size_t length = strcspn(line, "\n");
		const char *names = memchr(line, ':', length);
		const char *group =
		    names ? memchr(names + 1, ':',
				(size_t)(line + length - names - 1))
			  : NULL;
		char list[NAME_MAX + 1];
		size_t n = group ? (size_t)(group - names - 1) : 0;
		size_t used = group ? (size_t)(line + length - group - 1) : 0;

		line += length;
		if (!group || n >= sizeof(list) || used >= PATH_MAX)
			continue;
		memcpy(list, names + 1, n);
		list[n] = '\0';
		if (controller ? !cgroup_has_word(list, controller) : n > 0)
			continue;
		memcpy(ret_group, group + 1, used);
		ret_group[used] = '\0';
		return true;
	}
	return false;
}

/* Undoes the kernel's "\040" for a blank, in place. */
static void
unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' &&
		    from[2] >= '0' && from[2] <= '7' && from[3] >= '0' &&
		    from[3] <= '7') {
			*to = (char)((from[1] - '0') << 6 |
				     (from[2] - '0') << 3 | (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* 36 35 98:0 /root /point options [tags ...] - type source super */
static bool
mount_parse(char *line, struct mount *ret_mount)
{
	char *field[6];
	char *save = NULL;
	char *dash = strstr(line, " - ");

	if (!dash)
		return false;
	*dash = '\0';
	for (unsigned i = 0; i < 6; i++) {
		field[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!field[i])
			return false;
	}
	ret_mount->root = field[3];
	ret_mount->point = field[4];
	ret_mount->options = field[5];
	ret_mount->type = strtok_r(dash + 3, " ", &save);
	if (!ret_mount->type || !strtok_r(NULL, " ", &save))
		return false;
	ret_mount->super = strtok_r(NULL, " ", &save);
	if (!ret_mount->super)
		return false;
	unescape(ret_mount->root);
	unescape(ret_mount->point);
	return true;
}

/* The directory of the group below a mount; false: it is not below. */
static bool
mount_dir(const struct mount *mount, const char *group, char ret_dir[PATH_MAX])
{
	size_t n = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
	const char *rest = group + n;

	/* "/..": the other side of a namespace's border has no names. */
	if (strncmp(group, "/..", 3) == 0 ||
	    strncmp(mount->root, "/..", 3) == 0 ||
	    strncmp(group, mount->root, n) != 0 || (*rest && *rest != '/'))
		return false;
	if (strcmp(rest, "/") == 0)
		rest = "";
	return snprintf(ret_dir, PATH_MAX, "%s%s", mount->point, rest) <
	       PATH_MAX;
}

/* Looks through the mounts for the one that shows the group; one that may be
 * written to is better. text is left as it is. */
static int
place_find(const struct buf *text, const char *controller, const char *group,
    struct place *ret_place)
{
	own_mem char *copy = malloc(text->n);
	char *save = NULL;

	ret_place->found = false;
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text->p, text->n);
	for (char *line = strtok_r(copy, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		struct mount mount;
		char dir[PATH_MAX];
		bool read_only;

		if (!mount_parse(line, &mount) ||
		    strcmp(mount.type, controller ? "cgroup" : "cgroup2") !=
			0 ||
		    (controller && !cgroup_has_word(mount.super, controller)))
			continue;
		read_only = cgroup_has_word(mount.options, "ro") ||
			    cgroup_has_word(mount.super, "ro");
		if ((ret_place->found && read_only) ||
		    !mount_dir(&mount, group, dir))
			continue;
		ret_place->found = true;
		ret_place->read_only = read_only;
		memcpy(ret_place->dir, dir, sizeof(dir));
		if (!read_only)
			break;
	}
	return ret_place->found ? 0 : -ENOENT;
}

/* Once the server has moved into its leaf, its keepers are born there: the
 * rooms belong beside it. */
static void
leave_leaf(char *path)
{
	char *last = strrchr(path, '/');

	if (last && strcmp(last + 1, CGROUP_SERVER) == 0)
		*last = '\0';
}

static void
trees_add(struct cgroup_trees *trees, int version, const struct place *place,
    const char group[PATH_MAX], enum wall wall)
{
	struct cgroup_tree *tree = trees->tree;

	for (unsigned i = 0; i < trees->n; i++, tree++)
		if (tree->version == version &&
		    strcmp(tree->base, place->dir) == 0) {
			tree->walls |= WALL_BIT(wall);
			return;
		}
	if (trees->n == CGROUP_TREES_MAX)
		BUG("more control group trees than walls");
	trees->n++;
	tree->version = version;
	tree->read_only = place->read_only;
	tree->walls = WALL_BIT(wall);
	memcpy(tree->base, place->dir, sizeof(tree->base));
	memcpy(tree->group, group, PATH_MAX);
}

static int
wall_place(const char *groups, const struct buf *mounts, enum wall wall,
    struct cgroup_trees *trees, struct err *why)
{
	const char *controller = cgroup_controller(wall);
	char group[PATH_MAX];
	struct place place;
	int version = 1;
	int r;

	/* A controller is in one tree: a line of version 1 has it, or none. */
	if (!controller || !cgroup_line(groups, controller, group)) {
		controller = NULL;
		version = 2;
		if (!cgroup_line(groups, NULL, group))
			return fail(why, ENOENT, "no control groups%s%s",
			    wall == WALL_CGROUP_KILL ? " of version 2" : "",
			    *groups ? "" : " at all");
	}
	r = place_find(mounts, controller, group, &place);
	if (r == -ENOMEM)
		return fail(why, ENOMEM, "out of memory");
	if (r < 0)
		return fail(why, ENOENT,
		    "no mount of version %d%s%s shows the group %s", version,
		    controller ? " with " : "", controller ? controller : "",
		    cgroup_path_end(group));
	if (version == 2) {
		leave_leaf(place.dir);
		leave_leaf(group);
	}
	trees_add(trees, version, &place, group, wall);
	return 0;
}

wall_set
cgroup_find(const char *proc_self, wall_set wanted,
    struct cgroup_trees *ret_trees, struct err why[WALLS])
{
	own_buf struct buf groups;
	own_buf struct buf mounts;
	wall_set found = 0;
	const char *name = "cgroup";
	int r;

	ret_trees->n = 0;
	buf_init(&groups, CGROUP_PROC_MAX);
	buf_init(&mounts, CGROUP_PROC_MAX);
	r = slurp(proc_self, name, &groups);
	if (r == 0) {
		name = "mountinfo";
		r = slurp(proc_self, name, &mounts);
	}
	if (r < 0) {
		errno = -r;
		(void)cgroup_why(wanted & WALLS_CGROUP, why, proc_self, name);
		return 0;
	}
	for (unsigned i = 0; i < sizeof(walls) / sizeof(*walls); i++)
		if ((wanted & WALL_BIT(walls[i])) &&
		    wall_place((const char *)groups.p, &mounts, walls[i],
			ret_trees, &why[walls[i]]) == 0)
			found |= WALL_BIT(walls[i]);
	return found;
}
