/* install_stage.c: one stage of an installation in a process of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/install_stage.h"

#include "base/clock.h"
#include "base/own.h"
#include "base/process.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define DOT_MS 5000 /* between two signs of life */

static void
ending_signals(sigset_t *ret_set)
{
	(void)sigemptyset(ret_set);
	(void)sigaddset(ret_set, SIGINT);
	(void)sigaddset(ret_set, SIGTERM);
	(void)sigaddset(ret_set, SIGHUP);
}

int
stage_watch_signals(struct err *err)
{
	sigset_t set;
	int fd;

	ending_signals(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return fail_errno(err, "block signals");
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? fail_errno(err, "watch signals") : fd;
}

/* The child: never returns. A group of its own, so that one kill reaches all
 * that it forks; it dies with the installer. */
static _Noreturn void
be_stage(
    const struct stage *stage, const void *data, pid_t parent, int answer_fd)
{
	struct err err = { 0 };
	sigset_t set;

	ending_signals(&set);
	(void)setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* Above all the installer's lock: what the stage forks must not hold
	 * it when the installer is gone. */
	(void)sys_close_range(STDERR_FILENO + 1, (unsigned)answer_fd - 1);
	(void)sys_close_range((unsigned)answer_fd + 1, ~0u);
	if (stage->work(data, &err) == 0)
		_exit(0);
	(void)fd_write_all(answer_fd, &err, sizeof(err));
	_exit(1);
}

struct running {
	pid_t pid;
	int pidfd;
	int signal_fd;
};

static void
show(const char *text)
{
	/* Progress that cannot be shown must not stop the work. */
	(void)fd_write_all(STDERR_FILENO, text, strlen(text));
}

/* Waits for the end of the child, or for a signal: its number, 0, -errno. */
static int
wait_for_end(const struct running *running)
{
	struct pollfd fds[] = {
		{ .fd = running->pidfd, .events = POLLIN },
		{ .fd = running->signal_fd, .events = POLLIN },
	};
	struct signalfd_siginfo info;

	for (;;) {
		int n = poll(fds, 2, DOT_MS);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			show(".");
		if (n <= 0)
			continue;
		if (fds[1].revents &&
		    read(running->signal_fd, &info, sizeof(info)) ==
			(ssize_t)sizeof(info))
			return (int)info.ssi_signo;
		if (fds[0].revents)
			return 0;
	}
}

static int
judge(const struct stage *stage, int status, int answer_fd, struct err *err)
{
	struct err answer = { 0 };

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (process_ended_by(status, SIGKILL))
		return fail(err, ECHILD,
		    "%s: killed, probably because memory ran out; "
		    "about 2 GB are needed",
		    stage->title);
	if (WIFSIGNALED(status))
		return fail(err, ECHILD, "%s: ended by signal %d (%s)",
		    stage->title, WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	if (fd_read_all(answer_fd, &answer, sizeof(answer)) < 0 ||
	    answer.code <= 0)
		return fail(err, ECHILD, "%s: ended with exit code %d",
		    stage->title, WEXITSTATUS(status));
	answer.text[sizeof(answer.text) - 1] = '\0';
	return fail(err, answer.code, "%s: %.200s", stage->title, answer.text);
}

/* Ends the child and all that it has forked, and reaps it. 0; -errno when how
 * it ended cannot be known. */
static int
reap(const struct running *running, int *ret_status)
{
	/* Before it is reaped: until then its number is nobody else's. */
	(void)kill(-running->pid, SIGKILL);
	(void)sys_pidfd_kill(running->pidfd, SIGKILL);
	while (waitpid(running->pid, ret_status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int
follow(const struct stage *stage, const struct running *running, int answer_fd,
    int *ret_signal, struct err *err)
{
	int ended = wait_for_end(running);
	int status = 0;
	int r = reap(running, &status);

	if (ended < 0)
		return fail(err, -ended, "%s: poll: %s", stage->title,
		    strerror(-ended));
	if (ended > 0) {
		*ret_signal = ended;
		return fail(err, EINTR, "interrupted");
	}
	if (r < 0)
		return fail(err, -r, "%s: how it ended is not known: %s",
		    stage->title, strerror(-r));
	return judge(stage, status, answer_fd, err);
}

int
stage_run(const struct stage *stage, const void *data, int signal_fd,
    int *ret_signal, struct err *err)
{
	struct running running = { .signal_fd = signal_fd, .pidfd = -1 };
	uint64_t start = clock_us();
	own_fd int pidfd = -1;
	own_fd int answer = -1;
	pid_t parent = getpid();
	char text[96];
	int fds[2];
	int status = 0;
	int r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return fail_errno(err, "make a pipe");
	answer = fds[0];
	(void)snprintf(
	    text, sizeof(text), "  %s%s ...", stage->title, stage->hint);
	show(text);
	running.pid = fork();
	if (running.pid == 0)
		be_stage(stage, data, parent, fds[1]);
	fd_close(fds[1]);
	if (running.pid < 0)
		return fail_errno(err, "fork");
	running.pidfd = pidfd = sys_pidfd_open(running.pid);
	if (pidfd < 0) {
		r = fail_errno(err, "open a pidfd");
		(void)reap(&running, &status);
		return r;
	}
	r = follow(stage, &running, answer, ret_signal, err);
	(void)snprintf(text, sizeof(text), r < 0 ? " failed\n" : " %.1f s\n",
	    (double)(clock_us() - start) / 1e6);
	show(text);
	return r;
}
