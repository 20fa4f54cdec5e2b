/* package_list.h: wheels by name, version and digest: those of the shelf, which
 * the program was built with, and those that were added to an installation. A
 * text file: a first line, a line for each package, a last line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_PACKAGE_LIST_H
#define CONF_PACKAGE_LIST_H

#include "base/buf.h"
#include "base/err.h"
#include "conf/limits.h"

#include <stdbool.h>
#include <stddef.h>

/* Beside the directories of a place that holds installations. */
#define PACKAGES_LOCK   "packages.lock"
#define PACKAGES_WHEELS "wheels"

struct package {
	char name[PACKAGE_NAME_MAX + 1]; /* in its normal spelling */
	char version[PACKAGE_VERSION_MAX + 1];
	char sha256[65]; /* of the wheel */
	bool asked;      /* by name; else another one needs it */
};

struct package_list {
	size_t n;
	struct package all[PACKAGES_MAX];
};

/* The list that the program was built with, and its digest. */
extern const char package_shelf_text[];

/* Reads the text. Strict: anything else than what package_list_format writes
 * is -EBADMSG. */
int package_list_parse(
    struct span text, struct package_list *ret_list, struct err *err);

/* Adds the text to *into. 0 or what buf_add says. */
int package_list_format(const struct package_list *list, struct buf *into);

/* Reads a file; one that is not there is an empty list. 0 or -errno. */
int package_list_read(
    const char *path, struct package_list *ret_list, struct err *err);

/* The package of that name, or NULL. */
const struct package *package_list_find(
    const struct package_list *list, const char *name);

/* Puts a package into its place by name, instead of one of the same name. 0;
 * -ENOSPC when there are PACKAGES_MAX. */
int package_list_put(struct package_list *list, const struct package *package);

/* True if text is a name as package indexes know them: letters, digits, and
 * single dots, hyphens and underscores between them. ret_name (of at least
 * PACKAGE_NAME_MAX + 1 bytes) gets its normal spelling: small letters, a
 * hyphen for each run of the others. */
bool package_name_read(struct span text, char *ret_name);

/* True for what may be a version. */
bool package_version_is(struct span text);

/* True for what may be added: a name, NAME==VERSION, or the path of a wheel,
 * which begins with a slash or a dot and ends with ".whl". */
bool package_wanted_is(const char *word);

#endif
