/* house.c: the order of the walls. house.h has the theory of operation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/house.h"

#include "base/fd.h"
#include "conf/limits.h"
#include "rooms/worker_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* One of raise and plain is there. */
struct step {
	enum wall wall;
	int (*raise)(struct house *house, struct err *err);
	int (*plain)(struct err *err);
};

bool
house_has(const struct house *house, enum wall wall)
{
	return house->grade.raised & WALL_BIT(wall);
}

/* ---- the keeper ---- */

/* Children that are another user's are killed, and looked at. */
static uint64_t
keeper_caps(const struct house *house)
{
	return house_has(house, WALL_IDS)
		   ? CAP_BIT(CAP_KILL) | CAP_BIT(CAP_SYS_PTRACE)
		   : 0;
}

/* Until it has a nurse, whose they are then: a namespace of process numbers for
 * each zygote; the zygote's root, user and capabilities. */
static uint64_t
nurse_caps(const struct house *house)
{
	uint64_t caps = keeper_caps(house) | CAP_BIT(CAP_SETPCAP);

	if (house_has(house, WALL_PIDNS))
		caps |= CAP_BIT(CAP_SYS_ADMIN);
	if (house_has(house, WALL_MOUNTNS))
		caps |= CAP_BIT(CAP_SYS_CHROOT);
	if (house_has(house, WALL_IDS))
		caps |= CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID);
	return caps;
}

static int
raise_userns(struct house *house, struct err *err)
{
	return wall_userns(&house->ids, err);
}

/* A descriptor from before would lead out of the new root. */
static int
reopen(int *fd, const char *path, struct err *err)
{
	int fresh = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fresh < 0)
		return fail_errno(err, "wall mountns: open %s", path);
	fd_close(*fd);
	*fd = fresh;
	return 0;
}

static int
raise_mountns(struct house *house, struct err *err)
{
	int r = wall_mountns(house->artifacts_fd, err);

	if (r == 0)
		r = reopen(&house->artifacts_fd, WALL_ROOT_ARTIFACTS, err);
	if (r == 0)
		r = reopen(&house->proc_fd, "/proc", err);
	return r;
}

static int
raise_keeper_ids(struct house *house, struct err *err)
{
	if (!(wall_caps_held() & CAP_BIT(CAP_KILL)))
		return fail(err, EPERM,
		    "wall ids: without CAP_KILL another user's children "
		    "could not be killed");
	return wall_ids(
	    house->ids.keeper, nurse_caps(house) & wall_caps_held(), err);
}

static int
raise_keeper_caps(struct house *house, struct err *err)
{
	return wall_caps(nurse_caps(house) & wall_caps_held(), err);
}

/* Becoming another user has cleared the death signal. */
static int
raise_keeper_parent(struct house *house, struct err *err)
{
	return wall_parent(house->parent, err);
}

static int
raise_keeper_landlock(struct house *house, struct err *err)
{
	int dirs[] = { house->artifacts_fd, house->proc_fd, -1 };
	unsigned n = 2;

	if (house->cgroup)
		dirs[n] = cgroup_lists_fd(house->cgroup);
	n += dirs[n] >= 0;
	return wall_landlock(dirs, n, &house->grade.landlock_abi, err);
}

static int
raise_keeper_seccomp(struct house *house, struct err *err)
{
	(void)house;
	return wall_seccomp(SECCOMP_KEEPER, err);
}

/* Namespaces while there are capabilities for them; then who we are; then
 * what the kernel may be asked for, the narrowest last. */
static const struct step user_steps[] = {
	{ WALL_USERNS, raise_userns },
};

static const struct step keeper_steps[] = {
	{ WALL_MOUNTNS, raise_mountns },
	{ WALL_NETNS, .plain = wall_netns },
	{ WALL_IPCNS, .plain = wall_ipcns },
	{ WALL_UTSNS, .plain = wall_utsns },
	{ WALL_CGROUPNS, .plain = wall_cgroupns },
	{ WALL_IDS, raise_keeper_ids },
	{ WALL_CAPS, raise_keeper_caps },
	{ WALL_PARENT, raise_keeper_parent },
	{ WALL_NO_NEW_PRIVS, .plain = wall_no_new_privs },
	{ WALL_LANDLOCK, raise_keeper_landlock },
	{ WALL_SECCOMP, raise_keeper_seccomp },
};

