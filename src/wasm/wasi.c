/* wasi.c: one guest's world: birth, input and output, its table of
 * descriptors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasi_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t
hook_now(void *arg)
{
	const struct wasi_sys *sys = arg;
	uint64_t ns = 0;

	(void)sys->clock_ns(sys->arg, WASI_CLOCK_REALTIME, &ns);
	return ns;
}

static void
hook_random(void *arg, uint8_t *bytes, size_t n)
{
	const struct wasi_sys *sys = arg;

	sys->random(sys->arg, bytes, n);
}

/* Descriptors 1 and 2 may seek on paper: a character device that may neither
 * seek nor tell is a terminal to the guest's libc. */
static void
open_standard(struct wasi *wasi)
{
	wasi->fds[0] = (struct fd){
		.kind = FD_IN,
		.rights = WASI_RIGHT_READ | WASI_RIGHT_SEEK,
	};
	for (uint16_t i = 1; i <= 2; i++) {
		wasi->fds[i] = (struct fd){
			.kind = FD_OUT,
			.stream = i,
			.rights = WASI_RIGHT_WRITE | WASI_RIGHT_SEEK,
		};
	}
}

/* A program may have moved their positions, no more. */
static void
open_own(struct wasi *wasi)
{
	static const uint64_t reads =
	    WASI_RIGHT_READ | WASI_RIGHT_SEEK | WASI_RIGHT_TELL;

	wasi->fds[WASI_CALL_FD] =
	    (struct fd){ .kind = FD_CALL, .rights = reads };
	wasi->fds[WASI_OPTIONS_FD] =
	    (struct fd){ .kind = FD_OPTIONS, .rights = reads };
	for (uint16_t i = WASI_VALUE_FD; i <= WASI_IMAGE_FD; i++)
		wasi->fds[i] = (struct fd){
			.kind = FD_OUT,
			.stream = i,
			.rights = WASI_RIGHT_WRITE,
		};
}

bool
fd_is_own(uint64_t number)
{
	return number >= WASI_CALL_FD && number <= WASI_IMAGE_FD;
}

static void
open_preopens(struct wasi *wasi)
{
	for (unsigned i = 0; i < memfs_roots(wasi->fs); i++) {
		struct memfs_node *root = memfs_root(wasi->fs, i);

		memfs_hold(root);
		wasi->fds[FIRST_PREOPEN + i] = (struct fd){
			.kind = FD_NODE,
			.preopen = true,
			.root = i,
			.rights = WASI_RIGHTS_ALL,
			.inheriting = WASI_RIGHTS_ALL,
			.node = root,
		};
	}
}

int
wasi_new(
    const struct wasi_config *config, struct wasi **ret_wasi, struct err *err)
{
	struct wasi *wasi = calloc(1, sizeof(*wasi));

	if (!wasi)
		return fail(err, ENOMEM, "no memory for the WASI host");
	wasi->fs = config->fs;
	wasi->argv = config->argv;
	wasi->env = config->env;
	wasi_set_sys(wasi, config->sys ? config->sys : &wasi_sys_real);
	wasi_set_output(wasi, config->write_out, config->write_arg);
	open_standard(wasi);
	open_preopens(wasi);
	wasi_set_input(wasi, span_of(""), span_of(""), span_of(""));
	*ret_wasi = wasi;
	return 0;
}

void
wasi_free(struct wasi *wasi)
{
	if (!wasi)
		return;
	memfs_free(wasi->fs);
	free(wasi);
}

void
wasi_set_sys(struct wasi *wasi, const struct wasi_sys *sys)
{
	wasi->sys = sys;
	memfs_set_hooks(wasi->fs, &(struct memfs_hooks){
				      .arg = (void *)(uintptr_t)sys,
				      .now_ns = hook_now,
				      .random = hook_random,
				  });
}

void
wasi_set_memory(struct wasi *wasi, struct guest_mem mem)
{
	wasi->mem = mem;
}

void
wasi_set_input(struct wasi *wasi, struct span stdin_bytes, struct span code,
    struct span options)
{
	wasi->stdin_bytes = stdin_bytes;
	wasi->code = code;
	wasi->options = options;
	wasi->interrupted = 0;
	if (wasi->fds[0].kind == FD_IN)
		wasi->fds[0].pos = 0;
	open_own(wasi);
}

void
wasi_interrupt(struct wasi *wasi)
{
	wasi->interrupted = 1;
}

void
wasi_set_output(struct wasi *wasi,
    void (*write_out)(void *arg, int stream, const uint8_t *bytes, size_t n),
    void *write_arg)
{
	wasi->write_out = write_out;
	wasi->write_arg = write_arg;
}

struct memfs *
wasi_fs(struct wasi *wasi)
{
	return wasi->fs;
}

bool
wasi_exited(const struct wasi *wasi, uint32_t *ret_code)
{
	if (wasi->exited)
		*ret_code = wasi->exit_code;
	return wasi->exited;
}

struct fd *
fd_of(struct wasi *wasi, uint64_t number)
{
	if (number >= GUEST_FDS_MAX || wasi->fds[number].kind == FD_FREE)
		return NULL;
	return &wasi->fds[number];
}

enum wasi_errno
fd_lowest(const struct wasi *wasi, uint32_t *ret_number)
{
	for (uint32_t i = 0; i < GUEST_FDS_MAX; i++) {
		if (wasi->fds[i].kind == FD_FREE && !fd_is_own(i)) {
			*ret_number = i;
			return WASI_OK;
		}
	}
	return WASI_MFILE;
}

enum wasi_errno
fd_dir(struct wasi *wasi, uint64_t number, struct memfs_node **ret_dir)
{
	const struct fd *fd = fd_of(wasi, number);

	if (!fd)
		return WASI_BADF;
	if (fd->kind != FD_NODE || memfs_type(fd->node) != WASI_TYPE_DIR)
		return WASI_NOTDIR;
	*ret_dir = fd->node;
	return WASI_OK;
}

enum wasi_errno
slots_span(
    const struct wasi *wasi, const uint64_t *slots, struct span *ret_span)
{
	const uint8_t *p =
	    guest_at(&wasi->mem, guest_ptr_of(slots[0]), slots[1]);

	if (!p)
		return WASI_FAULT;
	*ret_span = (struct span){ p, (size_t)slots[1] };
	return WASI_OK;
}
