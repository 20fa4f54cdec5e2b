/* cgroup_slot.c: the use of slots: taken for a child, proved, given back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/cgroup_room.h"

#include "base/own.h"
#include "walls/cgroup_end.h"
#include "walls/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
has_slot(const struct cgroup *cgroup, int slot)
{
	return cgroup && slot >= 0 && (uint32_t)slot < cgroup->n_slots;
}

static uint64_t
oom_count(const struct cgroup_slot *slot)
{
	char text[CGROUP_TEXT_MAX];

	return cgroup_read_fd(slot->oom_fd, text) < 0
		   ? slot->oom_seen
		   : cgroup_value(text, "oom_kill");
}

/* Kills what is in the slot. As cgroup_end. */
static int
slot_end(const struct cgroup *cgroup, uint32_t i)
{
	const struct cgroup_slot *slot = &cgroup->slot[i];
	char name[CGROUP_NAME_MAX];
	char text[CGROUP_TEXT_MAX];
	ssize_t n;

	(void)snprintf(name, sizeof(name), "%u/cgroup.procs", i);
	if (slot->kill_fd < 0)
		return cgroup_end(cgroup->memory_fd, name);
	n = cgroup_read_fd(slot->procs_fd, text);
	if (n <= 0)
		return (int)n;
	return write(slot->kill_fd, "1", 1) < 0 ? -errno : 1;
}

/* Makes the slot free if nothing runs in it. A keeper that may not open the
 * list (version 1, Landlock) relies on the process that it reaped having been
 * the only one, as its other walls have it; what a session that was taken over
 * forked beside its copies is in its group still, and ends with the zygote. */
static void
slot_settle(struct cgroup *cgroup, uint32_t i)
{
	struct cgroup_slot *slot = &cgroup->slot[i];
	int r = slot_end(cgroup, i);

	slot->state = SLOT_ASIDE;
	if (r == 0 || r == -EACCES || r == -EPERM) {
		slot->oom_seen = oom_count(slot);
		slot->state = SLOT_FREE;
	}
}

static int
slot_find(const struct cgroup *cgroup, enum slot_state state)
{
	for (uint32_t i = 0; i < cgroup->n_slots; i++)
		if (cgroup->slot[i].state == state)
			return (int)i;
	return -EAGAIN;
}

int
cgroup_take(struct cgroup *cgroup)
{
	int slot;

	if (!cgroup || cgroup->n_slots == 0)
		return -ENOSYS;
	slot = slot_find(cgroup, SLOT_FREE);
	for (uint32_t i = 0; slot < 0 && i < cgroup->n_slots; i++)
		if (cgroup->slot[i].state == SLOT_ASIDE) {
			slot_settle(cgroup, i);
			slot = slot_find(cgroup, SLOT_FREE);
		}
	if (slot >= 0)
		cgroup->slot[slot].state = SLOT_TAKEN;
	return slot;
}

void
cgroup_release(struct cgroup *cgroup, int slot)
{
	if (has_slot(cgroup, slot) && cgroup->slot[slot].state == SLOT_TAKEN)
		slot_settle(cgroup, (uint32_t)slot);
}

void
cgroup_release_later(struct cgroup *cgroup, int slot)
{
	if (!has_slot(cgroup, slot) || cgroup->slot[slot].state != SLOT_TAKEN)
		return;
	slot_settle(cgroup, (uint32_t)slot);
	cgroup->slot[slot].state = SLOT_ASIDE;
}

int
cgroup_procs_fd(const struct cgroup *cgroup, int slot)
{
	return has_slot(cgroup, slot) ? cgroup->slot[slot].procs_fd : -1;
}

int
cgroup_lists_fd(const struct cgroup *cgroup)
{
	return cgroup ? cgroup->memory_fd : -1;
}

int
cgroup_join(int procs_fd, struct err *err)
{
	if (write(procs_fd, "0", 1) < 0)
		return fail_errno(err, "wall cgroup: joining the slot");
	return 0;
}

unsigned
cgroup_others(
    const struct cgroup *cgroup, int slot, int ret_fds[CGROUP_OTHERS_MAX])
{
	if (!has_slot(cgroup, slot))
		return 0;
	for (unsigned i = 0; i < cgroup->others; i++)
		ret_fds[i] = cgroup->slot[slot].other_fd[i];
	return cgroup->others;
}

static bool
same_file(int a, int b)
{
	struct stat first, second;

	return fstat(a, &first) == 0 && fstat(b, &second) == 0 &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

int
cgroup_join_others(const struct cgroup *cgroup, int procs_fd, struct err *err)
{
	int fds[CGROUP_OTHERS_MAX];
	int r = 0;

	for (uint32_t i = 0; cgroup && i < cgroup->n_slots; i++) {
		if (!same_file(cgroup->slot[i].procs_fd, procs_fd))
			continue;
		for (unsigned j = cgroup_others(cgroup, (int)i, fds);
		     r == 0 && j > 0; j--)
			r = cgroup_join(fds[j - 1], err);
	}
	return r;
}

int
cgroup_move(const struct cgroup *cgroup, int slot, pid_t pid, struct err *err)
{
	char number[16];
	int n = snprintf(number, sizeof(number), "%d", (int)pid);

	if (!has_slot(cgroup, slot))
		return fail(err, EINVAL, "wall cgroup: no such slot");
	if (write(cgroup->slot[slot].procs_fd, number, (size_t)n) < 0)
		return fail_errno(err, "wall cgroup: moving into the slot");
	return 0;
}

uint64_t
cgroup_oom_kills(const struct cgroup *cgroup, int slot)
{
	return has_slot(cgroup, slot) ? oom_count(&cgroup->slot[slot]) -
					    cgroup->slot[slot].oom_seen
				      : 0;
}

static bool
in_group(const struct cgroup *cgroup, const char *text, const char *group)
{
	char found[PATH_MAX];

	return cgroup_line(text, cgroup->memory_version == 1 ? "memory" : NULL,
		   found) &&
	       strcmp(found, group) == 0;
}

bool
cgroup_holds(const struct cgroup *cgroup, int slot, int proc_fd, pid_t pid)
{
	char name[PATH_MAX + CGROUP_NAME_MAX];
	char text[CGROUP_TEXT_MAX];

	if (!has_slot(cgroup, slot))
		return false;
	(void)snprintf(name, sizeof(name), "%d/cgroup", (int)pid);
	if (cgroup_read(proc_fd, name, text) <= 0)
		return false;
	(void)snprintf(name, sizeof(name), "%s/%d", cgroup->group, slot);
	if (in_group(cgroup, text, name))
		return true;
	/* In a control group namespace that began in the keeper's group, the
	 * slots are beside the root. */
	(void)snprintf(name, sizeof(name), "/../%d", slot);
	return in_group(cgroup, text, name) &&
	       cgroup_read_fd(cgroup->keeper_fd, text) > 0 &&
	       in_group(cgroup, text, "/");
}