/* ---- the zygote ---- */

static int
raise_child_ids(struct house *house, struct err *err)
{
	return wall_ids(
	    house->ids.child, CAP_BIT(CAP_SETPCAP) & wall_caps_held(), err);
}

static int
raise_no_caps(struct house *house, struct err *err)
{
	(void)house;
	return wall_caps(0, err);
}

/* Its parent was set before; 0 asks for the signal alone. */
static int
raise_parent_again(struct house *house, struct err *err)
{
	(void)house;
	return wall_parent(0, err);
}

static int
raise_landlock(struct house *house, struct err *err)
{
	(void)house;
	return wall_landlock(NULL, 0, NULL, err);
}

static int
raise_zygote_seccomp(struct house *house, struct err *err)
{
	return wall_seccomp(
	    house->worker ? SECCOMP_PROXY_ZYGOTE : SECCOMP_ZYGOTE, err);
}

static const struct step zygote_steps[] = {
	{ WALL_MOUNTNS, .plain = wall_mountns_leave },
	{ WALL_IDS, raise_child_ids },
	{ WALL_CAPS, raise_no_caps },
	{ WALL_PARENT, raise_parent_again },
	{ WALL_MDWE, .plain = wall_mdwe },
	{ WALL_LANDLOCK, raise_landlock },
	{ WALL_SECCOMP, raise_zygote_seccomp },
};

/* ---- a child ---- */

static int
raise_slot(struct house *house, struct err *err)
{
	/* Not a proxy: its worker does. */
	return house->child.procs_fd < 0 || house->worker
		   ? 0
		   : cgroup_join(house->child.procs_fd, err);
}

static int
raise_child_parent(struct house *house, struct err *err)
{
	return wall_parent(house->child.zygote, err);
}

static int
raise_fds(struct house *house, struct err *err)
{
	const int kept[] = { HOUSE_CHANNEL_FD, PROXY_FACTORY_FD,
		PROXY_PROCS_FD };
	unsigned n = !house->worker ? 1 : house->child.procs_fd < 0 ? 2 : 3;

	return wall_fds(house->null_fd, kept, n, err);
}

static const struct step child_first_steps[] = {
	{ WALL_CGROUP_MEMORY, raise_slot },
	{ WALL_PARENT, raise_child_parent },
	{ WALL_FDS, raise_fds },
};

static int
raise_rlimits(struct house *house, struct err *err)
{
	/* In the room's own user namespace its processes alone are counted:
	 * who forks without end meets this before the room's group is full. */
	uint32_t processes = house_has(house, WALL_USERNS)
				 ? house->session_processes
				 : SESSION_NPROC;

	if (house->worker)
		return wall_rlimits(PROXY_BYTES, PROXY_FDS_MAX, 0, err);
	if (house->child.session)
		return wall_rlimits(
		    house->child_bytes, SESSION_FDS_MAX, processes, err);
	return wall_rlimits(house->child_bytes, CHILD_FDS_MAX, 0, err);
}

static int
raise_child_seccomp(struct house *house, struct err *err)
{
	if (house->worker)
		return wall_seccomp(SECCOMP_PROXY, err);
	return wall_seccomp(
	    house->child.session ? SECCOMP_SESSION : SECCOMP_CHILD, err);
}

/* A Landlock domain of its own: siblings do not reach each other either. */
static const struct step child_last_steps[] = {
	{ WALL_LANDLOCK, raise_landlock },
	{ WALL_RLIMITS, raise_rlimits },
	{ WALL_SECCOMP, raise_child_seccomp },
};

