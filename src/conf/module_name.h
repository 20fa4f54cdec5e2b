/* module_name.h: names of Python modules, as import lists have them. Pure.
 * Hostile input: a caller's.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_MODULE_NAME_H
#define CONF_MODULE_NAME_H

#include "base/buf.h"

#include <stdbool.h>

/* True if text may name a module: identifiers of ASCII with dots between them,
 * all of at most MODULE_NAME_MAX bytes. */
bool module_name(struct span text);

/* True if whoever names one module means the other too: it is the same, or one
 * of its submodules. */
bool module_covers(const char *name, const char *other);

#endif
