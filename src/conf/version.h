/* version.h: the version of this release; meson.build reads it from here.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_VERSION_H
#define CONF_VERSION_H

#define BREAKROOM_VERSION "0.1.0"

#endif
