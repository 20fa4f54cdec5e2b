/* wasi_misc.c: arguments, environment, random bytes, the end, and what the
 * room does not have.
 * Hostile input: pointers and lengths; fuzzed by fuzz_wasi.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasi_state.h"

#include <string.h>

static void
strings_measure(
    const char *const *strings, uint32_t *ret_count, uint32_t *ret_bytes)
{
	uint32_t count = 0, bytes = 0;

	for (; strings[count]; count++)
		bytes += (uint32_t)strlen(strings[count]) + 1;
	*ret_count = count;
	*ret_bytes = bytes;
}

static uint32_t
strings_sizes(
    struct wasi *wasi, const uint64_t *slots, const char *const *strings)
{
	struct guest_ptr at_count = guest_ptr_of(slots[0]);
	struct guest_ptr at_bytes = guest_ptr_of(slots[1]);
	uint32_t count, bytes;

	strings_measure(strings, &count, &bytes);
	if (!guest_at(&wasi->mem, at_bytes, sizeof(bytes)) ||
	    !guest_put_u32(&wasi->mem, at_count, count))
		return WASI_FAULT;
	(void)guest_put_u32(&wasi->mem, at_bytes, bytes);
	return WASI_OK;
}

/* The strings one behind the other, and a pointer to each. */
static uint32_t
strings_put(
    struct wasi *wasi, const uint64_t *slots, const char *const *strings)
{
	struct guest_ptr pointers = guest_ptr_of(slots[0]);
	struct guest_ptr at = guest_ptr_of(slots[1]);
	uint32_t count, bytes;

	strings_measure(strings, &count, &bytes);
	if (!guest_at(&wasi->mem, pointers, (uint64_t)count * 4) ||
	    !guest_at(&wasi->mem, at, bytes))
		return WASI_FAULT;
	for (uint32_t i = 0; i < count; i++) {
		size_t n = strlen(strings[i]) + 1;

		(void)guest_put_u32(
		    &wasi->mem, guest_ptr_add(pointers, i * 4), at.off);
		(void)guest_put(&wasi->mem, at, strings[i], n);
		at = guest_ptr_add(at, n);
	}
	return WASI_OK;
}

IMPORT(args_sizes_get)
{
	return strings_sizes(wasi, args->slot, wasi->argv);
}

IMPORT(args_get)
{
	return strings_put(wasi, args->slot, wasi->argv);
}

IMPORT(environ_sizes_get)
{
	return strings_sizes(wasi, args->slot, wasi->env);
}

IMPORT(environ_get)
{
	return strings_put(wasi, args->slot, wasi->env);
}

IMPORT(random_get)
{
	uint32_t n = (uint32_t)args->slot[1];
	uint8_t *at = guest_at(&wasi->mem, guest_ptr_of(args->slot[0]), n);

	if (!at)
		return WASI_FAULT;
	if (n > 0)
		wasi->sys->random(wasi->sys->arg, at, n);
	return WASI_OK;
}

IMPORT(sched_yield)
{
	(void)wasi;
	(void)args;
	return WASI_OK;
}

IMPORT(proc_exit)
{
	wasi->exited = true;
	wasi->exit_code = (uint32_t)args->slot[0];
	return WASI_OK;
}

/* No descriptor is a socket. */
IMPORT(sock_any)
{
	(void)wasi;
	(void)args;
	return WASI_BADF;
}

/* -1: there is no host that takes calls. */
IMPORT(host_call)
{
	(void)wasi;
	(void)args;
	return UINT32_MAX;
}
