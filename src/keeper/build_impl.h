/* build_impl.h: a guest of an installation's own, as the stages share it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_BUILD_IMPL_H
#define KEEPER_BUILD_IMPL_H

#include "keeper/build.h"

#include "wasm/engine.h"
#include "wasm/guest_sources.h"
#include "wasm/wasi.h"

#include <stdbool.h>

struct builder {
	struct wasi *wasi;
	struct engine *engine;
	/* Installations of one key are alike, the secret of hash() included. */
	struct wasi_fixed fixed;
	struct wasi_sys fixed_sys;
};

/* Starts the guest whose module lies in dir, with GUEST_BUILD in its tree, in a
 * fixed world. *ret_builder must stay where it is. 0 or -errno. */
int builder_open(const char *dir, const char *stdlib_path, bool with_mpldata,
    struct builder *ret_builder, struct err *err);

/* Runs one file of ours in it. 0 or -errno. */
int builder_turn(struct builder *builder, const struct guest_source *source,
    struct err *err);

/* Copies a file that the guest left in its tree to the host, where none of
 * that name may be. 0 or -errno. */
int builder_file_out(struct builder *builder, const char *guest_path,
    const char *path, size_t max, struct err *err);

#endif
