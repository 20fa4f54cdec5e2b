/* wasi_state.h: what the files of wasi share and nobody else includes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_WASI_STATE_H
#define WASM_WASI_STATE_H

#include "conf/limits.h"
#include "wasm/imports.h"
#include "wasm/wasi.h"

#include <signal.h>

enum fd_kind {
	FD_FREE,
	FD_IN,      /* reads stdin_bytes */
	FD_OUT,     /* writes to the output */
	FD_CALL,    /* reads code */
	FD_OPTIONS, /* reads options */
	FD_NODE,    /* a file, directory or device of the tree */
};

struct fd {
	enum fd_kind kind;
	bool preopen;
	uint16_t flags;  /* WASI_FD_... */
	uint16_t stream; /* of FD_OUT: the number that it was opened as */
	uint32_t root;   /* preopen: the number of its root */
	uint64_t rights, inheriting;
	uint64_t pos;
	struct memfs_node *node; /* held */
};

#define FIRST_PREOPEN 3u

struct wasi {
	struct guest_mem mem;
	struct memfs *fs;
	const char *const *argv;
	const char *const *env;
	const struct wasi_sys *sys;
	void (*write_out)(
	    void *arg, int stream, const uint8_t *bytes, size_t n);
	void *write_arg;
	struct span stdin_bytes, code, options;
	volatile sig_atomic_t interrupted; /* no sleep until the next input */
	bool exited;
	uint32_t exit_code;
	struct fd fds[GUEST_FDS_MAX];
};

/* The open descriptor with this number, or NULL. */
struct fd *fd_of(struct wasi *wasi, uint64_t number);

/* True for the descriptors of the room's code. */
bool fd_is_own(uint64_t number);

/* The lowest free number, or MFILE. */
enum wasi_errno fd_lowest(const struct wasi *wasi, uint32_t *ret_number);

/* The directory that the descriptor with this number is open on. */
enum wasi_errno fd_dir(
    struct wasi *wasi, uint64_t number, struct memfs_node **ret_dir);

/* The guest's bytes at two slots, pointer and length; FAULT. */
enum wasi_errno slots_span(
    const struct wasi *wasi, const uint64_t *slots, struct span *ret_span);

/* The functions of the table, by the name that the guest imports. */
#define IMPORT(name)            \
	uint32_t import_##name( \
	    struct wasi *wasi, const struct import_args *args)

IMPORT(args_get);
IMPORT(args_sizes_get);
IMPORT(clock_res_get);
IMPORT(clock_time_get);
IMPORT(environ_get);
IMPORT(environ_sizes_get);
IMPORT(fd_advise);
IMPORT(fd_close);
IMPORT(fd_fdstat_get);
IMPORT(fd_fdstat_set_flags);
IMPORT(fd_filestat_get);
IMPORT(fd_filestat_set_size);
IMPORT(fd_filestat_set_times);
IMPORT(fd_pread);
IMPORT(fd_prestat_dir_name);
IMPORT(fd_prestat_get);
IMPORT(fd_pwrite);
IMPORT(fd_read);
IMPORT(fd_readdir);
IMPORT(fd_seek);
IMPORT(fd_sync);
IMPORT(fd_tell);
IMPORT(fd_write);
IMPORT(host_call);
IMPORT(path_create_directory);
IMPORT(path_filestat_get);
IMPORT(path_filestat_set_times);
IMPORT(path_link);
IMPORT(path_open);
IMPORT(path_readlink);
IMPORT(path_remove_directory);
IMPORT(path_rename);
IMPORT(path_symlink);
IMPORT(path_unlink_file);
IMPORT(poll_oneoff);
IMPORT(proc_exit);
IMPORT(random_get);
IMPORT(sched_yield);
IMPORT(sock_any);

/* Writes what stat says of a node to the guest; FAULT. */
enum wasi_errno filestat_put(
    struct wasi *wasi, struct guest_ptr at, const struct memfs_node *node);

#endif
