/* faults.h: sentences about what is wrong, several at once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_FAULTS_H
#define CONF_FAULTS_H

#include "base/err.h"
#include "conf/limits.h"

struct faults {
	unsigned n;    /* kept */
	unsigned more; /* counted only */
	struct err list[CONF_FAULTS_MAX];
};

void faults_add(struct faults *faults, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
