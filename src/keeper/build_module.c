/* build_module.c: the stage of an installation that compiles.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/build.h"

#include "base/own.h"
#include "keeper/int64.h"
#include "wasm/engine.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

int
build_module(const char *wasm_path, enum int64 int64, const char *out_path,
    struct err *err)
{
	own_fd int fd = open(wasm_path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	void *wasm;
	size_t n;
	int r = 0;

	if (fd < 0 || fstat(fd, &about) < 0)
		return fail_errno(err, "open %s", wasm_path);
	n = (size_t)about.st_size;
	/* What is changed are our pages, not the file. */
	wasm = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (wasm == MAP_FAILED)
		return fail_errno(err, "map %s", wasm_path);
	if (int64 == INT64_ON)
		r = int64_apply(wasm, n, err);
	if (r == 0)
		r = engine_compile((struct span){ wasm, n }, out_path, err);
	(void)munmap(wasm, n);
	return r;
}
