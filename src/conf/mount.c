/* mount.c: HOST:GUEST:ro, read from its end: a path of the host's may have
 * colons.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/mount.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The part behind the last colon; *text ends before it. A text without one has
 * no part: its p is NULL. */
static struct span
take_last(struct span *text)
{
	for (size_t i = text->n; i > 0; i--) {
		struct span part = { text->p + i, text->n - i };

		if (text->p[i - 1] != ':')
			continue;
		text->n = i - 1;
		return part;
	}
	return (struct span){ 0 };
}

/* Absolute, with no empty component, "." or ".." in it. */
static bool
is_normal(struct span path)
{
	size_t start = 1;

	if (path.n < 2 || path.p[0] != '/')
		return false;
	for (size_t i = 1; i <= path.n; i++) {
		size_t n = i - start;

		if (i < path.n && path.p[i] != '/')
			continue;
		if (n == 0 || (n == 1 && path.p[start] == '.') ||
		    (n == 2 && memcmp(path.p + start, "..", 2) == 0))
			return false;
		start = i + 1;
	}
	return true;
}

/* True for dir and what is below it. */
static bool
is_at_or_below(struct span path, struct span dir)
{
	return path.n >= dir.n && memcmp(path.p, dir.p, dir.n) == 0 &&
	       (path.n == dir.n || path.p[dir.n] == '/');
}

static bool
is_taken(struct span guest)
{
	return span_is(guest, "/workspace") || span_is(guest, "/tmp") ||
	       is_at_or_below(guest, span_of("/usr")) ||
	       is_at_or_below(guest, span_of("/dev"));
}

const char *
mount_read(const char *text, struct mount *ret_mount)
{
	struct span rest = span_of(text);
	struct span mode = take_last(&rest);
	struct mount mount = { .guest = take_last(&rest), .cow = false };

	if (span_is(mode, "cow"))
		mount.cow = true;
	else if (!span_is(mode, "ro"))
		return "it does not end with :ro or :cow";
	if (!mount.guest.p || rest.n == 0)
		return "it is not HOST:GUEST:ro";
	if (!is_normal(mount.guest))
		return "the guest's path is not absolute and plain";
	if (mount.guest.n > MOUNT_GUEST_MAX)
		return "the guest's path is too long";
	if (is_taken(mount.guest))
		return "that place of the guest is taken";
	mount.host = rest;
	*ret_mount = mount;
	return NULL;
}

int
mount_look(const char *text, struct err *err)
{
	char host[PATH_MAX];
	struct mount mount;
	struct stat found;
	const char *why = mount_read(text, &mount);

	if (why || mount.host.n >= sizeof(host))
		return fail(err, EINVAL, "--mount %.100s: %s", text,
		    why ? why : "the path is too long");
	memcpy(host, mount.host.p, mount.host.n);
	host[mount.host.n] = '\0';
	if (stat(host, &found) < 0 || access(host, R_OK) < 0)
		return fail_errno(err, "--mount: open %.180s", host);
	if (!S_ISDIR(found.st_mode) && !S_ISREG(found.st_mode))
		return fail(err, ENOTDIR,
		    "--mount: %.180s is neither a directory nor a file", host);
	return 0;
}

bool
mounts_clash(const struct mount *a, const struct mount *b)
{
	return is_at_or_below(a->guest, b->guest) ||
	       is_at_or_below(b->guest, a->guest);
}
