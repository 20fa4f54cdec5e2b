/* container_setup.c: which engine, image and runtime a room's containers have.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/container_impl.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/own.h"
#include "base/random_id.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define IMAGE_FILE     "image.json"
#define CONTAINER_PAGE 65536ull /* no machine's pages are larger */

/* ---- the engine ---- */

/* Asks it what it is: the file's name may be any. */
static int
ask_version(struct container_plan *plan, int null_fd, struct err *err)
{
	own_buf struct buf said;
	struct args args;
	int r;

	args_init(&args);
	args_add(&args, "%s", plan->engine);
	args_add(&args, "--version");
	r = command_ask(&args, null_fd, &said, err);
	if (r < 0)
		return r;
	plan->type = strncmp((const char *)said.p, "podman", 6) == 0
			 ? ENGINE_PODMAN
			 : ENGINE_DOCKER;
	(void)snprintf(plan->version, sizeof(plan->version), "%.*s",
	    (int)strcspn((const char *)said.p, "\n"), (const char *)said.p);
	return 0;
}

static int
find_engine(struct container_plan *plan, const char *wanted, int null_fd,
    struct err *err)
{
	static const char *const usual[] = { "podman", "docker" };

	if (*wanted) {
		if (command_find(wanted, plan->engine) < 0)
			return fail(
			    err, ENOENT, "no engine %.200s is here", wanted);
		return ask_version(plan, null_fd, err);
	}
	for (unsigned i = 0; i < 2; i++)
		if (command_find(usual[i], plan->engine) == 0)
			return ask_version(plan, null_fd, err);
	return fail(err, ENOENT,
	    "neither podman nor docker is here; install one, or name a program "
	    "by --engine");
}

/* ---- the image ---- */

/* The text of a member of what our installation wrote; our own form of JSON. */
static void
member(const char *json, const char *name, char *ret_text, size_t size)
{
	char key[32];
	const char *at;

	(void)snprintf(key, sizeof(key), "\"%s\": \"", name);
	at = strstr(json, key);
	at = at ? at + strlen(key) : "";
	(void)snprintf(ret_text, size, "%.*s", (int)strcspn(at, "\"\\\n"), at);
}

static void
read_installed(int artifacts_fd, char ret_engine[256], char ret_image[256])
{
	char text[4096];
	own_fd int fd = artifacts_fd < 0
			    ? -1
			    : openat(artifacts_fd, IMAGE_FILE,
				  O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	member(text, "engine", ret_engine, 256);
	member(text, "image", ret_image, 256);
}

/* Its identity now: from here on no name can come to mean another. */
static int
find_image(struct container_plan *plan, const char *image, int null_fd,
    struct err *err)
{
	own_buf struct buf said = { 0 };
	struct args args;
	int r;

	if (!*image || *image == '-')
		return fail(err, ENOENT,
		    "no image: run \"breakroom install --room container\", or "
		    "name one that is here by --image");
	plan_image(plan, image, &args);
	r = command_ask(&args, null_fd, &said, err);
	if (r < 0)
		return r;
	return image_id_read((const char *)said.p, plan->image)
		   ? 0
		   : fail(err, ENOENT, "%.100s is not an image", image);
}

/* ---- the rest ---- */

/* A file that the engine's client reads: by number, which it inherits, so that
 * nobody can put another in its place. */
static int
profile_open(struct container_plan *plan, struct err *err)
{
	int fd = memfd_create("seccomp", MFD_ALLOW_SEALING);
	int r = fd < 0 ? -errno
		       : fd_write_all(fd, container_seccomp,
			     strlen((const char *)container_seccomp));

	if (r == 0 && fcntl(fd, F_ADD_SEALS,
			  F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) < 0)
		r = -errno;
	(void)snprintf(
	    plan->seccomp, sizeof(plan->seccomp), "/proc/self/fd/%d", fd);
	return r < 0 ? fail(err, -r, "the profile of system calls: %s",
			   strerror(-r))
		     : 0;
}

static int
take_name(struct container_plan *plan, struct err *err)
{
	char id[RANDOM_ID_SIZE];
	struct container_owner owner;

	if (!random_id(id))
		return fail(err, EAGAIN, "no random bytes for a name");
	memcpy(plan->instance, id, CONTAINER_ID_MAX - 1);
	if (container_owner(getpid(), &owner) < 0)
		return fail_errno(err, "read /proc/self/stat");
	owner_write(&owner, plan->owner);
	return 0;
}

/* The engine's client hands it to the runtime, which may only lower it. An
 * engine with a server takes that one's. */
static void
plan_limits(struct container_plan *plan, const struct wire_conf *conf)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	plan->memory_bytes = conf->memory_bytes;
	plan->workspace_bytes =
	    (conf->files_bytes + CONTAINER_PAGE - 1) & ~(CONTAINER_PAGE - 1);
	plan->processes = conf->processes;
	plan->cpus_milli = conf->cpus_milli;
	(void)getrlimit(RLIMIT_NPROC, &limit);
	if (plan->type == ENGINE_PODMAN)
		plan->user_processes = limit.rlim_max < CONTAINER_USER_PROCESSES
					   ? (uint32_t)limit.rlim_max
					   : CONTAINER_USER_PROCESSES;
}

