/* wasi.h: one guest's world: its file tree, its open descriptors, its
 * arguments, what it reads and where its output goes. The functions that the
 * guest calls are in imports.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_WASI_H
#define WASM_WASI_H

#include "base/buf.h"
#include "base/err.h"
#include "wasm/guest.h"
#include "wasm/memfs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wasi;

/* Descriptors of the room's own code. The guest can read or write them, but
 * neither close them nor give their numbers to something else. */
#define WASI_CALL_FD    100u /* reads the call's source; its size is fstat's */
#define WASI_OPTIONS_FD 101u /* reads its options */
#define WASI_VALUE_FD   102u /* what is written is the value of the program */
#define WASI_HINT_FD    103u /* hints, a line each */
#define WASI_IMAGE_FD   104u /* each write is a PNG image */

/* The system below: time, sleep, random bytes. Tests put their own. */
struct wasi_sys {
	void *arg;
	/* id is a WASI_CLOCK_... number; false if there is no such clock. */
	bool (*clock_ns)(void *arg, uint32_t id, uint64_t *ret_ns);
	bool (*clock_res_ns)(void *arg, uint32_t id, uint64_t *ret_ns);
	/* Sleeps; what is left of it when a signal came, 0: nothing. */
	uint64_t (*sleep_ns)(void *arg, uint64_t ns);
	void (*random)(void *arg, uint8_t *bytes, size_t n);
};

/* The real clocks, nanosleep and getrandom. */
extern const struct wasi_sys wasi_sys_real;

/* A world in which the same program does the same: clocks begin at the same
 * moment and go on by a step each time that they are looked at, sleep only moves
 * them, and random bytes are a fixed sequence. */
struct wasi_fixed {
	uint64_t now_ns;
	uint64_t state; /* of the sequence */
};
void wasi_fixed_init(struct wasi_fixed *fixed, struct wasi_sys *ret_sys);

struct wasi_config {
	struct memfs *fs; /* taken on success; its roots are the preopens */
	const char *const *argv;    /* borrowed for ever, ends with NULL */
	const char *const *env;     /* the same, "NAME=value" each */
	const struct wasi_sys *sys; /* borrowed for ever; NULL: the real one */
	/* Where descriptors 1, 2 and those of the room's code write, stream
	 * being their number. Never called with n = 0. */
	void (*write_out)(
	    void *arg, int stream, const uint8_t *bytes, size_t n);
	void *write_arg;
};

/* The preopens are at descriptors 3, 4, ...: "/" first. 0 or -errno. */
int wasi_new(
    const struct wasi_config *config, struct wasi **ret_wasi, struct err *err);
void wasi_free(struct wasi *wasi);

/* The guest's memory as it is now: before every import, it may have grown. */
void wasi_set_memory(struct wasi *wasi, struct guest_mem mem);

/* What descriptors 0, WASI_CALL_FD and WASI_OPTIONS_FD read, from their start;
 * borrowed until the next one. */
void wasi_set_input(struct wasi *wasi, struct span stdin_bytes,
    struct span code, struct span options);

/* From now on time and random bytes come from there; borrowed. */
void wasi_set_sys(struct wasi *wasi, const struct wasi_sys *sys);

/* Ends the guest's sleep, and each to come until wasi_set_input. For a signal
 * handler. */
void wasi_interrupt(struct wasi *wasi);

/* Changes where output goes: a forked child has a place of its own. */
void wasi_set_output(struct wasi *wasi,
    void (*write_out)(void *arg, int stream, const uint8_t *bytes, size_t n),
    void *write_arg);

struct memfs *wasi_fs(struct wasi *wasi);

/* True once the guest called proc_exit; then *ret_code is its code. */
bool wasi_exited(const struct wasi *wasi, uint32_t *ret_code);

/* The open descriptors but the standard ones, the preopens and those of the
 * room's code: number, root, path, position, flags, rights. Fails if one is
 * of a file without a name. 0 or -errno. */
int wasi_save(struct wasi *wasi, struct buf *into, struct err *err);

/* Opens them again, in a world whose tree has the same files. */
int wasi_load(struct wasi *wasi, struct span saved, struct err *err);

#endif
