/* wasm.h: opening a wasm room from its artifacts; what the room kind and the
 * installer's last stage both do.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_WASM_H
#define ROOMS_WASM_H

#include "base/err.h"
#include "call/output.h"
#include "call/wire.h"
#include "conf/artifacts.h"
#include "rooms/show_image.h"
#include "wasm/engine.h"
#include "wasm/interrupt.h"
#include "wasm/wasi.h"

#include <signal.h>

struct wasm_room {
	struct wasi *wasi;
	struct engine *engine;
	struct hot *hot;        /* NULL while it is learned */
	uint64_t memory_before; /* bytes of the restored snapshot */
	uint64_t memory_max;    /* bytes that it may grow to */
	struct output *output;  /* of this child's call */
	bool take_files;
	bool deterministic;
	volatile sig_atomic_t running; /* a turn of a program's */
	volatile sig_atomic_t told;    /* in it: to come to an end */
	struct interrupt interrupt;
	struct guest_mem interrupted; /* as it was: its base never moves */
	struct shown shown;           /* by this job's program */
	struct wasi_fixed fixed;
	struct wasi_sys fixed_sys;
	char module_path[ARTIFACT_PATH_MAX];
};

/* Restores the snapshot in conf->artifacts_dir; with the list of hot pages if
 * with_hot. 0 or -errno. The room lasts as long as the process. */
int wasm_room_open(const struct wire_conf *conf, bool with_hot,
    struct wasm_room *ret_room, struct err *err);

#endif
