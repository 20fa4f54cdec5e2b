/* house_proof.c: a child as it is, not as it was told to be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/house.h"

#include "base/named_field.h"
#include "base/own.h"
#include "rooms/worker_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Of /proc/PID/status: 1.5 KiB in Linux 6.18, and the groups of a user who has
 * many. */
#define STATUS_MAX 16384

static const struct {
	enum wall wall;
	const char *name;
} namespaces[HOUSE_NAMESPACES] = {
	{ WALL_USERNS, "user" },
	{ WALL_MOUNTNS, "mnt" },
	{ WALL_NETNS, "net" },
	{ WALL_IPCNS, "ipc" },
	{ WALL_UTSNS, "uts" },
	{ WALL_CGROUPNS, "cgroup" },
	{ WALL_PIDNS, "pid" },
};

/* The name of a process's namespace; empty if it cannot be read. */
static void
link_read(const struct house *house, const char *process, const char *name,
    char ret_link[HOUSE_LINK_MAX])
{
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/ns/%s", process, name);
	n = readlinkat(house->proc_fd, path, ret_link, HOUSE_LINK_MAX - 1);
	ret_link[n > 0 ? n : 0] = '\0';
}

void
house_proof_open(struct house *house)
{
	for (unsigned i = 0; i < HOUSE_NAMESPACES; i++)
		link_read(
		    house, "self", namespaces[i].name, house->host_links[i]);
}

/* process: a number, or "self". */
static int
status_read(const struct house *house, const char *process,
    char text[STATUS_MAX], struct err *err)
{
	char path[32];
	own_fd int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/status", process);
	fd = openat(house->proc_fd, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, STATUS_MAX - 1);
	if (n < 0)
		return fail_errno(err, "proof: read /proc/%s", path);
	text[n] = '\0';
	return 0;
}

void
house_proof_filters(struct house *house)
{
	char text[STATUS_MAX];
	const char *value = NULL;
	struct err err;

	if (status_read(house, "self", text, &err) == 0)
		value = named_field(text, "Seccomp_filters");
	house->filters = value ? strtol(value, NULL, 10) : -1;
}

static int
not_as_it_must_be(const char *name, const char *value, struct err *err)
{
	return fail(err, EPERM, "proof: %s is %.*s", name,
	    value ? (int)strcspn(value, "\n") : 9, value ? value : "not known");
}

/* The field is that number, in hexadecimal where it is a capability set. */
static int
expect(const char *text, const char *name, int base, uint64_t wanted,
    struct err *err)
{
	const char *value = named_field(text, name);
	char *end;

	if (value && strtoull(value, &end, base) == wanted && end != value)
		return 0;
	return not_as_it_must_be(name, value, err);
}

static int
expect_caps(const struct house *house, const char *text, struct err *err)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff",
		"CapAmb", "CapBnd" };
	size_t n = house->empties_bounding ? 5 : 4;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = expect(text, sets[i], 16, 0, err);
	return r;
}

/* Real, effective, saved and file system user: all the child's. */
static int
expect_ids(const struct house *house, const char *text, struct err *err)
{
	const char *const names[] = { "Uid", "Gid" };

	for (unsigned i = 0; i < 2; i++) {
		const char *value = named_field(text, names[i]);
		char *end = (char *)value;

		for (unsigned j = 0; j < 4; j++)
			if (!value ||
			    strtoul(end, &end, 10) != house->ids.child)
				return fail(err, EPERM, "proof: %s is %.20s",
				    names[i], value ? value : "not known");
	}
	return 0;
}

static int
expect_namespaces(const struct house *house, pid_t pid, struct err *err)
{
	char process[16], link[HOUSE_LINK_MAX];

	(void)snprintf(process, sizeof(process), "%d", (int)pid);
	for (unsigned i = 0; i < HOUSE_NAMESPACES; i++) {
		if (!house_has(house, namespaces[i].wall))
			continue;
		link_read(house, process, namespaces[i].name, link);
		if (!*link || strcmp(link, house->host_links[i]) == 0)
			return fail(err, EPERM, "proof: %s namespace is %s",
			    namespaces[i].name,
			    *link ? "the host's" : "not known");
	}
	return 0;
}

