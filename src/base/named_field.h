/* named_field.h: lines of the form "name:\tvalue", as files of /proc have them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_NAMED_FIELD_H
#define BASE_NAMED_FIELD_H

/* What stands behind "name:" and blanks on such a line of text, up to the end
 * of the text; NULL if there is no such line. */
const char *named_field(const char *text, const char *name);

#endif
