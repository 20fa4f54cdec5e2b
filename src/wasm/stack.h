/* stack.h: how deep the guest may go. Compiled code runs on the main thread's
 * stack, which grows up to RLIMIT_STACK; the guest's own C stack lies in its
 * linear memory, and Python watches a window of that. Measured: one byte of
 * window never needs more than 64 bytes of native stack.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_STACK_H
#define WASM_STACK_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct stack_sizes {
	size_t native_bytes;   /* for compiled code */
	uint32_t window_bytes; /* of the guest's C stack */
};

/* Raises this process's soft stack limit as far as the hard limit lets it,
 * and says what fits. 0; -ENOMEM where too little is left for any program. */
int stack_setup(struct stack_sizes *ret_sizes, struct err *err);

#endif
