/* paths.h: what the build decided: the version, and the places where
 * "make install" puts things. The build defines them; what stands here serves
 * a compilation by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_PATHS_H
#define CONF_PATHS_H

#ifndef BREAKROOM_VERSION
#define BREAKROOM_VERSION "0.1.0"
#endif

#ifndef BREAKROOM_PREFIX
#define BREAKROOM_PREFIX "/usr/local"
#endif

#ifndef BREAKROOM_LIBEXECDIR
#define BREAKROOM_LIBEXECDIR BREAKROOM_PREFIX "/libexec"
#endif

#define BREAKROOM_DATADIR BREAKROOM_PREFIX "/share/breakroom"
#define BREAKROOM_LIBDIR  BREAKROOM_PREFIX "/lib/breakroom"

#endif
