/* engine_compile.c: from WebAssembly to machine code, at install.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/engine.h"

#include "base/fd.h"
#include "base/own.h"
#include "wasm/engine_config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int
module_write(const char *path, const wasm_byte_vec_t *code, struct err *err)
{
	own_fd int fd =
	    open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return fail_errno(err, "create %s", path);
	r = fd_write_all(fd, code->data, code->size);
	return r < 0 ? fail(err, -r, "write %s: %s", path, strerror(-r)) : 0;
}

static int
compile_bytes(wasm_engine_t *engine, struct span wasm, const char *module_path,
    struct err *err)
{
	wasmtime_module_t *module = NULL;
	wasm_byte_vec_t code;
	wasmtime_error_t *error =
	    wasmtime_module_new(engine, wasm.p, wasm.n, &module);
	int r;

	if (error)
		return engine_fail(err, error, NULL, "compile the guest");
	error = wasmtime_module_serialize(module, &code);
	wasmtime_module_delete(module);
	if (error)
		return engine_fail(err, error, NULL, "serialize the guest");
	r = module_write(module_path, &code, err);
	wasm_byte_vec_delete(&code);
	return r;
}

int
engine_compile(struct span wasm, const char *module_path, struct err *err)
{
	wasm_engine_t *engine = NULL;
	/* The stack is a setting of the run, not of the code. */
	int r = engine_configure(ENGINE_STACK_MAX, true, &engine, err);

	if (r < 0)
		return r;
	r = compile_bytes(engine, wasm, module_path, err);
	wasm_engine_delete(engine);
	return r;
}
