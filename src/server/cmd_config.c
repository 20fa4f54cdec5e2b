/* cmd_config.c: "breakroom serve --check-config" and "--dump-config".
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/own.h"
#include "server/cmd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DUMP_MAX (8u * CONF_FILE_MAX) /* argv may hold longer lists */

int
cmd_check_config(struct settings *settings)
{
	const struct faults *faults = &settings->faults;
	char more[64];

	settings_judge_files(settings);
	for (unsigned i = 0; i < settings->notes.n; i++)
		complain("note: ", settings->notes.list[i].text);
	for (unsigned i = 0; i < faults->n; i++)
		complain(faults->list[i].text, "");
	if (faults->more) {
		(void)snprintf(
		    more, sizeof(more), "and %u faults more", faults->more);
		complain(more, "");
	}
	return faults->n > 0 ? STATUS_CONFIG : EXIT_SUCCESS;
}

int
cmd_dump_config(const struct settings *settings)
{
	own_buf struct buf text;
	struct err err;
	int r;

	buf_init(&text, DUMP_MAX);
	r = settings_dump(settings, &text);
	if (r == 0)
		r = fd_write_all(STDOUT_FILENO, text.p, text.n);
	if (r == 0)
		return EXIT_SUCCESS;
	(void)fail(&err, -r, "write standard output: %s", strerror(-r));
	complain(err.text, "");
	return EXIT_FAILURE;
}
