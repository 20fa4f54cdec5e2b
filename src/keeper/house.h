/* house.h: the walls of a room as a whole: which there are, and the order in
 * which its kinds of process raise them: the keeper (whose nurse has them by
 * that), the zygote, a child.
 *
 * The keeper moves into namespaces, gives up its user and nearly all
 * capabilities, and promises its system calls; zygote and children inherit
 * that and add their own. All of it is first tried in a throw-away process,
 * wall by wall, so that a grade is what was seen to work here and now. From
 * then on a wall of the grade that fails is an error.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_HOUSE_H
#define KEEPER_HOUSE_H

#include "base/err.h"
#include "call/wire.h"
#include "conf/wall.h"
#include "rooms/kind.h"
#include "walls/cgroup.h"
#include "walls/walls.h"

#define HOUSE_NAMESPACES   7
#define HOUSE_LINK_MAX     40 /* bytes of "user:[4026531837]" and its like */
#define HOUSE_CHANNEL_FD   3  /* of a zygote or child: all that it has, but */
#define HOUSE_NULL_FD      4  /* the zygote's of /dev/null */
#define HOUSE_ARTIFACTS_FD 5  /* and of the artifacts, without a mountns */

/* What a child brings when it is forked. */
struct house_child {
	pid_t zygote;
	int procs_fd; /* of its slot; -1: none */
	bool session; /* it may stay and branch */
};

struct house {
	struct wire_grade grade;
	struct wall_ids ids;
	pid_t parent;               /* the launcher */
	struct cgroup *cgroup;      /* owned; NULL: none */
	int proc_fd;                /* /proc */
	int null_fd;                /* /dev/null */
	int artifacts_fd;           /* their directory */
	uint64_t child_bytes;       /* of memory, as its kind says */
	bool worker;                /* a child is the proxy of a worker */
	uint32_t session_processes; /* of the room, before a session forks */
	long filters; /* of the keeper's; -1: the kernel does not count them */
	bool empties_bounding;    /* children have an empty bounding set */
	struct house_child child; /* in a child: what it brings */
	/* The host's, as readlink gives them; empty where that has none. */
	char host_links[HOUSE_NAMESPACES][HOUSE_LINK_MAX];
};

/* Opens what is needed, makes the control groups, tries all walls but those
 * in off, and fills house->grade. 0 or -errno: it could not be tried; a wall
 * that is missing is no error. */
int house_open(struct house *house, const struct room_kind *kind,
    const struct wire_conf *conf, wall_set off, struct err *err);

/* The required walls that are missing and not allowed to be. */
wall_set house_lacks(const struct house *house);

/* The keeper's first step: the namespace in which it has its users. */
int house_enter_user(struct house *house, struct err *err);

/* The keeper moves in. Changes conf->artifacts_dir to where it is seen from
 * inside. 0; -errno with the wall's name. */
int house_enter(struct house *house, struct wire_conf *conf, struct err *err);

/* The keeper, once it has a nurse that keeps what it takes to fork zygotes:
 * only what children need who are another user's. */
int house_narrow(struct house *house, struct err *err);

/* The zygote's walls, once it has loaded the room and opens nothing more. */
int house_zygote(struct house *house, struct err *err);

/* A child's, before and after it prepares. Its socket is HOUSE_CHANNEL_FD. */
int house_child_first(struct house *house, struct err *err);
int house_child_last(struct house *house, struct err *err);

/* The copy of a session's child, with house->child its own: what it has not
 * inherited. */
int house_branch(struct house *house, struct err *err);

/* True if this process may raise the wall: it is in the grade. */
bool house_has(const struct house *house, enum wall wall);

/* ---- house_proof.c ---- */

/* Remembers the host's namespaces, from house->proc_fd. */
void house_proof_open(struct house *house);

/* Remembers how many filters this process is behind; children have two more. */
void house_proof_filters(struct house *house);

/* Looks at process pid from outside: every wall of the grade that can be seen
 * there is up. slot: its control group, -1: none. 0; -EPERM with what is not
 * as it must be. */
int house_proof(
    const struct house *house, pid_t pid, int slot, struct err *err);

/* The same for a worker, of which a pidfd is known: it can gain nothing, and
 * is none of the host's processes. */
int house_proof_worker(
    const struct house *house, int pidfd, int slot, struct err *err);

/* ---- house_trial.c ---- */

struct trial {
	pid_t pid;
	int fd; /* its report */
};

/* Begins to try all walls in house->grade.raised, in a throw-away process. */
int house_trial_begin(
    struct house *house, struct trial *ret_trial, struct err *err);

/* Waits for what came of it: moves those that failed to house->grade.missing.
 * 0; -EAGAIN: it has ended without a word, as when it was killed, and may be
 * made again; -EIO: it did not come to an end. */
int house_trial_end(struct house *house, struct trial *trial, struct err *err);

/* The wall is missing, because of err. */
void house_note(struct house *house, enum wall wall, const struct err *err);

/* A system call that a child's filter kills at. */
void house_forbidden(void);

/* What the trial does: as the functions above, but goes on where a wall fails,
 * and notes it. */
int house_try_keeper(struct house *house); /* negative: no use to go on */
void house_try_zygote(struct house *house);
void house_try_child(struct house *house);

#endif
