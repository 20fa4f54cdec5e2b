/* int64.h: makes numpy's default integer 64 bits wide, by changing some bytes
 * of the guest's module before it is compiled. The bytes are those of one
 * module, the pinned one: no other is changed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_INT64_H
#define KEEPER_INT64_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Changes the module of n bytes in place. 0; -EBADMSG when it is not the
 * pinned one, and then nothing is changed; or, which would be a mistake in the
 * table, when what comes out is not what this version expects. */
int int64_apply(uint8_t *wasm, size_t n, struct err *err);

#endif
