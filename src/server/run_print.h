/* run_print.h: what "breakroom run" prints: while the program runs, and at its
 * end. Hostile input: what the program printed goes to a terminal or a pipe,
 * byte for byte.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_RUN_PRINT_H
#define SERVER_RUN_PRINT_H

#include "call/call.h"
#include "conf/conf.h"
#include "server/run_figures.h"

#include <stdbool.h>

struct printing {
	const struct conf *conf;
	const struct figures *figures;
	struct {
		size_t bytes;   /* of its text that were printed */
		uint64_t chars; /* that may be, before the end is known */
	} told[2];              /* of stdout and stderr */
	int status;             /* to exit with */
	int r;                  /* why not all of it could be written */
};

void printing_init(struct printing *printing, const struct conf *conf,
    const struct figures *figures);

/* New text of a running program. What is printed so is the beginning of what
 * the result will have, whether or not that is cut in its middle. */
void printing_output(struct printing *printing, bool err, struct span text);

/* The rest. */
void printing_end(struct printing *printing, const struct result *result);

#endif
