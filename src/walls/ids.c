/* ids.c: the users that processes become.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/walls.h"

#include "conf/limits.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Not every kernel, and no imitation of one, must be believed. */
static bool
ids_are(uid_t id)
{
	uid_t user[3];
	gid_t group[3];

	if (getresuid(&user[0], &user[1], &user[2]) < 0 ||
	    getresgid(&group[0], &group[1], &group[2]) < 0)
		return false;
	for (int i = 0; i < 3; i++)
		if (user[i] != id || group[i] != id)
			return false;
	return setfsuid((uid_t)-1) == (int)id &&
	       setfsgid((gid_t)-1) == (int)id && getgroups(0, NULL) == 0;
}

int
wall_ids(uid_t id, uint64_t keep, struct err *err)
{
	/* All capabilities survive, and wall_caps gives up the most: from a
	 * user who is not root in this namespace none would be taken. */
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		return fail_errno(err, "wall ids: PR_SET_KEEPCAPS");
	/* Where groups may not be set (a user namespace made without
	 * privilege), having none is as good. */
	if (getgroups(0, NULL) != 0 && setgroups(0, NULL) < 0)
		return fail_errno(err, "wall ids: setgroups");
	if (setresgid(id, id, id) < 0)
		return fail_errno(err, "wall ids: setresgid %u", id);
	if (setresuid(id, id, id) < 0)
		return fail_errno(err, "wall ids: setresuid %u", id);
	if (!ids_are(id))
		return fail(err, EPERM, "wall ids: not user %u alone", id);
	if (prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) < 0)
		return fail_errno(err, "wall ids: PR_SET_KEEPCAPS 0");
	return wall_caps(keep, err);
}

/* All of them, one after the other: a number that is not mapped in this
 * namespace fails. */
static bool
ids_become(const struct wall_ids *ids)
{
	const uint64_t keep = CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID);

	return wall_ids(ids->server, keep, NULL) == 0 &&
	       wall_ids(ids->keeper, keep, NULL) == 0 &&
	       wall_ids(ids->child, 0, NULL) == 0;
}

struct wall_ids
wall_ids_find(void)
{
	struct wall_ids ids = {
		.server = SERVER_ID, .keeper = KEEPER_ID, .child = CHILD_ID
	};
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(ids_become(&ids) ? 0 : 1);
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return ids; /* its end was not seen: not known */
	ids.many = pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return ids;
}
