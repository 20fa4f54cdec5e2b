/* test_branches.c: a session that was taken over, asked for a copy of itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/fd.h"
#include "base/fd_pass.h"
#include "keeper/keeper_impl.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SESSION 7u
#define CALL    9u

struct scene {
	struct keeper keeper;
	struct nursery *nursery;
	struct child *copy;
	int server, origin; /* the far ends */
	int fds[2];         /* that the session was given for its copy */
};

static void
scene_open(struct scene *scene, wall_set raised)
{
	struct keeper *keeper = &scene->keeper;
	struct child *origin = malloc(sizeof(*origin));
	struct wire_header header;
	struct err err;
	int ends[2];

	memset(scene, 0, sizeof(*scene));
	keeper->house.grade.raised = raised;
	keeper->house.proc_fd = open("/proc", O_PATH | O_CLOEXEC);
	keeper->conf.output_chars = 1000;
	scene->nursery = &keeper->nurseries[0];
	assert_int_equal(fd_pair(ends), 0);
	channel_init(
	    &keeper->server, ends[0], 1u << FRAME_CALL, FRAME_MAX, FRAME_MAX);
	scene->server = ends[1];
	assert_non_null(origin);
	child_init(origin);
	assert_int_equal(fd_pair(ends), 0);
	channel_init(&origin->channel, ends[0], 1u << FRAME_UNBORN, FRAME_MAX,
	    FRAME_MAX);
	scene->origin = ends[1];
	origin->state = CHILD_HELD;
	origin->session = SESSION;
	origin->nursery = scene->nursery;
	keeper->children[keeper->children_n++] = origin;
	scene->copy = keeper_child_branch(keeper, origin, &err);
	assert_non_null(scene->copy);
	scene->copy->session = SESSION + 1;
	scene->copy->has_call = true;
	scene->copy->call = CALL;
	scene->copy->arrived_us = clock_us();
	assert_int_equal(fd_receive_with(scene->origin, &header, sizeof(header),
			     scene->fds, 2),
	    0);
	assert_int_equal(header.type, FRAME_BRANCH);
}

static void
scene_close(struct scene *scene)
{
	struct keeper *keeper = &scene->keeper;

	for (unsigned i = 0; i < keeper->children_n; i++) {
		child_clear(keeper->children[i]);
		free(keeper->children[i]);
	}
	channel_done(&keeper->server);
	fd_close(keeper->house.proc_fd);
	fd_close(scene->server);
	fd_close(scene->origin);
	fd_close(scene->fds[0]);
	fd_close(scene->fds[1]);
}

/* Somebody who is dead by now has said READY there. */
static void
say_ready(const struct scene *scene)
{
	const struct wire_header ready = { .type = FRAME_READY };
	pid_t pid = fork();

	if (pid == 0)
		_exit(send(scene->fds[0], &ready, sizeof(ready), 0) !=
		      sizeof(ready));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
expect_result(const struct scene *scene, enum outcome outcome)
{
	struct wire_header header;
	struct wire_result result;

	assert_int_equal(
	    fd_read_all(scene->server, &header, sizeof(header)), 0);
	assert_int_equal(header.type, FRAME_RESULT);
	assert_int_equal(
	    fd_read_all(scene->server, &result, sizeof(result)), 0);
	assert_int_equal(result.id, CALL);
	assert_int_equal(result.outcome, outcome);
}

/* The session holds the copy's channel, so no end of it will ever be seen: the
 * copy's place and memory group are free all the same, at once. */
static void
test_ready_of_the_dead(void **state)
{
	struct scene scene;

	(void)state;
	scene_open(&scene, WALL_BIT(WALL_PROOF));
	say_ready(&scene);
	assert_int_equal(keeper_on_child(&scene.keeper, scene.copy), 0);
	assert_int_equal(scene.copy->state, CHILD_FREE);
	expect_result(&scene, OUTCOME_REFUSED);
	/* Others' spares are made as before. */
	assert_int_equal(scene.keeper.spare_retry_us, 0);
	scene_close(&scene);
}

/* It was to die before it was born: it does, once it has a number. */
static void
test_born_too_late(void **state)
{
	const struct wire_header ready = { .type = FRAME_READY };
	struct scene scene;
	struct pollfd said = { .events = POLLIN };
	int status = 0;
	pid_t pid;

	(void)state;
	scene_open(&scene, 0);
	child_kill(scene.copy, END_FAILED);
	pid = fork();
	if (pid == 0) {
		(void)send(scene.fds[0], &ready, sizeof(ready), 0);
		(void)sleep(20);
		_exit(0);
	}
	said.fd = scene.copy->channel.fd;
	assert_int_equal(poll(&said, 1, 5000), 1);
	assert_int_equal(keeper_on_child(&scene.keeper, scene.copy), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_true(scene.copy->pidfd >= 0); /* its death will be seen */
	scene_close(&scene);
}

/* What a session is given for its copy moves no process anywhere. */
static void
test_what_is_given(void **state)
{
	struct scene scene;
	struct wire_header header;
	int more[WIRE_FDS_MAX];

	(void)state;
	scene_open(&scene, 0);
	assert_true(scene.fds[0] >= 0 && scene.fds[1] >= 0);
	assert_int_equal(wire_fds(FRAME_BRANCH), 2);
	(void)shutdown(scene.keeper.children[0]->channel.fd, SHUT_WR);
	assert_true(fd_receive_with(scene.origin, &header, sizeof(header), more,
			WIRE_FDS_MAX) < 0);
	scene_close(&scene);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ready_of_the_dead),
		cmocka_unit_test(test_born_too_late),
		cmocka_unit_test(test_what_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
