/* ui.c: the playground's files, and what browsers are told of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/ui.h"

#include "base/own.h"
#include "conf/address.h"

#include <errno.h>

/* What a program printed is shown as text. Were the page to have a mistake
 * there, nothing of it could be run or sent elsewhere: no script but ours, none
 * made from text, no other server, no form, no frame around it. */
static const char headers[] =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; "
    "style-src 'self'; img-src data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "X-Frame-Options: DENY\r\n"
    "Permissions-Policy: camera=(), geolocation=(), microphone=()\r\n";

const struct ui_file *
ui_find(struct span path)
{
	for (size_t i = 0; i < ui_files_count; i++)
		if (span_is(path, ui_files[i].path))
			return &ui_files[i];
	return NULL;
}

void
ui_answer(struct exchange *exchange, const struct ui_file *file)
{
	own_buf struct buf body;

	buf_init(&body, file->bytes.n);
	if (buf_add(&body, file->bytes.p, file->bytes.n) < 0)
		exchange_abort(exchange);
	else
		exchange_answer(exchange, 200, headers, file->type, &body);
}

int
ui_bind_check(const struct conf *conf, const char *name, struct err *err)
{
	struct address address;
	struct err why;

	if (!conf->ui || (address_parse(name, &address, &why) == 0 &&
			     address_is_loopback(&address)))
		return 0;
	return fail(err, EACCES,
	    "--ui is for this machine's own browser: %s is no loopback address",
	    name);
}
