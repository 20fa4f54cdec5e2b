/* mountinfo.c: a look at all mounts of this process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/mountinfo.h"

#include "base/own.h"
#include "conf/limits.h"
#include "walls/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* The mounts that there may be: each with whatever lies below it, and the
 * flags of all of these. */
static const struct expected {
	const char *point;
	bool below;
	const char *flags[4];
} expected[] = {
	{ "/", false, { "ro", "nosuid", "nodev", "noexec" } },
	{ WALL_ROOT_ARTIFACTS, true, { "ro", "nosuid", "nodev" } },
	{ "/proc", true, { "ro", "nosuid", "nodev", "noexec" } },
};

#define EXPECTED (sizeof(expected) / sizeof(expected[0]))

static bool
point_is(const struct expected *mount, const char *point)
{
	size_t n = strlen(mount->point);

	if (strcmp(point, mount->point) == 0)
		return true;
	return mount->below && strncmp(point, mount->point, n) == 0 &&
	       point[n] == '/';
}

/* options: words with commas between them. */
static bool
option_is_set(const char *options, const char *flag)
{
	size_t n = strlen(flag);

	for (const char *p = options; p; p = strchr(p, ',')) {
		if (*p == ',')
			p++;
		if (strncmp(p, flag, n) == 0 && (p[n] == ',' || p[n] == '\0'))
			return true;
	}
	return false;
}

static int
mount_check(const char *point, const char *options, unsigned seen[EXPECTED],
    struct err *err)
{
	for (size_t i = 0; i < EXPECTED; i++) {
		if (!point_is(&expected[i], point))
			continue;
		seen[i] += strcmp(point, expected[i].point) == 0;
		for (size_t j = 0; j < 4 && expected[i].flags[j]; j++)
			if (!option_is_set(options, expected[i].flags[j]))
				return fail(err, EPERM,
				    "wall mountns: check: %.100s is not %s",
				    point, expected[i].flags[j]);
		return 0;
	}
	return fail(
	    err, EPERM, "wall mountns: check: %.100s is still mounted", point);
}

/* A line: number, parent, device, root, mount point, options, and more. */
static int
line_check(char *line, unsigned seen[EXPECTED], struct err *err)
{
	char *field[6];
	char *rest = line;

	for (int i = 0; i < 6; i++) {
		field[i] = strsep(&rest, " ");
		if (!field[i])
			return fail(err, EPERM,
			    "wall mountns: check: mountinfo: a short line");
	}
	return mount_check(field[4], field[5], seen, err);
}

int
mountinfo_check_text(char *text, struct err *err)
{
	unsigned seen[EXPECTED] = { 0 };
	char *line;
	int r = 0;

	while (r == 0 && (line = strsep(&text, "\n")))
		if (*line)
			r = line_check(line, seen, err);
	for (size_t i = 0; r == 0 && i < EXPECTED; i++)
		if (seen[i] != 1)
			r = fail(err, EPERM,
			    "wall mountns: check: %u mounts at %s", seen[i],
			    expected[i].point);
	return r;
}

/* The file as a text of less than n bytes. */
static int
mountinfo_read(char *ret_text, size_t n, struct err *err)
{
	own_fd int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	size_t held = 0;
	ssize_t got = 1;

	if (fd < 0)
		return fail_errno(err, "wall mountns: check: open mountinfo");
	while (got > 0 && held < n - 1) {
		got = read(fd, ret_text + held, n - 1 - held);
		held += got > 0 ? (size_t)got : 0;
	}
	if (got < 0)
		return fail_errno(err, "wall mountns: check: read mountinfo");
	if (got > 0)
		return fail(err, EFBIG, "wall mountns: check: mountinfo");
	ret_text[held] = '\0';
	return 0;
}

int
mountinfo_check(struct err *err)
{
	char *text = malloc(MOUNTINFO_MAX);
	int r;

	if (!text)
		return fail(err, ENOMEM, "wall mountns: check: no memory");
	r = mountinfo_read(text, MOUNTINFO_MAX, err);
	if (r == 0)
		r = mountinfo_check_text(text, err);
	free(text);
	return r;
}
