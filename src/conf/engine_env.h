/* engine_env.h: which of the operator's environment a container engine is to
 * find again. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_ENGINE_ENV_H
#define CONF_ENGINE_ENV_H

#include "conf/limits.h"

/* Fills ret_kept with those of env that an engine's client looks at (where it
 * is, its configuration, its server), borrowed, and NULL. Nothing else of the
 * operator's, and so no secret of breakroom's, gets there. */
void engine_environment(
    char *const env[], const char *ret_kept[ENGINE_ENV_MAX + 1]);

#endif