/* A fork keeps filters, limits and domain, not the signal. Into its group the
 * keeper moves it: that takes a descriptor by which any process can be moved.
 */
static const struct step branch_steps[] = {
	{ WALL_PARENT, raise_child_parent },
};

/* ---- taking steps ---- */

/* These may fail halfway, and leave a process that shows nothing about the
 * walls after them. */
#define WALLS_SPOILING (WALL_BIT(WALL_USERNS) | WALL_BIT(WALL_MOUNTNS))

/* Raises what the grade has. trial: notes a failure, and goes on if that makes
 * sense. */
static int
steps_take(struct house *house, const struct step *steps, size_t n, bool trial,
    struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		int r = 0;

		if (house_has(house, steps[i].wall))
			r = steps[i].plain ? steps[i].plain(err)
					   : steps[i].raise(house, err);
		if (r < 0 && trial)
			house_note(house, steps[i].wall, err);
		if (r < 0 &&
		    (!trial || WALL_BIT(steps[i].wall) & WALLS_SPOILING))
			return r;
	}
	return 0;
}

#define STEPS(steps) steps, sizeof(steps) / sizeof((steps)[0])

static int
keeper_take(struct house *house, bool trial, struct err *err)
{
	bool privileged = wall_caps_held() & CAP_BIT(CAP_SETPCAP);
	int r;

	house->parent = getppid();
	r = trial ? steps_take(house, STEPS(user_steps), trial, err) : 0;
	if (r == 0)
		r = steps_take(house, STEPS(keeper_steps), trial, err);
	house->empties_bounding = privileged || house_has(house, WALL_USERNS);
	house_proof_filters(house);
	(void)prctl(PR_SET_DUMPABLE, 0);
	return r;
}

static int
child_last_take(struct house *house, bool trial, struct err *err)
{
	/* The keeper, and nobody else, is to look at it; a core is not
	 * written either way (RLIMIT_CORE). */
	(void)prctl(PR_SET_DUMPABLE, 1);
	return steps_take(house, STEPS(child_last_steps), trial, err);
}

int
house_enter_user(struct house *house, struct err *err)
{
	return steps_take(house, STEPS(user_steps), false, err);
}

int
house_enter(struct house *house, struct wire_conf *conf, struct err *err)
{
	int r = keeper_take(house, false, err);

	if (r == 0 && house_has(house, WALL_MOUNTNS))
		(void)snprintf(conf->artifacts_dir, sizeof(conf->artifacts_dir),
		    WALL_ROOT_ARTIFACTS);
	else if (r == 0) /* the way to it may be closed to our user */
		(void)snprintf(conf->artifacts_dir, sizeof(conf->artifacts_dir),
		    "/proc/self/fd/%d", HOUSE_ARTIFACTS_FD);
	return r;
}

int
house_narrow(struct house *house, struct err *err)
{
	return house_has(house, WALL_CAPS)
		   ? wall_caps(keeper_caps(house) & wall_caps_held(), err)
		   : 0;
}

int
house_zygote(struct house *house, struct err *err)
{
	return steps_take(house, STEPS(zygote_steps), false, err);
}

int
house_child_first(struct house *house, struct err *err)
{
	return steps_take(house, STEPS(child_first_steps), false, err);
}

int
house_child_last(struct house *house, struct err *err)
{
	return child_last_take(house, false, err);
}

int
house_branch(struct house *house, struct err *err)
{
	return steps_take(house, STEPS(branch_steps), false, err);
}

int
house_try_keeper(struct house *house)
{
	struct err err;

	return keeper_take(house, true, &err);
}

void
house_try_zygote(struct house *house)
{
	struct err err;

	(void)steps_take(house, STEPS(zygote_steps), true, &err);
}

void
house_try_child(struct house *house)
{
	struct err err;

	(void)steps_take(house, STEPS(child_first_steps), true, &err);
	(void)child_last_take(house, true, &err);
}

/* ---- the start ---- */

