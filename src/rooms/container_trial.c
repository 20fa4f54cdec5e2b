/* container_trial.c: a container that is looked at before any is used.
 * Hostile input: what the image's Python says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/container_impl.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/own.h"
#include "base/process.h"
#include "rooms/container_seen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOLD_MAX 4096u
#define TRIAL    0u /* the number in its name; workers begin at 1 */

struct trial {
	pid_t client;
	int stream, error;
	char name[CONTAINER_NAME_MAX];
	char told[TOLD_MAX];
};

static int
trial_start(
    const struct container_plan *plan, struct trial *trial, struct err *err)
{
	own_fd int far = -1, error_end = -1;
	struct args args;
	uint32_t n = (uint32_t)strlen((const char *)container_probe);
	int ends[2];
	int r = fd_pair(ends);

	if (r < 0)
		return fail(err, -r, "socketpair: %s", strerror(-r));
	trial->stream = ends[0];
	far = ends[1];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return fail_errno(err, "pipe");
	trial->error = ends[0];
	error_end = ends[1];
	container_name(plan, TRIAL, trial->name);
	plan_run(plan, trial->name, &args);
	trial->client = command_start(&args, far, far, error_end);
	if (trial->client < 0)
		return fail(err, -trial->client, "start %s: %s", plan->engine,
		    strerror(-trial->client));
	/* Where it is gone already, it has said why. */
	if (fd_send_all(trial->stream, &n, sizeof(n)) == 0)
		(void)fd_send_all(trial->stream, container_probe, n);
	return 0;
}

/* Reads what the probe says, to its last line. */
static int
trial_listen(struct trial *trial, struct err *err)
{
	uint64_t until = clock_us() + ENGINE_TRIAL_MS * 1000ull;
	size_t n = 0;

	while (!strstr(trial->told, "Done: 1\n")) {
		uint64_t now = clock_us();
		int r = now > until ? -ETIMEDOUT
				    : fd_wait(trial->stream,
					  (int)((until - now) / 1000) + 1);
		ssize_t came = r < 0 ? r
				     : read(trial->stream, trial->told + n,
					   TOLD_MAX - 1 - n);

		if (came <= 0) {
			char line[200];

			(void)poll(NULL, 0, CONTAINER_GRACE_MS);
			command_complaint(trial->error, line);
			return fail(err, EIO,
			    "a container does not start: %.190s",
			    *line   ? line
			    : r < 0 ? strerror(-r)
				    : "it ended");
		}
		n += (size_t)came;
		trial->told[n] = '\0';
	}
	return 0;
}

static int
first_pid(const struct container_plan *plan, const char *name, int null_fd,
    pid_t *ret_pid, struct err *err)
{
	own_buf struct buf said;
	struct args args;
	int r;

	plan_first_pid(plan, name, &args);
	r = command_ask(&args, null_fd, &said, err);
	if (r == 0)
		*ret_pid = (pid_t)strtol((const char *)said.p, NULL, 10);
	return r;
}

/* What is missing beyond what the operator allows, in err; a warning for the
 * rest. */
static int
trial_grade(wall_set lacks, wall_set allowed, const struct err why[WALLS],
    struct err *err)
{
	char names[WALL_NAMES_MAX];

	for (unsigned i = 0; i < WALLS; i++)
		if (lacks & ~allowed & WALL_BIT(i))
			return fail(err, EPERM,
			    "the engine does not apply %s: %s; give a "
			    "container "
			    "engine that does, or --allow-missing %s",
			    wall_name(i), why[i].text, wall_name(i));
	if (lacks) {
		wall_names(lacks, names);
		log_warn("event=container_walls missing=%s", names);
	}
	return 0;
}

static int
trial_look(const struct container_plan *plan, const struct trial *trial,
    const struct factory_start *start, struct err *err)
{
	struct container_seen seen;
	struct err why[WALLS];
	wall_set lacks = WALL_BIT(WALL_PROOF);
	pid_t pid = 0;
	int r;

	if (plan->gvisor && !told_gvisor(trial->told))
		return fail(err, EPERM,
		    "the runtime %s is not gVisor: its kernel is another's",
		    plan->runtime);
	r = first_pid(plan, trial->name, start->null_fd, &pid, err);
	if (r < 0)
		return r;
	if (seen_look(pid, &seen, &why[WALL_PROOF]) == 0)
		lacks = container_lacks(plan, &seen, trial->told, why);
	return trial_grade(lacks, start->conf->allowed, why, err);
}

/* The status of a client that has ended, or does within a moment, while its
 * stream is open; -1: it goes on. */
static int
client_status(struct trial *trial)
{
	for (unsigned ms = 0; ms <= CONTAINER_GRACE_MS; ms += 5) {
		int status = 0;

		if (waitpid(trial->client, &status, WNOHANG) == trial->client) {
			trial->client = -1;
			return status;
		}
		(void)poll(NULL, 0, 5);
	}
	return -1;
}

/* What was seen of a container that was killed meanwhile, or its client, is no
 * verdict. One that does not start ends by itself. */
static int
trial_doubt(struct trial *trial, bool started, int r, struct err *err)
{
	int status = trial->client > 0 ? client_status(trial) : -1;
	bool killed = process_ended_by(status, SIGKILL) ||
		      (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_KILLED);

	if (status == -1 || (!started && !killed))
		return r;
	return fail(err, EAGAIN,
	    "the container that was tried ended while it was looked at, with "
	    "status %#x",
	    (unsigned)status);
}

/* By itself, at the end of its input; otherwise by name. */
static void
trial_end(const struct container_plan *plan, struct trial *trial, int null_fd)
{
	struct args names;
	struct err err;
	int ended = 0;

	fd_close(trial->stream);
	for (unsigned ms = 0; trial->client > 0 && !ended && ms < 1000;
	     ms += 5) {
		ended = waitpid(trial->client, NULL, WNOHANG);
		if (!ended)
			(void)poll(NULL, 0, 5);
	}
	if (!ended && trial->client > 0) {
		(void)kill(trial->client, SIGKILL);
		(void)waitpid(trial->client, NULL, 0);
	}
	if (!ended) {
		args_init(&names);
		args_add(&names, "%s", trial->name);
		(void)container_remove(plan, &names, null_fd, &err);
	}
	fd_close(trial->error);
}

int
container_trial(const struct container_plan *plan,
    const struct factory_start *start, struct err *err)
{
	struct trial trial = { .client = -1, .stream = -1, .error = -1 };
	uint64_t begun = clock_us();
	bool started;
	int r = trial_start(plan, &trial, err);

	if (r == 0)
		r = trial_listen(&trial, err);
	started = r == 0;
	if (started)
		log_info("event=container_trial ms=%u",
		    (unsigned)((clock_us() - begun) / 1000));
	if (started)
		r = trial_look(plan, &trial, start, err);
	if (r < 0)
		r = trial_doubt(&trial, started, r, err);
	trial_end(plan, &trial, start->null_fd);
	return r;
}
