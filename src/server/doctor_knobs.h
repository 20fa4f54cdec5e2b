/* doctor_knobs.h: settings of the host that matter to whoever runs strangers'
 * programs on it, whether or not a room depends on them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_DOCTOR_KNOBS_H
#define SERVER_DOCTOR_KNOBS_H

#include "server/doctor_checks.h"

#include <stdbool.h>

#define KNOB_VALUE_MAX 160

struct knob {
	const char *name; /* a sysctl, or what it is called */
	const char *path; /* the kernel's file */
	long ok_min, ok_max;
	const char *good, *bad; /* a sentence for either side of the range */
	const char *absent;     /* where there is no such file */
	enum verdict absent_verdict;
	/* Or NULL: judges a value that is no number. True: good. */
	bool (*judge)(const char *value);
	/* Or NULL: leaves what is worth showing. */
	void (*shorten)(char value[KNOB_VALUE_MAX]);
};

struct knob_state {
	bool there;
	char value[KNOB_VALUE_MAX];
	enum verdict verdict;
	char finding[FINDING_MAX];
};

extern const struct knob knobs[];
extern const size_t knob_count;

/* Reads the knob's file below root ("" is the machine's own). */
void knob_look(
    const struct knob *knob, const char *root, struct knob_state *ret_state);

#endif