static int
house_files(struct house *house, const char *artifacts_dir, struct err *err)
{
	house->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (house->null_fd < 0)
		return fail_errno(err, "open /dev/null");
	/* A room may need nothing that was installed. */
	house->artifacts_fd = open(artifacts_dir[0] ? artifacts_dir : "/proc",
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (house->artifacts_fd < 0)
		return fail_errno(err, "open %.200s", artifacts_dir);
	house->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (house->proc_fd < 0)
		return fail_errno(err, "open /proc");
	return 0;
}

/* Of one child; of a worker, which its own limit stops before. */
static uint32_t
slot_processes(const struct house *house, const struct wire_conf *conf)
{
	if (house->worker)
		return conf->processes + WORKER_PIDS;
	return conf->sessions > 0 ? CGROUP_SESSION_PIDS : CGROUP_SLOT_PIDS;
}

static void
house_groups(struct house *house, const struct wire_conf *conf)
{
	const uint32_t slots =
	    ROOM_SLOTS(conf->concurrency, conf->sessions, conf->ready);
	const struct cgroup_limits limits = {
		.slot_memory_bytes = house->child_bytes,
		/* What a session may not fork any more, others still may. */
		.processes =
		    (conf->sessions > 0 ? 2u : 1u) * house->session_processes +
		    (house->worker ? slots * slot_processes(house, conf) : 0u),
		.slot_processes = slot_processes(house, conf),
		.slot_cpus_milli = house->worker ? conf->cpus_milli : 0,
		.slots = slots,
	};
	struct err why[WALLS] = { 0 };
	wall_set missing = 0;

	cgroup_open(&limits, house->grade.raised & WALLS_CGROUP, &house->cgroup,
	    &missing, why);
	for (unsigned i = 0; i < WALLS; i++)
		if (missing & WALL_BIT(i))
			house_note(house, (enum wall)i, &why[i]);
}

/* Until nothing new is missing: a wall that fails may hide others, which the
 * next trial sees without it; and again where one was killed, which says
 * nothing of the walls. The groups are made while the first one runs: both take
 * their time. */
static int
house_try(struct house *house, const struct wire_conf *conf, struct err *err)
{
	struct trial trial;
	wall_set before;
	bool grouped = false;
	unsigned lost = 0;
	int r;

	do {
		before = house->grade.missing;
		r = house_trial_begin(house, &trial, err);
		if (r == 0 && !grouped) {
			house_groups(house, conf);
			grouped = true;
		}
		if (r == 0)
			r = house_trial_end(house, &trial, err);
		before |= house->grade.missing & WALLS_CGROUP;
		lost += r == -EAGAIN;
	} while ((r == -EAGAIN && lost < TRIALS_LOST_MAX) ||
		 (r == 0 && house->grade.missing != before));
	return r;
}

int
house_open(struct house *house, const struct room_kind *kind,
    const struct wire_conf *conf, wall_set off, struct err *err)
{
	struct err none = { EPERM, "this user may not become another" };
	int r;

	*house = (struct house){ .proc_fd = -1,
		.null_fd = -1,
		.artifacts_fd = -1,
		.child = { .procs_fd = -1 },
		.grade = { .required = kind->required & ~off,
		    .raised = WALLS_ALL & ~off } };
	r = house_files(house, conf->artifacts_dir, err);
	if (r == 0 && kind->check)
		r = kind->check(house->artifacts_fd, err);
	if (r < 0)
		return r;
	house->child_bytes = kind->child_bytes(conf, house->artifacts_fd);
	house->session_processes =
	    ROOM_PROCESSES(conf->concurrency, conf->sessions, conf->ready);
	house_proof_open(house);
	house->worker = kind->flags & ROOM_WORKER;
	house->ids = wall_ids_find();
	if (!house->ids.many)
		house_note(house, WALL_IDS, &none);
	r = house_try(house, conf, err);
	house->grade.allowed = house->grade.missing & conf->allowed;
	return r;
}

wall_set
house_lacks(const struct house *house)
{
	return house->grade.required & house->grade.missing &
	       ~house->grade.allowed;
}
