/* install_reuse.h: taking over the compiled guest of an older installation.
 * Compiling is by far the longest stage, and its result depends on neither
 * our Python nor the snapshot's format.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_INSTALL_REUSE_H
#define KEEPER_INSTALL_REUSE_H

#include "keeper/install_place.h"

/* Links the module of another, intact installation in the same
 * place to out_path, if one has the same module. 0; -ENOENT if none has. */
int reuse_module(const struct place *place, const char *out_path);

#endif
