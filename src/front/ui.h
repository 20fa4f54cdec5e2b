/* ui.h: the playground, a page for the browser of this machine (--ui). Its
 * files lie in ui/ and are part of the program; what they ask, they ask at
 * /mcp like any other client.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_UI_H
#define FRONT_UI_H

#include "base/buf.h"
#include "base/err.h"
#include "conf/conf.h"
#include "front/exchange.h"

#include <stddef.h>

struct ui_file {
	const char *path; /* "/", "/app.js" */
	const char *type; /* for Content-Type */
	struct span bytes;
};

/* Made by tools/embed_ui.py from ui/. */
extern const struct ui_file ui_files[];
extern const size_t ui_files_count;

/* The file at that path, or NULL. */
const struct ui_file *ui_find(struct span path);

/* Answers with the file, and with headers by which a browser lets it do no
 * more than it has to. The exchange must not be used after it. */
void ui_answer(struct exchange *exchange, const struct ui_file *file);

/* Whether the page may be served at the address that was bound. 0; -EACCES. */
int ui_bind_check(const struct conf *conf, const char *name, struct err *err);

#endif
