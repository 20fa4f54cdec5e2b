/* fuzz_input.h: a fuzzer's bytes, taken one by one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

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

#endif
