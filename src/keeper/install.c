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
#include "keeper/install_packages.h"
#include "keeper/install_place.h"
#include "keeper/install_reuse.h"
#include "keeper/install_rooms.h"
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
#define NEEDED_DISK_MIB   800u  /* what is made, and some air */
#define COPY_CHUNK        ((size_t)256 * 1024)
#define FETCH_FOLDER      "fetched"
#define EXIT_USAGE        2
#define EXIT_SIGNAL       128 /* as shells count */

struct install {
	struct source source;
	struct place place;
	struct package_list *shelf;
	struct packages *packages; /* of the place */
	const struct conf *conf;
	const char *about; /* ARTIFACT_LIST, while packages are fetched */
	enum int64 int64;
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

	if (r < 0)
		return r;
	return build_module(install->source.wasm, install->int64, out, err);
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

static int
stage_shelf(const void *data, struct err *err)
{
	const struct install *install = data;
	const struct build_wheels shelf = { install->shelf,
		install->source.shelf };

	return build_shelf(install->place.staging, &shelf, err);
}

static int
stage_added(const void *data, struct err *err)
{
	const struct install *install = data;
	const struct build_wheels shelf = { install->shelf,
		install->source.shelf };
	const struct build_wheels added = { &install->packages->list,
		install->packages->wheels };

	return build_added(install->place.staging, &shelf, &added, err);
}

static int
stage_reuse(const void *data, struct err *err)
{
	const struct install *install = data;

	(void)err;
	reuse_artifacts(&install->place);
	return 0;
}

static int
stage_fetch(const void *data, struct err *err)
{
	const struct install *install = data;
	char folder[PATH_MAX];
	int r = place_path(&install->place, FETCH_FOLDER, folder, err);

	return r < 0 ? r
		     : packages_fetch(&install->conf->packages, install->about,
			   folder, err);
}

static const struct stage fetch = { "fetching packages", "", stage_fetch };

/* Each makes what is named, unless an older installation had it. */
static const struct {
	struct stage stage;
	const char *made;
} stages[] = {
	{ { "checking the guest's files", "", stage_check }, NULL },
	{ { "looking for what can be kept", "", stage_reuse }, NULL },
	{ { "copying Python's library", "", stage_stdlib }, ARTIFACT_STDLIB },
	{ { "compiling the guest", " (about a minute)", stage_module },
	    ARTIFACT_MODULE },
	{ { "packing matplotlib's data", "", stage_mpldata },
	    ARTIFACT_MPLDATA },
	{ { "packing the shelf's packages", "", stage_shelf }, ARTIFACT_SHELF },
	{ { "packing packages that were added", "", stage_added },
	    ARTIFACT_LIST },
	{ { "starting Python and taking its snapshot", "", stage_snapshot },
	    ARTIFACT_SNAPSHOT },
	{ { "learning which memory calls touch", "", stage_hot },
	    ARTIFACT_HOT },
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

static bool
is_made(const struct place *place, const char *name)
{
	char path[PATH_MAX];

	return name && place_path(place, name, path, NULL) == 0 &&
	       access(path, F_OK) == 0;
}

static int
run_stages(struct install *install, struct err *err)
{
	own_fd int signal_fd = stage_watch_signals(err);
	int r = signal_fd < 0 ? signal_fd : 0;

	if (r == 0 && install->place.staging[0] == '\0')
		r = place_stage(&install->place, err);
	for (size_t i = 0; r == 0 && i < sizeof(stages) / sizeof(stages[0]);
	     i++)
		if (!is_made(&install->place, stages[i].made))
			r = stage_run(&stages[i].stage, install, signal_fd,
			    &install->signal, err);
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
		    install->place.dir, install->place.key, &made, err);
	/* From here on it is the one that is found. */
	if (r == 0 && install->conf->packages.n > 0)
		r = packages_keep(install->packages, err);
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
install_here(struct install *install, struct err *err)
{
	struct artifacts found;
	struct err why = { 0 };
	int r = artifacts_check(
	    install->place.dir, install->place.key, &found, &why);

	if (r == 0) {
		say("already installed in %s", found.dir);
		return 0;
	}
	r = source_find(install->conf->from, &install->source, err);
	if (r < 0)
		return r;
	say("installing in %s, because %s", install->place.dir,
	    why.code == ENOENT ? "nothing is there yet" : why.text);
	return build(install, err);
}

/* ---- packages ---- */

static int
load_lists(struct install *install, struct err *err)
{
	install->packages = packages_open(install->place.dir, err);
	install->shelf = calloc(1, sizeof(*install->shelf));
	if (!install->packages)
		return -err->code;
	if (!install->shelf)
		return fail(err, ENOMEM, "no memory");
	return package_list_parse(
	    span_of(package_shelf_text), install->shelf, err);
}

/* Runs pip; then the list has what it fetched, and the place its new key. */
static int
fetch_packages(struct install *install, struct err *err)
{
	struct artifacts_inputs inputs;
	char folder[PATH_MAX];
	own_fd int signal_fd = stage_watch_signals(err);
	int r = signal_fd < 0 ? signal_fd : place_stage(&install->place, err);

	if (r == 0)
		r = place_path(&install->place, FETCH_FOLDER, folder, err);
	if (r == 0)
		r = stage_run(
		    &fetch, install, signal_fd, &install->signal, err);
	if (r == 0)
		r = packages_take(install->packages, folder, err);
	if (r < 0)
		return r;
	artifacts_inputs(install->int64, &inputs);
	r = packages_digest(install->packages, inputs.added);
	if (r < 0)
		return fail(err, -r, "list packages: %s", strerror(-r));
	artifacts_key(&inputs, install->place.key);
	return 0;
}

/* To what is installed; the lock is held. */
static int
add_packages(struct install *install, struct err *err)
{
	char about[ARTIFACT_PATH_MAX];
	struct artifacts found;
	int r = artifacts_check(
	    install->place.dir, install->place.key, &found, err);

	if (r < 0)
		return r;
	(void)snprintf(about, sizeof(about), "%s/" ARTIFACT_LIST, found.dir);
	install->about = about;
	place_sweep_staging(&install->place);
	r = source_find(install->conf->from, &install->source, err);
	if (r == 0)
		r = fetch_packages(install, err);
	install->about = NULL;
	if (r < 0)
		return r;
	if (strcmp(install->place.key, found.key) != 0)
		return build(install, err);
	say("nothing new");
	return 0;
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

/* Both choices may be installed: servers that ask for either find theirs. */
static void
spare_other(const struct install *install, struct place *place)
{
	struct artifacts_inputs inputs;

	artifacts_inputs(
	    install->int64 == INT64_ON ? INT64_OFF : INT64_ON, &inputs);
	if (artifacts_add_packages(&inputs, place->dir, NULL) == 0)
		artifacts_key(&inputs, place->spared);
}

/* Everything that is asked for, in a place that may be written. */
static int
install_all(struct install *install, struct err *err)
{
	int r = take_lock(install, err);

	if (r == 0)
		r = load_lists(install, err);
	if (r == 0)
		r = install_here(install, err);
	if (r == 0 && install->conf->packages.n > 0)
		r = add_packages(install, err);
	return r;
}

/* What was found lies elsewhere: added here, packages would not be found. */
static int
refuse_elsewhere(const struct artifacts *found, struct err *err)
{
	return fail(err, EACCES,
	    "the room that is used lies in %.150s: packages are added there, "
	    "with BREAKROOM_DATA set to the directory above",
	    found->dir);
}

static int
install_for_user(struct install *install, struct err *err)
{
	struct artifacts_inputs inputs;
	struct artifacts found;
	char dir[PATH_MAX], key[65];
	bool have = artifacts_find(install->int64, &found, NULL) == 0;
	bool more = install->conf->packages.n > 0;
	int r;

	if (have && !more)
		say("already installed in %s", found.dir);
	r = artifacts_install_place(dir, err);
	if (have && !more && (r < 0 || access(dir, W_OK) < 0))
		return 0;
	artifacts_inputs(install->int64, &inputs);
	if (r == 0)
		r = artifacts_add_packages(&inputs, dir, err);
	artifacts_key(&inputs, key);
	if (r == 0)
		r = place_open(dir, key, &install->place, err);
	if (r < 0)
		return r;
	spare_other(install, &install->place);
	if (have && more &&
	    strncmp(
		found.dir, install->place.dir, strlen(install->place.dir)) != 0)
		r = refuse_elsewhere(&found, err);
	else if (have && !more)
		sweep_idle(&install->place);
	else
		r = install_all(install, err);
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
	int r;

	if (parse(argc, argv, &conf, &err) < 0) {
		say("%s; see breakroom --help", err.text);
		return EXIT_USAGE;
	}
	if (conf.command != COMMAND_INSTALL) {
		(void)dprintf(STDOUT_FILENO, "%s", conf_help(conf.about));
		return EXIT_SUCCESS;
	}
	(void)umask(S_IRWXG | S_IRWXO);
	state.int64 = conf.int64;
	state.conf = &conf;
	r = conf.room == ROOM_WASM ? install_for_user(&state, &err)
				   : install_room(&conf, &err);
	packages_free(state.packages);
	free(state.shelf);
	if (r == 0)
		return EXIT_SUCCESS;
	say("%s", err.text);
	return state.signal ? EXIT_SIGNAL + state.signal : EXIT_FAILURE;
}