/* True if a trial's end is not for want of another way to run it. */
static bool
is_settled(int r)
{
	return r == 0 || r == -EPERM || r == -EAGAIN;
}

/* Where the engine's own choice does not run a container, runc may. */
static int
try_runtimes(struct container_plan *plan, const struct factory_start *start,
    struct err *err)
{
	struct err first;
	int r = container_trial(plan, start, err);

	if (is_settled(r) || *plan->runtime || plan->type != ENGINE_PODMAN)
		return r;
	first = *err;
	(void)snprintf(plan->runtime, sizeof(plan->runtime), "runc");
	r = container_trial(plan, start, err);
	if (r == 0)
		log_warn("event=container_runtime runtime=runc error=\"%s\"",
		    first.text);
	if (is_settled(r))
		return r;
	plan->runtime[0] = '\0';
	*err = first;
	return r;
}

/* A Podman that is old, or a client of one elsewhere, cannot hand over its
 * streams. */
static int
try_streams(struct container_plan *plan, const struct factory_start *start,
    struct err *err)
{
	struct err first;
	int r;

	plan->straight = plan->type == ENGINE_PODMAN;
	r = try_runtimes(plan, start, err);
	if (is_settled(r) || !plan->straight)
		return r;
	first = *err;
	plan->straight = false;
	r = try_runtimes(plan, start, err);
	if (r == 0)
		log_warn("event=container_streams error=\"%s\"", first.text);
	return r;
}

int
container_setup(const struct factory_start *start, struct container_plan *plan,
    struct err *err)
{
	const struct wire_conf *conf = start->conf;
	char engine[256], image[256];
	int r;

	memset(plan, 0, sizeof(*plan));
	read_installed(start->artifacts_fd, engine, image);
	r = container_leave_groups(start->keeper, err);
	if (r == 0)
		r = find_engine(plan, *conf->engine ? conf->engine : engine,
		    start->null_fd, err);
	if (r == 0)
		r = find_image(plan, *conf->image ? conf->image : image,
		    start->null_fd, err);
	if (r == 0)
		r = profile_open(plan, err);
	if (r == 0)
		r = take_name(plan, err);
	if (r < 0)
		return r;
	(void)snprintf(
	    plan->runtime, sizeof(plan->runtime), "%s", conf->runtime);
	plan->gvisor = runtime_is_gvisor(plan->runtime);
	plan_limits(plan, conf);
	r = container_sweep(plan, false, start->null_fd, err);
	if (r == 0)
		r = container_sweeper(plan, start->null_fd, err);
	if (r == 0)
		r = try_streams(plan, start, err);
	if (r == 0)
		log_info("event=container engine=\"%s\" runtime=%s image=%.12s",
		    plan->version, *plan->runtime ? plan->runtime : "-",
		    plan->image);
	return r;
}
