/* install_reuse.h: taking over what an older installation has the same of.
 * Compiling the guest is by far the longest stage, and depends on neither our
 * Python nor the snapshot's format; that takes longer than packing packages.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_INSTALL_REUSE_H
#define KEEPER_INSTALL_REUSE_H

#include "keeper/install_place.h"

/* Links into the staging directory every artifact of other, intact
 * installations in the same place whose part of the key is the same. What is
 * not there afterwards must be made. */
void reuse_artifacts(const struct place *place);

#endif
