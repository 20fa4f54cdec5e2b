/* wasm_files.h: the files of a call, on their way into a wasm room's tree and
 * out of it.
 *
 * Hostile input: the tree, which the program fills.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_WASM_FILES_H
#define ROOMS_WASM_FILES_H

#include "base/buf.h"
#include "base/err.h"
#include "rooms/granted.h"
#include "rooms/wasm.h"

/* Adds what the operator granted to the room's tree, once it is restored. 0 or
 * -errno; granted must last as long as the room. */
int wasm_files_grant(
    struct wasm_room *room, const struct granted *granted, struct err *err);

/* Puts the files (packed: call/files_in.h) below /workspace, where they take the
 * place of what a session left under their names; from now on only what the
 * program makes or writes to counts as its own. False: they do not fit, and the
 * room's stderr says which and why; then the program must not run. */
bool wasm_files_give(struct wasm_room *room, struct span files);

/* Lists, in the output region, what is new or changed below /workspace since
 * wasm_files_give. */
void wasm_files_take(struct wasm_room *room);

#endif
