/* doctor_facts.h: what a program in a room sees of the walls around it.
 * Hostile input: what that program printed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_DOCTOR_FACTS_H
#define SERVER_DOCTOR_FACTS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* The program: doctor_facts.py, embedded when the server is built. */
extern const uint8_t doctor_facts[]; /* a NUL ends it */

#define FACTS    13u
#define FACT_MAX 96u

/* Of each its text, in the order of fact_names; empty: it was not told. */
struct facts {
	char text[FACTS][FACT_MAX];
};

/* Of doctor_facts.py's lines. */
extern const char *const fact_names[FACTS];

/* Reads those lines. Others are ignored, and what is longer is cut. Bytes that
 * are not printable ASCII become question marks. True: it told something. */
bool facts_read(struct span lines, struct facts *ret_facts);

/* "uid 65532, seccomp 2, ...": n is the size of ret_line. */
void facts_line(const struct facts *facts, char *ret_line, size_t n);

#endif
