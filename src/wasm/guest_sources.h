/* guest_sources.h: the Python that runs inside, embedded by
 * tools/embed_guest.py when the program is built.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_GUEST_SOURCES_H
#define WASM_GUEST_SOURCES_H

#include <stddef.h>
#include <stdint.h>

struct guest_source {
	const char *name; /* as in guest/, for tracebacks */
	const uint8_t *bytes;
	size_t n;
};

/* Run one after another before the snapshot, as guest/ORDER lists them; a
 * name that it lists four times is here four times. */
extern const struct guest_source guest_order[];
extern const size_t guest_order_count;

/* Run once each to learn which pages calls touch, sorted by name. */
extern const struct guest_source guest_train[];
extern const size_t guest_train_count;

extern const struct guest_source guest_pack;     /* pack.py */
extern const struct guest_source guest_wheels;   /* wheels.py */
extern const struct guest_source guest_walk;     /* walk.py */
extern const struct guest_source guest_call;     /* the file CALL */
extern const struct guest_source guest_job;      /* JOB: with options */
extern const struct guest_source guest_fresh;    /* the file FRESH */
extern const struct guest_source guest_rehearse; /* the file REHEARSE */

/* Over all of the above with their names and order, hexadecimal, but for
 * wheels.py, which has a digest of its own. */
extern const char guest_sources_sha256[65];
extern const char guest_wheels_sha256[65];

#endif
