/* install.c: the installation, stage by stage.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/install.h"

#include "base/clock.h"
#include "base/own.h"
#include "conf/artifacts.h"
#include "conf/artifacts_check.h"
#include "conf/artifacts_dirs.h"
#include "conf/artifacts_key.h"
#include "conf/conf.h"
#include "conf/guest_pin.h"
#include "conf/limits.h"
#include "conf/machine.h"
#include "conf/manifest.h"
#include "keeper/build.h"
#include "keeper/install_place.h"
#include "keeper/install_reuse.h"
#include "keeper/install_source.h"
#include "keeper/install_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define NEEDED_MEMORY_MIB 2000u /* the compiler's peak */
#define NEEDED_DISK_MIB   700u  /* what is made, and some air */
#define COPY_CHUNK        ((size_t)256 * 1024)
#define EXIT_USAGE        2
#define EXIT_SIGNAL       128 /* as shells count */

struct install {
	struct source source;
	struct place place;
	char key[65];
	int signal; /* that ended it */
};

__attribute__((format(printf, 1, 2))) static void
say(const char *format, ...)
{
	char line[2 * PATH_MAX];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (n > 0)
		(void)dprintf(STDERR_FILENO, "breakroom: %s\n", line);
}

/* ---- the stages ---- */

static int
stage_check(const void *data, struct err *err)
{
	const struct install *install = data;

	return source_check(install->source.wasm, GUEST_WASM_SHA256, err);
}

static int
copy_bytes(int from, int to)
{
	own_mem uint8_t *chunk = malloc(COPY_CHUNK);
	ssize_t n;
	int r = 0;

	if (!chunk)
		return -ENOMEM;
	while (r == 0 && (n = read(from, chunk, COPY_CHUNK)) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			r = fd_write_all(to, chunk, (size_t)n);
	}
	return r;
}

/* The copy is checked, not the source: that is what will be used. */
static int
stage_stdlib(const void *data, struct err *err)
{
	const struct install *install = data;
	const char *path = install->source.stdlib;
	char copy[PATH_MAX];
	own_fd int from = open(path, O_RDONLY | O_CLOEXEC);
	own_fd int to = -1;
	int r = place_path(&install->place, ARTIFACT_STDLIB, copy, err);

	if (r < 0)
		return r;
	if (from < 0)
		return fail_errno(err, "open %.200s", path);
	to = open(
	    copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (to < 0)
		return fail_errno(err, "make %.200s", copy);
	r = copy_bytes(from, to);
	if (r < 0)
		return fail(err, -r, "copy %.150s: %s", path, strerror(-r));
	return source_check(copy, GUEST_STDLIB_SHA256, err);
}

static int
stage_module(const void *data, struct err *err)
{
	const struct install *install = data;
	char out[PATH_MAX];
	int r = place_path(&install->place, ARTIFACT_MODULE, out, err);

	if (r < 0 || reuse_module(&install->place, out) == 0)
		return r;
	return build_module(install->source.wasm, out, err);
}

static int
stage_mpldata(const void *data, struct err *err)
{
	const struct install *install = data;
	char stdlib[PATH_MAX];
	char out[PATH_MAX];
	int r = place_path(&install->place, ARTIFACT_STDLIB, stdlib, err);

	if (r == 0)
		r = place_path(&install->place, ARTIFACT_MPLDATA, out, err);
	return r < 0 ? r : build_mpldata(stdlib, out, err);
}

static int
stage_snapshot(const void *data, struct err *err)
{
	const struct install *install = data;

	return build_snapshot(install->place.staging, err);
}

static int
stage_hot(const void *data, struct err *err)
{
	const struct install *install = data;

	return build_hot(install->place.staging, err);
}

static const struct stage stages[] = {
	{ "checking the guest's files", "", stage_check },
	{ "copying Python's library", "", stage_stdlib },
	{ "compiling the guest", " (about a minute)", stage_module },
	{ "packing matplotlib's data", "", stage_mpldata },
	{ "starting Python and taking its snapshot", "", stage_snapshot },
	{ "learning which memory calls touch", "", stage_hot },
};

/* ---- before them ---- */

/* Memory that could be had without the machine running out, in MiB; 0 if it
 * is not known. */
static uint64_t
free_memory_mib(void)
{
	uint64_t memory = 0, swap = 0;

	if (machine_number("/proc/meminfo", "MemAvailable", &memory) < 0)
		return 0;
	(void)machine_number("/proc/meminfo", "SwapFree", &swap);
	return (memory + swap) / KIB;
}

static int
check_disk(const char *dir, struct err *err)
{
	struct statvfs vfs;
	uint64_t mib;

	if (statvfs(dir, &vfs) < 0)
		return fail_errno(err, "look at the disk of %.200s", dir);
	mib = (uint64_t)vfs.f_bavail * vfs.f_frsize / MIB;
	if (mib < NEEDED_DISK_MIB)
		return fail(err, ENOSPC,
		    "%.120s has %" PRIu64 " MB free, and %u MB are needed; "
		    "BREAKROOM_DATA names another place",
		    dir, mib, NEEDED_DISK_MIB);
	return 0;
}

/* Too little memory is said, not refused: nobody knows what will be freed. */
static void
look_at_memory(void)
{
	uint64_t mib = free_memory_mib();

	if (mib > 0 && mib < NEEDED_MEMORY_MIB)
		say("only %" PRIu64 " MB of memory are free; compiling takes "
		    "about %u MB and may be killed",
		    mib, NEEDED_MEMORY_MIB);
}

/* ---- the installation ---- */

static uint64_t
installed_mib(const struct artifacts *artifacts)
{
	char path[2 * PATH_MAX];
	uint64_t sum = 0;
	struct stat st;

	for (size_t i = 0; i < MANIFEST_FILES; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", artifacts->dir,
		    manifest_names[i]);
		if (stat(path, &st) == 0)
			sum += (uint64_t)st.st_size;
	}
	return sum / MIB;
}