/* Its own, and the zygote's: one that it inherits is not enough. */
static int
expect_filters(const struct house *house, const char *text, struct err *err)
{
	int r = expect(text, "Seccomp", 10, 2, err);

	if (r == 0 && house->filters >= 0)
		r = expect(text, "Seccomp_filters", 10,
		    (uint64_t)house->filters + 2, err);
	return r;
}

static int
expect_status(const struct house *house, const char *text, struct err *err)
{
	int r = expect(text, "Threads", 10, 1, err);

	if (r == 0)
		r = expect(text, "TracerPid", 10, 0, err);
	if (r == 0 && house_has(house, WALL_NO_NEW_PRIVS))
		r = expect(text, "NoNewPrivs", 10, 1, err);
	if (r == 0 && house_has(house, WALL_SECCOMP))
		r = expect_filters(house, text, err);
	if (r == 0 && house_has(house, WALL_CAPS))
		r = expect_caps(house, text, err);
	if (r == 0 && house_has(house, WALL_IDS))
		r = expect_ids(house, text, err);
	return r;
}

/* The process that a pidfd stands for, as /proc counts; 0: it is gone. */
static pid_t
pidfd_number(const struct house *house, int pidfd)
{
	char path[40], text[512];
	own_fd int fd = -1;
	const char *value;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "self/fdinfo/%d", pidfd);
	/* What /proc has of a process that is not dumpable is root's. */
	(void)prctl(PR_SET_DUMPABLE, 1);
	fd = openat(house->proc_fd, path, O_RDONLY | O_CLOEXEC);
	(void)prctl(PR_SET_DUMPABLE, 0);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	value = named_field(text, "Pid");
	return value ? (pid_t)strtol(value, NULL, 10) : 0;
}

/* By its numbers in each namespace, the host's first: it is the first of its
 * own. */
static int
expect_first(const char *text, struct err *err)
{
	const char *value = named_field(text, "NSpid");
	size_t n = value ? strcspn(value, "\n") : 0;

	if (n > 2 && strncmp(value + n - 2, "\t1", 2) == 0)
		return 0;
	return not_as_it_must_be("NSpid", value, err);
}

/* Its user is the children's, and its filters are others. That
 * its namespaces are its own it has looked at itself (cell/cell.c): to the
 * keeper, which is in a Landlock domain that is not above it, they are not
 * shown. */
static int
expect_worker(const struct house *house, const char *text, struct err *err)
{
	wall_set walls = worker_walls(house->grade.raised);
	int r = expect(text, "TracerPid", 10, 0, err);

	if (r == 0 && house_has(house, WALL_NO_NEW_PRIVS))
		r = expect(text, "NoNewPrivs", 10, 1, err);
	if (r == 0 && house_has(house, WALL_SECCOMP))
		r = expect(text, "Seccomp", 10, 2, err);
	if (r == 0 && house_has(house, WALL_CAPS))
		r = expect_caps(house, text, err);
	if (r == 0 && house_has(house, WALL_IDS))
		r = expect_ids(house, text, err);
	return r == 0 && walls & WALL_BIT(WALL_PIDNS) ? expect_first(text, err)
						      : r;
}

int
house_proof_worker(
    const struct house *house, int pidfd, int slot, struct err *err)
{
	char text[STATUS_MAX], process[16];
	pid_t pid = pidfd_number(house, pidfd);
	int r;

	if (pid <= 0)
		return fail(err, EPERM, "proof: a worker that is gone");
	(void)snprintf(process, sizeof(process), "%d", (int)pid);
	r = status_read(house, process, text, err);
	if (r == 0)
		r = expect_worker(house, text, err);
	if (r == 0 && slot >= 0 &&
	    !cgroup_holds(house->cgroup, slot, house->proc_fd, pid))
		r = fail(
		    err, EPERM, "proof: a worker is not in its control group");
	return r;
}

int
house_proof(const struct house *house, pid_t pid, int slot, struct err *err)
{
	char text[STATUS_MAX], process[16];
	int r;

	if (pid <= 0)
		return fail(err, EPERM, "proof: a process without a number");
	(void)snprintf(process, sizeof(process), "%d", (int)pid);
	r = status_read(house, process, text, err);
	if (r == 0)
		r = expect_status(house, text, err);
	if (r == 0)
		r = expect_namespaces(house, pid, err);
	if (r == 0 && slot >= 0 &&
	    !cgroup_holds(house->cgroup, slot, house->proc_fd, pid))
		r = fail(err, EPERM, "proof: it is not in its control group");
	return r;
}
