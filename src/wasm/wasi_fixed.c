/* wasi_fixed.c: a world in which the same program does the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasi_state.h"

#include <string.h>

/* 2026-01-01: as the files of the library have it. */
#define BEGIN_NS (1767225600ull * 1000000000ull)
#define STEP_NS  1000u /* time goes on, or waiting in a loop would be for ever */

static bool
fixed_clock_ns(void *arg, uint32_t id, uint64_t *ret_ns)
{
	struct wasi_fixed *fixed = arg;

	if (id > WASI_CLOCK_THREAD)
		return false;
	fixed->now_ns += STEP_NS;
	*ret_ns = id == WASI_CLOCK_REALTIME ? fixed->now_ns
					    : fixed->now_ns - BEGIN_NS;
	return true;
}

static bool
fixed_clock_res_ns(void *arg, uint32_t id, uint64_t *ret_ns)
{
	(void)arg;
	*ret_ns = STEP_NS;
	return id <= WASI_CLOCK_THREAD;
}

static uint64_t
fixed_sleep_ns(void *arg, uint64_t ns)
{
	struct wasi_fixed *fixed = arg;

	if (__builtin_add_overflow(fixed->now_ns, ns, &fixed->now_ns))
		fixed->now_ns = UINT64_MAX / 2;
	return 0;
}

/* SplitMix64 (Steele, Lea, Flood, 2014): a counter, mixed. */
static uint64_t
fixed_next(struct wasi_fixed *fixed)
{
	uint64_t z = fixed->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void
fixed_random(void *arg, uint8_t *bytes, size_t n)
{
	while (n > 0) {
		uint64_t word = fixed_next(arg);
		size_t part = n < sizeof(word) ? n : sizeof(word);

		memcpy(bytes, &word, part);
		bytes += part;
		n -= part;
	}
}

void
wasi_fixed_init(struct wasi_fixed *fixed, struct wasi_sys *ret_sys)
{
	*fixed = (struct wasi_fixed){ .now_ns = BEGIN_NS };
	*ret_sys = (struct wasi_sys){
		.arg = fixed,
		.clock_ns = fixed_clock_ns,
		.clock_res_ns = fixed_clock_res_ns,
		.sleep_ns = fixed_sleep_ns,
		.random = fixed_random,
	};
}
