/* interrupt.c: where CPython looks for an asynchronous exception.
 * Hostile input: the guest may have changed its memory; every access is checked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/interrupt.h"

#include <errno.h>
#include <string.h>

/* _Py_DebugOffsets of CPython 3.15 (Include/internal/pycore_debug_offsets.h),
 * which begins _PyRuntime: words of 64 bits, and these of them: */
#define COOKIE          "xdebugpy"
#define AT_INTERPRETERS 5u  /* _PyRuntime: its first interpreter */
#define AT_THREADS      9u  /* an interpreter: its first thread */
#define AT_THREAD_ID    30u /* a thread: its number in the system */

/* A thread's state on wasm32: two links, then these. The exception stands
 * before the thread's number. */
#define THREAD_INTERPRETER 8u
#define THREAD_BREAKER     12u

#define BREAK_ASYNC_EXCEPTION (1u << 3)

#define STATIC_DATA 16777216u /* below it lies the C stack */
#define OFFSET_MAX  1048576u  /* of a member; a plausible one is less */

static bool
cookie_find(const struct guest_mem *mem, uint32_t *ret_at)
{
	for (uint32_t at = STATIC_DATA; at + 8 <= mem->size; at += 8) {
		const uint8_t *p = guest_at(mem, (struct guest_ptr){ at }, 8);

		if (p && memcmp(p, COOKIE, 8) == 0) {
			*ret_at = at;
			return true;
		}
	}
	return false;
}

/* An offset in the table; 0: not plausible. */
static uint32_t
table_get(const struct guest_mem *mem, uint32_t table, unsigned word)
{
	uint64_t offset = 0;

	(void)guest_get(mem, (struct guest_ptr){ table + 8u * word }, &offset,
	    sizeof(offset));
	return offset < OFFSET_MAX ? (uint32_t)offset : 0;
}

static uint32_t
word_at(const struct guest_mem *mem, uint32_t at)
{
	uint32_t word = UINT32_MAX;

	(void)guest_get_u32(mem, (struct guest_ptr){ at }, &word);
	return word;
}

int
interrupt_find(const struct guest_mem *mem, uint32_t exception,
    struct interrupt *ret_interrupt, struct err *err)
{
	uint32_t runtime, interpreter, thread, thread_id;

	if (!cookie_find(mem, &runtime))
		return fail(err, ENOENT, "the guest has no table of offsets");
	interpreter =
	    word_at(mem, runtime + table_get(mem, runtime, AT_INTERPRETERS));
	thread =
	    word_at(mem, interpreter + table_get(mem, runtime, AT_THREADS));
	thread_id = table_get(mem, runtime, AT_THREAD_ID);
	*ret_interrupt = (struct interrupt){ .breaker = thread + THREAD_BREAKER,
		.async_exc = thread + thread_id - 4u,
		.exception = exception };
	if (thread_id < 4u ||
	    word_at(mem, thread + THREAD_INTERPRETER) != interpreter ||
	    word_at(mem, ret_interrupt->breaker) != 0 ||
	    word_at(mem, ret_interrupt->async_exc) != 0 ||
	    exception < STATIC_DATA || exception >= mem->size)
		return fail(err, ENOENT,
		    "the guest's thread is not where its table says");
	return 0;
}

void
interrupt_raise(const struct guest_mem *mem, const struct interrupt *interrupt)
{
	struct guest_ptr breaker = { interrupt->breaker };
	uint32_t flags;

	/* An exception first: the flag without it would be dropped. */
	if (guest_get_u32(mem, breaker, &flags) &&
	    guest_put_u32(mem, (struct guest_ptr){ interrupt->async_exc },
		interrupt->exception))
		(void)guest_put_u32(
		    mem, breaker, flags | BREAK_ASYNC_EXCEPTION);
}

void
interrupt_clear(const struct guest_mem *mem, const struct interrupt *interrupt)
{
	struct guest_ptr breaker = { interrupt->breaker };
	uint32_t flags;

	if (guest_get_u32(mem, breaker, &flags))
		(void)guest_put_u32(
		    mem, breaker, flags & ~BREAK_ASYNC_EXCEPTION);
	(void)guest_put_u32(mem, (struct guest_ptr){ interrupt->async_exc }, 0);
}
