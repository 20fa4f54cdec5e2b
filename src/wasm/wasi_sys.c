/* wasi_sys.c: the real clocks, sleep and random bytes below the WASI host:
 * its only system calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasi_state.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

#define NS_PER_S 1000000000u

/* By WASI_CLOCK_... number. */
static const clockid_t clocks[] = {
	CLOCK_REALTIME,
	CLOCK_MONOTONIC,
	CLOCK_PROCESS_CPUTIME_ID,
	CLOCK_THREAD_CPUTIME_ID,
};

static uint64_t
ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

static bool
real_clock_ns(void *arg, uint32_t id, uint64_t *ret_ns)
{
	struct timespec time;

	(void)arg;
	if (id >= sizeof(clocks) / sizeof(clocks[0]) ||
	    clock_gettime(clocks[id], &time) < 0)
		return false;
	*ret_ns = ns_of(&time);
	return true;
}

static bool
real_clock_res_ns(void *arg, uint32_t id, uint64_t *ret_ns)
{
	struct timespec time;

	(void)arg;
	if (id >= sizeof(clocks) / sizeof(clocks[0]) ||
	    clock_getres(clocks[id], &time) < 0)
		return false;
	*ret_ns = ns_of(&time);
	return true;
}

static uint64_t
real_sleep_ns(void *arg, uint64_t ns)
{
	struct timespec left = {
		.tv_sec = (time_t)(ns / NS_PER_S),
		.tv_nsec = (long)(ns % NS_PER_S),
	};

	(void)arg;
	return nanosleep(&left, &left) < 0 && errno == EINTR ? ns_of(&left) : 0;
}

/* Never fewer than asked for: a guest without fresh bytes would share its
 * "random" numbers with others, so that is the end of the process. */
static void
real_random(void *arg, uint8_t *bytes, size_t n)
{
	(void)arg;
	while (n > 0) {
		ssize_t got = getrandom(bytes, n, 0);

		if (got < 0 && errno != EINTR)
			BUG("getrandom failed");
		if (got > 0) {
			bytes += got;
			n -= (size_t)got;
		}
	}
}

const struct wasi_sys wasi_sys_real = {
	.clock_ns = real_clock_ns,
	.clock_res_ns = real_clock_res_ns,
	.sleep_ns = real_sleep_ns,
	.random = real_random,
};
