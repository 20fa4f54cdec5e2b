/* engine_settings.h: what the compiled guest and the snapshot depend on, as
 * constants: they go into the key that names the artifacts. Whoever changes
 * the engine's configuration or the snapshot's layout changes them here.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_ENGINE_SETTINGS_H
#define WASM_ENGINE_SETTINGS_H

#define ENGINE_SETTINGS                                                \
	"wasmtime 48.0.8; exceptions; no fuel; no epochs; opt speed; " \
	"no unwind info; only what the guest uses; memory stays"

/* Counts up with every change of room.snapshot's or room.hot's layout. */
#define SNAPSHOT_FORMAT 3

#endif
