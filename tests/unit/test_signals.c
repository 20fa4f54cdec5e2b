/* test_signals.c: what a program inherits of signals is undone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/signals.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const int numbers[] = { SIGCHLD, SIGPIPE, SIGTERM, SIGINT, SIGHUP,
	SIGALRM, SIGUSR1, SIGTSTP, SIGXCPU, 64 /* the last of real time */ };

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static void
inherit(void)
{
	sigset_t all;

	(void)sigfillset(&all);
	assert_int_equal(sigprocmask(SIG_SETMASK, &all, NULL), 0);
	for (size_t i = 0; i < NUMBERS; i++)
		assert_true(signal(numbers[i], SIG_IGN) != SIG_ERR);
}

static void
test_all_are_default(void **state)
{
	struct sigaction now;
	sigset_t mask;

	(void)state;
	inherit();
	signals_default();
	assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &mask), 0);
	for (int number = 1; number <= SIGRTMAX; number++)
		assert_int_equal(sigismember(&mask, number), 0);
	for (size_t i = 0; i < NUMBERS; i++) {
		assert_int_equal(sigaction(numbers[i], NULL, &now), 0);
		assert_true(now.sa_handler == SIG_DFL);
	}
}

static void
test_the_end_of_a_child_is_seen(void **state)
{
	int status = 0;
	pid_t pid;

	(void)state;
	inherit();
	signals_default();
	pid = fork();
	if (pid == 0)
		_exit(7);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

static void
on_signal(int number)
{
	(void)number;
}

/* A sanitizer's, in practice. */
static void
test_a_handler_stays(void **state)
{
	struct sigaction now;

	(void)state;
	assert_true(signal(SIGUSR2, on_signal) != SIG_ERR);
	signals_default();
	assert_int_equal(sigaction(SIGUSR2, NULL, &now), 0);
	assert_true(now.sa_handler == on_signal);
	(void)signal(SIGUSR2, SIG_DFL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_default),
		cmocka_unit_test(test_the_end_of_a_child_is_seen),
		cmocka_unit_test(test_a_handler_stays),
	};

	return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
