/* faults.c: sentences about what is wrong, several at once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/faults.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void
faults_add(struct faults *faults, const char *format, ...)
{
	struct err *err;
	va_list args;

	if (faults->n == CONF_FAULTS_MAX) {
		faults->more++;
		return;
	}
	err = &faults->list[faults->n++];
	err->code = EINVAL;
	va_start(args, format);
	(void)vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
}
