/* house_trial.c: all walls, tried where it costs nothing.
 *
 *   keeper ─fork→ trial ─fork→ trial's child
 *     ▲             │ raises the keeper's walls
 *     │             ▼
 *     └──grade── looks at its child, which has raised the zygote's and a
 *                child's walls and then must die at a forbidden call
 *
 * One of the two that is killed by somebody else has shown nothing: then there
 * is no grade.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/house.h"

#include "base/fd.h"
#include "base/process.h"
#include "conf/limits.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void
house_note(struct house *house, enum wall wall, const struct err *err)
{
	house->grade.raised &= ~WALL_BIT(wall);
	house->grade.missing |= WALL_BIT(wall);
	(void)snprintf(
	    house->grade.why[wall], WALL_WHY_MAX, "%.99s", err->text);
}

void
house_forbidden(void)
{
	(void)syscall(SYS_getppid);
}

/* The zygote's and a child's walls in one process: what it inherits from a
 * zygote it would have in the same way. */
static _Noreturn void
trial_child(struct house *house, int channel, pid_t trial)
{
	char go;

	house->child = (struct house_child){ .zygote = trial, .procs_fd = -1 };
	/* Numbers as a child's: its last filter knows only this one. */
	if (channel != HOUSE_CHANNEL_FD && dup2(channel, HOUSE_CHANNEL_FD) < 0)
		_exit(1);
	house_try_zygote(house);
	house_try_child(house);
	if (fd_send_all(HOUSE_CHANNEL_FD, &house->grade, sizeof(house->grade)) <
		0 ||
	    fd_read_all(HOUSE_CHANNEL_FD, &go, 1) < 0)
		_exit(1);
	house_forbidden();
	_exit(0);
}

/* What the child could raise, and what can be seen of it. -EAGAIN: it was
 * killed, and nothing of that counts. */
static int
trial_judge(struct house *house, int channel, pid_t pid)
{
	struct err err = { EIO, "the trial's child ended" };
	int status = 0;

	if (fd_read_all(channel, &house->grade, sizeof(house->grade)) < 0) {
		(void)waitpid(pid, &status, 0);
		(void)fail(&err, EIO, "a child with it ends with status %#x",
		    (unsigned)status);
		house_note(house, WALL_SECCOMP, &err);
		return process_ended_by(status, SIGKILL) ? -EAGAIN : 0;
	}
	if (house_has(house, WALL_PROOF) &&
	    house_proof(house, pid, -1, &err) < 0)
		house_note(house, WALL_PROOF, &err);
	(void)fd_send_all(channel, "g", 1);
	if (waitpid(pid, &status, 0) == pid && house_has(house, WALL_SECCOMP) &&
	    !process_ended_by(status, SIGSYS)) {
		(void)fail(&err, EPERM, "a forbidden call ended with %#x",
		    (unsigned)status);
		house_note(house, WALL_SECCOMP, &err);
	}
	return process_ended_by(status, SIGKILL) ? -EAGAIN : 0;
}

static pid_t
trial_fork(struct house *house)
{
	struct err err = { 0 };
	pid_t pid = -1;

	if (house_has(house, WALL_PIDNS)) {
		pid = wall_pidns_fork(&err);
		if (pid < 0)
			house_note(house, WALL_PIDNS, &err);
	}
	return pid < 0 ? fork() : pid;
}

static _Noreturn void
trial_main(struct house *house, int report, pid_t keeper)
{
	struct err err;
	int ends[2];
	pid_t pid;

	if (wall_parent(keeper, &err) < 0 || fd_pair(ends) < 0)
		_exit(1);
	if (house_try_keeper(house) < 0)
		_exit(fd_send_all(report, &house->grade, sizeof(house->grade)) <
		      0);
	pid = trial_fork(house);
	if (pid == 0) {
		fd_close(ends[0]);
		trial_child(house, ends[1],
		    house_has(house, WALL_PIDNS) ? 0 : getppid());
	}
	fd_close(ends[1]);
	if (pid < 0)
		_exit(1);
	if (trial_judge(house, ends[0], pid) < 0)
		_exit(1);
	_exit(fd_send_all(report, &house->grade, sizeof(house->grade)) < 0);
}

int
house_trial_begin(struct house *house, struct trial *ret_trial, struct err *err)
{
	pid_t self = getpid();
	int ends[2];
	pid_t pid;
	int r = fd_pair(ends);

	if (r < 0)
		return fail(err, -r, "socketpair: %s", strerror(-r));
	pid = fork();
	if (pid == 0) {
		fd_close(ends[0]);
		trial_main(house, ends[1], self);
	}
	if (pid < 0)
		r = fail_errno(err, "try the walls");
	fd_close(ends[1]);
	if (r < 0)
		fd_close(ends[0]);
	else
		*ret_trial = (struct trial){ pid, ends[0] };
	return r;
}

/* Bounded: no wall may keep the room from starting. */
static int
report_read(int fd, struct wire_grade *ret_grade)
{
	int r = fd_wait(fd, TRIAL_MS);

	return r < 0 ? r : fd_read_all(fd, ret_grade, sizeof(*ret_grade));
}

int
house_trial_end(struct house *house, struct trial *trial, struct err *err)
{
	struct wire_grade seen;
	struct err why = { 0 };
	int status = 0;
	int r = report_read(trial->fd, &seen);

	fd_close(trial->fd);
	(void)kill(trial->pid, SIGKILL);
	(void)waitpid(trial->pid, &status, 0);
	if (r < 0)
		return fail(err, r == -EPIPE ? EAGAIN : EIO,
		    "the walls could not be tried: %s, status %#x",
		    strerror(-r), (unsigned)status);
	for (unsigned i = 0; i < WALLS; i++) {
		if (!(seen.missing & WALL_BIT(i)) ||
		    !house_has(house, (enum wall)i))
			continue;
		(void)snprintf(why.text, sizeof(why.text), "%.*s",
		    (int)WALL_WHY_MAX - 1, seen.why[i]);
		house_note(house, (enum wall)i, &why);
	}
	house->grade.landlock_abi = seen.landlock_abi;
	return 0;
}
