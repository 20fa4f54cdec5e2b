/* interrupt.h: KeyboardInterrupt in a running guest, from a signal handler:
 * two words of the interpreter's in linear memory, no call into it. CPython's own
 * table for debuggers says where they are.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_INTERRUPT_H
#define WASM_INTERRUPT_H

#include "base/err.h"
#include "wasm/guest.h"

#include <stdbool.h>
#include <stdint.h>

/* Guest addresses, and the value of the third. */
struct interrupt {
	uint32_t breaker;   /* the flags that the interpreter looks at */
	uint32_t async_exc; /* what it raises then */
	uint32_t exception; /* the type KeyboardInterrupt */
};

/* Finds the words in a started guest whose KeyboardInterrupt is at exception.
 * 0; -ENOENT: they are not where this CPython should have them. */
int interrupt_find(const struct guest_mem *mem, uint32_t exception,
    struct interrupt *ret_interrupt, struct err *err);

/* The guest raises it as soon as it runs Python code. */
void interrupt_raise(
    const struct guest_mem *mem, const struct interrupt *interrupt);

/* Takes one back that was not raised yet. */
void interrupt_clear(
    const struct guest_mem *mem, const struct interrupt *interrupt);

#endif
