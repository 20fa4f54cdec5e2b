/* promise.c: the promises of server, launcher, watcher and saver.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/promise.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

/* What a keeper that root's launcher starts may need to build its walls.
 * CAP_DAC_OVERRIDE: the top directories of control groups are writable by
 * nobody. CAP_SETFCAP: a root who cannot become another user is mapped into a
 * user namespace with it only, since Linux 5.12. */
#define LAUNCHER_CAPS                                                          \
	(CAP_BIT(CAP_DAC_OVERRIDE) | CAP_BIT(CAP_SYS_ADMIN) |                  \
	    CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID) | CAP_BIT(CAP_SETPCAP) | \
	    CAP_BIT(CAP_KILL) | CAP_BIT(CAP_SETFCAP) |                         \
	    CAP_BIT(CAP_SYS_PTRACE) | CAP_BIT(CAP_SYS_CHROOT))

/* The result of raising a wall: noted if it may be missing. */
static int
settle(int r, enum wall wall, wall_set allowed, wall_set *missing)
{
	if (r == 0)
		return 0;
	*missing |= WALL_BIT(wall);
	return allowed & WALL_BIT(wall) ? 0 : r;
}

int
promise_server(const struct wall_ids *ids, wall_set allowed,
    wall_set *ret_missing, struct err *err)
{
	wall_set missing = 0;
	int r = 0;

	if (!ids->many && geteuid() == 0)
		missing |= WALL_BIT(WALL_IDS); /* said, and no error */
	if (ids->many)
		r = settle(wall_ids(ids->server,
			       CAP_BIT(CAP_SETPCAP) & wall_caps_held(), err),
		    WALL_IDS, allowed, &missing);
	if (r == 0)
		r = settle(wall_caps(0, err), WALL_CAPS, allowed, &missing);
	if (r == 0)
		r = settle(wall_no_new_privs(err), WALL_NO_NEW_PRIVS, allowed,
		    &missing);
	if (r == 0)
		r = settle(wall_landlock(NULL, 0, NULL, err), WALL_LANDLOCK,
		    WALL_BIT(WALL_LANDLOCK), &missing);
	(void)prctl(PR_SET_DUMPABLE, 0);
	if (r == 0)
		r = settle(wall_seccomp(SECCOMP_SERVER, err), WALL_SECCOMP,
		    allowed, &missing);
	*ret_missing = missing;
	return r;
}

void
promise_launcher(wall_set *ret_missing)
{
	struct err err;

	*ret_missing = 0;
	(void)settle(wall_caps(LAUNCHER_CAPS & wall_caps_held(), &err),
	    WALL_CAPS, WALLS_ALL, ret_missing);
	(void)settle(
	    wall_no_new_privs(&err), WALL_NO_NEW_PRIVS, WALLS_ALL, ret_missing);
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)settle(wall_seccomp(SECCOMP_LAUNCHER, &err), WALL_SECCOMP,
	    WALLS_ALL, ret_missing);
}

void
promise_watcher(const int *dirs, unsigned n, wall_set *ret_missing)
{
	/* Root's watcher reads files of other users, too: of the service's. */
	uint64_t keep = CAP_BIT(CAP_DAC_READ_SEARCH) & wall_caps_held();
	struct err err;

	*ret_missing = 0;
	(void)settle(wall_caps(keep, &err), WALL_CAPS, WALLS_ALL, ret_missing);
	(void)settle(
	    wall_no_new_privs(&err), WALL_NO_NEW_PRIVS, WALLS_ALL, ret_missing);
	(void)settle(wall_landlock(dirs, n, NULL, &err), WALL_LANDLOCK,
	    WALLS_ALL, ret_missing);
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)settle(wall_seccomp(SECCOMP_WATCHER, &err), WALL_SECCOMP,
	    WALLS_ALL, ret_missing);
}

void
promise_saver(int dir, wall_set *ret_missing)
{
	/* Root's saver writes into other users' directories, too. */
	uint64_t keep = CAP_BIT(CAP_DAC_OVERRIDE) & wall_caps_held();
	struct err err;

	*ret_missing = 0;
	(void)settle(wall_caps(keep, &err), WALL_CAPS, WALLS_ALL, ret_missing);
	(void)settle(
	    wall_no_new_privs(&err), WALL_NO_NEW_PRIVS, WALLS_ALL, ret_missing);
	(void)settle(wall_landlock_make(dir, &err), WALL_LANDLOCK, WALLS_ALL,
	    ret_missing);
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)settle(wall_seccomp(SECCOMP_SAVER, &err), WALL_SECCOMP, WALLS_ALL,
	    ret_missing);
}
