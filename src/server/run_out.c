/* run_out.c: what the program left in /workspace, saved.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/run_out.h"

#include "conf/limits.h"
#include "server/cmd.h"
#include "server/saver.h"

#include <inttypes.h>
#include <stdio.h>

#define TOLD_MAX 480u /* complain cuts at about as many */

/* "not saved: NAME (N bytes): WHY" */
static void
tell(const struct file *file, const char *why)
{
	char line[TOLD_MAX];

	(void)snprintf(line, sizeof(line),
	    "not saved: %.200s (%" PRIu64 " bytes): %s", file->name, file->size,
	    why);
	complain(line, "");
}

bool
run_out_save(struct saver *saver, const struct file_list *files)
{
	char too_large[80];
	bool good = true;

	(void)snprintf(too_large, sizeof(too_large),
	    "more than %u MiB with those before it",
	    (unsigned)(RESULT_FILES_BYTES / MIB));
	for (unsigned i = 0; i < files->n; i++) {
		const struct file *file = &files->files[i];
		struct err err;

		if (!file->taken) {
			tell(file, too_large);
		} else if (saver_save(saver, file->name, buf_span(&file->bytes),
			       &err) < 0) {
			tell(file, err.text);
			good = false;
		}
	}
	if (files->more)
		complain("not saved: further files, which are too many or have "
			 "names that are too long",
		    "");
	return good;
}