/* What is old is kept until the new is whole, unless its room is needed. */
static int
make_room(const struct place *place, struct err *err)
{
	place_sweep_staging(place);
	if (check_disk(place->dir, NULL) == 0)
		return 0;
	place_sweep_keys(place);
	return check_disk(place->dir, err);
}

static int
run_stages(struct install *install, struct err *err)
{
	own_fd int signal_fd = stage_watch_signals(err);
	int r = signal_fd < 0 ? signal_fd : place_stage(&install->place, err);

	for (size_t i = 0; r == 0 && i < sizeof(stages) / sizeof(stages[0]);
	     i++)
		r = stage_run(
		    &stages[i], install, signal_fd, &install->signal, err);
	return r == 0 ? place_publish(&install->place, err) : r;
}

static int
build(struct install *install, struct err *err)
{
	uint64_t start = clock_us();
	struct artifacts made;
	int r = make_room(&install->place, err);

	if (r < 0)
		return r;
	look_at_memory();
	r = run_stages(install, err);
	if (r == 0)
		r = artifacts_check(
		    install->place.dir, install->key, &made, err);
	if (r < 0)
		return r;
	place_sweep_keys(&install->place);
	say("installed in %s: %" PRIu64 " MB, in %.0f s", made.dir,
	    installed_mib(&made), (double)(clock_us() - start) / 1e6);
	return 0;
}

/* Holds the lock from here on; another installation is waited for. */
static int
take_lock(struct install *install, struct err *err)
{
	int r = place_lock(&install->place, false, err);

	if (r != -EWOULDBLOCK)
		return r;
	say("another installation is running in %s: waiting for it",
	    install->place.dir);
	return place_lock(&install->place, true, err);
}

static int
install_here(struct install *install, const char *from, struct err *err)
{
	struct artifacts found;
	struct err why = { 0 };
	int r = take_lock(install, err);

	if (r < 0)
		return r;
	r = artifacts_check(install->place.dir, install->key, &found, &why);
	if (r == 0) {
		say("already installed in %s", found.dir);
		return 0;
	}
	r = source_find(from, &install->source, err);
	if (r < 0)
		return r;
	say("installing in %s, because %s", install->place.dir,
	    why.code == ENOENT ? "nothing is there yet" : why.text);
	return build(install, err);
}

/* Leftovers of other builds are removed when nobody is at work. */
static void
sweep_idle(struct place *place)
{
	if (place_lock(place, false, NULL) == 0) {
		place_sweep_staging(place);
		place_sweep_keys(place);
	}
	place_close(place);
}

static int
install_for_user(struct install *install, const char *from, struct err *err)
{
	struct artifacts_inputs inputs;
	struct artifacts found;
	char dir[PATH_MAX];
	bool have = artifacts_find(&found, NULL) == 0;
	int r;

	artifacts_inputs(&inputs);
	artifacts_key(&inputs, install->key);
	if (have)
		say("already installed in %s", found.dir);
	r = artifacts_install_place(dir, err);
	if (have && (r < 0 || access(dir, W_OK) < 0))
		return 0;
	if (r == 0)
		r = place_open(dir, install->key, &install->place, err);
	if (r < 0)
		return r;
	if (have)
		sweep_idle(&install->place);
	else
		r = install_here(install, from, err);
	place_close(&install->place);
	return r;
}

/* The options of "breakroom install", with the program's name put back. */
static int
parse(int argc, char **argv, struct conf *ret_conf, struct err *err)
{
	char program[] = "breakroom";
	own_mem char **whole = calloc((size_t)argc + 2, sizeof(*whole));

	if (!whole)
		return fail(err, ENOMEM, "no memory");
	whole[0] = program;
	memcpy(whole + 1, argv, (size_t)argc * sizeof(*whole));
	return conf_parse(argc + 1, whole, ret_conf, err);
}

int
install_main(int argc, char **argv)
{
	struct install state = { .place.lock = -1 };
	struct conf conf = { 0 };
	struct err err = { 0 };

	if (parse(argc, argv, &conf, &err) < 0) {
		say("%s; see breakroom --help", err.text);
		return EXIT_USAGE;
	}
	if (conf.command != COMMAND_INSTALL) {
		(void)dprintf(STDOUT_FILENO, "%s", conf_help(conf.about));
		return EXIT_SUCCESS;
	}
	(void)umask(S_IRWXG | S_IRWXO);
	if (install_for_user(&state, conf.from, &err) == 0)
		return EXIT_SUCCESS;
	say("%s", err.text);
	return state.signal ? EXIT_SIGNAL + state.signal : EXIT_FAILURE;
}
