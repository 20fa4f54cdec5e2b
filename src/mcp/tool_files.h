/* tool_files.h: the argument "files" of run_python: an object of names, each
 * with the file's text, or with its bytes as {"base64": "..."}.
 * Hostile input: the argument. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_TOOL_FILES_H
#define MCP_TOOL_FILES_H

#include "base/buf.h"
#include "base/err.h"

#include <jansson.h>

/* Adds the files to the packed ones of a call. 0; -errno, and err says what is
 * wrong with which file: the call cannot be made then. */
int tool_files_take(const json_t *value, struct buf *files, struct err *err);

/* Its JSON Schema, as one more of the tool's properties. */
json_t *tool_files_schema(void);

#endif
