/* doctor_checks.h: what can be told about this machine without starting
 * anything.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_DOCTOR_CHECKS_H
#define SERVER_DOCTOR_CHECKS_H

#include <stddef.h>

enum verdict {
	VERDICT_OK,
	VERDICT_WARN,
	VERDICT_BAD
};

#define FINDING_MAX 320

struct check {
	const char *subject;
	/* Writes what was found, a sentence without a full stop. */
	enum verdict (*look)(char ret_finding[FINDING_MAX]);
};

extern const struct check doctor_checks[];
extern const size_t doctor_check_count;

#endif
