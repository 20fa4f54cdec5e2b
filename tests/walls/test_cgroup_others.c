/* test_cgroup_others.c: the limits of one slot beside memory: processes and
 * processors, in the trees that version 1 has for each; on and off.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms.h"

#include "base/fd.h"
#include "conf/limits.h"
#include "walls/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define CPUS_MILLI 100u /* a tenth of a processor */
#define BUSY_MS    400

static int
open_with(uint32_t cpus_milli)
{
	const struct cgroup_limits limits = {
		.slot_memory_bytes = SLOT_BYTES,
		.processes = 4 * PROCESSES,
		.slot_processes = PROCESSES,
		.slots = SLOTS,
		.slot_cpus_milli = cpus_milli,
	};

	cgroup_open(&limits, WALLS_CGROUP, &room, &missing, why);
	return room && missing == 0 ? 0 : 1;
}

static int
hold_room(void)
{
	return open_with(CPUS_MILLI);
}

static uint64_t
number(pid_t keeper, enum wall wall, const char *file)
{
	char path[ROOMS_PATH_MAX], text[CGROUP_TEXT_MAX];

	assert_true(rooms_path(keeper, wall, file, path));
	assert_true(cgroup_read(AT_FDCWD, path, text) > 0);
	return strtoull(text, NULL, 10);
}

static void
slots_have_their_limits(void **state)
{
	pid_t keeper = apart_hold(hold_room);

	(void)state;
	assert_int_equal(
	    number(keeper, WALL_CGROUP_PIDS, "1/pids.max"), PROCESSES);
	assert_int_equal(number(keeper, WALL_CGROUP_CPU, "1/cpu.cfs_quota_us"),
	    CPUS_MILLI * 100);
	apart_release(keeper);
	rooms_remove(keeper);
	assert_false(rooms_exists(keeper));
}

/* ---- what runs in one ---- */

static int
join_and(deed_fn *deed)
{
	struct err err;
	int slot = cgroup_take(room);
	int file = cgroup_procs_fd(room, slot);
	pid_t pid = fork();

	if (pid == 0) {
		apart_must(cgroup_join(file, &err), &err);
		apart_must(cgroup_join_others(room, file, &err), &err);
		/* Above all the lock of the room's groups. */
		(void)fd_close_others(NULL, 0);
		_exit(deed());
	}
	return rooms_end_of(pid);
}

/* Forks until it may not; how often it could. */
static int
multiply(void)
{
	int n = 0;

	for (; n < 100; n++) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)pause();
			_exit(0);
		}
		if (pid < 0)
			break;
	}
	return n;
}

/* The processor time of so long, in hundredths of it. */
static int
be_busy(void)
{
	struct timespec begin, now;
	struct rusage used;
	long ms;

	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		ms = (now.tv_sec - begin.tv_sec) * 1000 +
		     (now.tv_nsec - begin.tv_nsec) / 1000000;
	} while (ms < BUSY_MS);
	(void)getrusage(RUSAGE_SELF, &used);
	return (int)((used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 10 / ms);
}

static int
processes_are_counted(void)
{
	MUST(open_with(CPUS_MILLI) == 0);
	MUST(join_and(multiply) == (int)PROCESSES - 1);
	return 0;
}

static int
processors_are_counted(void)
{
	MUST(open_with(CPUS_MILLI) == 0);
	/* A period of 100 ms may be used at once, and the first again. */
	MUST(join_and(be_busy) <= 40);
	return 0;
}

/* A room that does not ask for it has no such slots. */
static int
none_without(void)
{
	int fds[CGROUP_OTHERS_MAX];

	MUST(open_with(0) == 0);
	MUST(cgroup_others(room, 0, fds) == 0);
	return 0;
}

static int
none_when_closed(void)
{
	int fds[CGROUP_OTHERS_MAX];

	MUST(open_with(CPUS_MILLI) == 0);
	MUST(cgroup_others(room, 0, fds) > 0);
	MUST(cgroup_others(room, SLOTS, fds) == 0);
	cgroup_others_close(room);
	MUST(cgroup_others(room, 0, fds) == 0);
	MUST(fcntl(fds[0], F_GETFD) < 0);
	return 0;
}

static void
limits_bind(void **state)
{
	(void)state;
	rooms_with(processes_are_counted);
	rooms_with(processors_are_counted);
	rooms_with(none_without);
	rooms_with(none_when_closed);
}

static int
tests(void)
{
	const struct CMUnitTest list[] = {
		cmocka_unit_test(slots_have_their_limits),
		cmocka_unit_test(limits_bind),
	};

	return cmocka_run_group_tests_name("cgroup_others", list, NULL, NULL);
}

int
main(void)
{
	return rooms_run(tests);
}
