/* imports.c: the table of what the guest may call.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/imports.h"

#include "wasm/wasi_state.h"

#include <string.h>

#define WASI "wasi_snapshot_preview1"

const struct import imports[] = {
	{ "host", "call", "iiii->i", import_host_call },
	{ WASI, "args_get", "ii->i", import_args_get },
	{ WASI, "args_sizes_get", "ii->i", import_args_sizes_get },
	{ WASI, "clock_res_get", "ii->i", import_clock_res_get },
	{ WASI, "clock_time_get", "iji->i", import_clock_time_get },
	{ WASI, "environ_get", "ii->i", import_environ_get },
	{ WASI, "environ_sizes_get", "ii->i", import_environ_sizes_get },
	{ WASI, "fd_advise", "ijji->i", import_fd_advise },
	{ WASI, "fd_close", "i->i", import_fd_close },
	{ WASI, "fd_datasync", "i->i", import_fd_sync },
	{ WASI, "fd_fdstat_get", "ii->i", import_fd_fdstat_get },
	{ WASI, "fd_fdstat_set_flags", "ii->i", import_fd_fdstat_set_flags },
	{ WASI, "fd_filestat_get", "ii->i", import_fd_filestat_get },
	{ WASI, "fd_filestat_set_size", "ij->i", import_fd_filestat_set_size },
	{ WASI, "fd_filestat_set_times", "ijji->i",
	    import_fd_filestat_set_times },
	{ WASI, "fd_pread", "iiiji->i", import_fd_pread },
	{ WASI, "fd_prestat_dir_name", "iii->i", import_fd_prestat_dir_name },
	{ WASI, "fd_prestat_get", "ii->i", import_fd_prestat_get },
	{ WASI, "fd_pwrite", "iiiji->i", import_fd_pwrite },
	{ WASI, "fd_read", "iiii->i", import_fd_read },
	{ WASI, "fd_readdir", "iiiji->i", import_fd_readdir },
	{ WASI, "fd_seek", "ijii->i", import_fd_seek },
	{ WASI, "fd_sync", "i->i", import_fd_sync },
	{ WASI, "fd_tell", "ii->i", import_fd_tell },
	{ WASI, "fd_write", "iiii->i", import_fd_write },
	{ WASI, "path_create_directory", "iii->i",
	    import_path_create_directory },
	{ WASI, "path_filestat_get", "iiiii->i", import_path_filestat_get },
	{ WASI, "path_filestat_set_times", "iiiijji->i",
	    import_path_filestat_set_times },
	{ WASI, "path_link", "iiiiiii->i", import_path_link },
	{ WASI, "path_open", "iiiiijjii->i", import_path_open },
	{ WASI, "path_readlink", "iiiiii->i", import_path_readlink },
	{ WASI, "path_remove_directory", "iii->i",
	    import_path_remove_directory },
	{ WASI, "path_rename", "iiiiii->i", import_path_rename },
	{ WASI, "path_symlink", "iiiii->i", import_path_symlink },
	{ WASI, "path_unlink_file", "iii->i", import_path_unlink_file },
	{ WASI, "poll_oneoff", "iiii->i", import_poll_oneoff },
	{ WASI, "proc_exit", "i->", import_proc_exit },
	{ WASI, "random_get", "ii->i", import_random_get },
	{ WASI, "sched_yield", "->i", import_sched_yield },
	{ WASI, "sock_accept", "iii->i", import_sock_any },
	{ WASI, "sock_recv", "iiiiii->i", import_sock_any },
	{ WASI, "sock_send", "iiiii->i", import_sock_any },
	{ WASI, "sock_shutdown", "ii->i", import_sock_any },
};

const size_t imports_count = sizeof(imports) / sizeof(imports[0]);

static bool
is_text(struct span name, const char *text)
{
	return name.n == strlen(text) && memcmp(name.p, text, name.n) == 0;
}

const struct import *
import_find(struct span module, struct span name)
{
	for (size_t i = 0; i < imports_count; i++)
		if (is_text(module, imports[i].module) &&
		    is_text(name, imports[i].name))
			return &imports[i];
	return NULL;
}

size_t
import_arity(const struct import *import)
{
	return strcspn(import->signature, "-");
}
