/* fuzz_input.h: a fuzzer's bytes, taken one by one, and what must hold
 * whatever they are.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct input {
	const uint8_t *p;
	size_t n;
};

/* The next byte; 0 at the end. */
static inline uint8_t
take(struct input *input)
{
	if (input->n == 0)
		return 0;
	input->n--;
	return *input->p++;
}

/* Ends the run if a promise does not hold. */
static inline void
check(bool holds, const char *what)
{
	if (!holds) {
		(void)fprintf(stderr, "broken promise: %s\n", what);
		abort();
	}
}

#endif
