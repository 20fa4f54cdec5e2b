/* install_packages.h: packages that are added to an installation: fetching
 * them with this machine's pip, and keeping their wheels and their list.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_INSTALL_PACKAGES_H
#define KEEPER_INSTALL_PACKAGES_H

#include "base/err.h"
#include "conf/conf.h"
#include "conf/package_list.h"

#include <limits.h>

/* The place's packages: its list, and the directory of their wheels. */
struct packages {
	struct package_list list;
	char lock[PATH_MAX], wheels[PATH_MAX];
};

/* Reads the place's list. NULL after an error; packages_free. */
struct packages *packages_open(const char *place, struct err *err);
void packages_free(struct packages *packages);

/* Has pip fetch what is asked for, and what that needs, into folder, which it
 * makes. about names ARTIFACT_LIST of what is installed. What cannot be had is
 * said on stderr, and is -ENOENT then. To be called in a process of its own. */
int packages_fetch(const struct conf_list *wanted, const char *about,
    const char *folder, struct err *err);

/* Puts what was fetched into folder among the wheels, and into the list. */
int packages_take(
    struct packages *packages, const char *folder, struct err *err);

/* The digest that the list has once it is written. */
int packages_digest(const struct packages *packages, char ret_digest[65]);

/* Writes the list, whole or not at all, and removes wheels that it does not
 * name. 0 or -errno. */
int packages_keep(const struct packages *packages, struct err *err);

#endif
