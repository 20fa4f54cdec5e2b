/* container_plan.c: the commands of a container engine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/container_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The image need hold no more than Python: the worker's source comes first on
 * its standard input, behind its length. Streams that others have had may be
 * such as do not wait; what is said beside them leads nowhere. */
#define BOOTSTRAP                                          \
	"import os, struct\n"                              \
	"for end in 0, 1: os.set_blocking(end, True)\n"    \
	"os.dup2(os.open('/dev/null', os.O_WRONLY), 2)\n"  \
	"def take(n):\n"                                   \
	"    got = b''\n"                                  \
	"    while len(got) < n:\n"                        \
	"        piece = os.read(0, n - len(got))\n"       \
	"        if not piece: os._exit(0)\n"              \
	"        got += piece\n"                           \
	"    return got\n"                                 \
	"source = take(struct.unpack('<I', take(4))[0])\n" \
	"exec(compile(source, '<worker>', 'exec'), "       \
	"{'__name__': '__worker__'})\n"

void
args_init(struct args *args)
{
	args->n = args->used = 0;
	args->v[0] = NULL;
	args->overflow = false;
}

void
args_add(struct args *args, const char *format, ...)
{
	unsigned left = ENGINE_ARGS_TEXT - args->used;
	char *word = args->text + args->used;
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(word, left, format, list);
	va_end(list);
	if (n < 0 || (unsigned)n >= left || args->n == ENGINE_ARGS_MAX) {
		args->overflow = true;
		return;
	}
	args->used += (unsigned)n + 1;
	args->v[args->n++] = word;
	args->v[args->n] = NULL;
}

void
plan_command(
    const struct container_plan *plan, const char *word, struct args *args)
{
	args_init(args);
	args_add(args, "%s", plan->engine);
	args_add(args, "%s", word);
}

/* Podman's choice of a runtime comes before its command. Whatever is done with
 * a container later, is done by the one it was made with. */
static void
add_run(const struct container_plan *plan, struct args *args)
{
	args_init(args);
	args_add(args, "%s", plan->engine);
	if (plan->type == ENGINE_PODMAN && *plan->runtime) {
		args_add(args, "--runtime");
		args_add(args, "%s", plan->runtime);
		/* It does not run with one in the host's namespace; the room
		 * has none of either kind. */
		if (plan->gvisor)
			args_add(args, "--runtime-flag=network=none");
	}
	args_add(args, "run");
}

uint32_t
plan_pids(const struct container_plan *plan)
{
	return plan->gvisor ? GVISOR_PIDS : plan->processes;
}

uint32_t
plan_user_processes(const struct container_plan *plan)
{
	if (!plan->gvisor)
		return plan->user_processes;
	return plan->processes < GVISOR_PROCESSES ? plan->processes
						  : GVISOR_PROCESSES;
}

/* Who it is, and how it is found again. */
static void
add_identity(
    const struct container_plan *plan, const char *name, struct args *args)
{
	args_add(args, "--name=%s", name);
	args_add(args, "--label=breakroom.instance=%s", plan->instance);
	args_add(args, "--label=" CONTAINER_LABEL "=%s", plan->owner);
	args_add(args, "--hostname=breakroom");
	args_add(args, "--user=%u:%u", CONTAINER_USER, CONTAINER_USER);
	args_add(args, "--workdir=/workspace");
	args_add(args, "--env=HOME=/tmp");
}

/* Nothing of the host's, and nothing that lasts. */
static void
add_walls(const struct container_plan *plan, struct args *args)
{
	args_add(args, "--network=none");
	args_add(args, "--read-only");
	if (plan->type == ENGINE_PODMAN) /* else more of them, unbounded */
		args_add(args, "--read-only-tmpfs=false");
	args_add(args,
	    "--tmpfs=/workspace:rw,nosuid,nodev,size=%" PRIu64 ",mode=1777",
	    plan->workspace_bytes);
	args_add(args, "--cgroupns=private");
	args_add(args, "--tmpfs=/tmp:rw,nosuid,nodev,size=%um,mode=1777",
	    CONTAINER_TMP_MIB);
	args_add(args, "--cap-drop=ALL");
	args_add(args, "--security-opt=no-new-privileges");
	args_add(args, "--security-opt=seccomp=%s", plan->seccomp);
}

static void
add_limits(const struct container_plan *plan, struct args *args)
{
	uint32_t user = plan_user_processes(plan);

	args_add(args, "--memory=%" PRIu64, plan->memory_bytes);
	/* Of both together: none of it is swap. */
	args_add(args, "--memory-swap=%" PRIu64, plan->memory_bytes);
	args_add(args, "--pids-limit=%u", plan_pids(plan));
	args_add(args, "--cpus=%u.%03u", plan->cpus_milli / 1000,
	    plan->cpus_milli % 1000);
	args_add(args, "--ulimit=nofile=%u:%u", CONTAINER_FILES_OPEN,
	    CONTAINER_FILES_OPEN);
	args_add(args, "--ulimit=core=0:0");
	if (user)
		args_add(args, "--ulimit=nproc=%u:%u", user, user);
}

/* The client's own, or copies that it and another process of the engine's carry
 * what is said between: without standard error, what a worker says are frames. */
static void
add_streams(const struct container_plan *plan, struct args *args)
{
	args_add(args, "--interactive");
	if (plan->straight) {
		args_add(args, "--log-driver=passthrough");
		return;
	}
	args_add(args, "--attach=stdin");
	args_add(args, "--attach=stdout");
	args_add(args, "--log-driver=none");
}

void
plan_run(const struct container_plan *plan, const char *name, struct args *args)
{
	add_run(plan, args);
	args_add(args, "--rm");
	args_add(args, "--pull=never");
	add_streams(plan, args);
	/* An engine that ends waits for nobody: the first process of a
	 * container ignores gentler ones. */
	args_add(args, "--stop-signal=KILL");
	if (plan->type == ENGINE_PODMAN) /* no byte of a frame means that */
		args_add(args, "--detach-keys=");
	else if (*plan->runtime)
		args_add(args, "--runtime=%s", plan->runtime);
	add_identity(plan, name, args);
	add_walls(plan, args);
	add_limits(plan, args);
	args_add(args, "--entrypoint=python3");
	args_add(args, "%s", plan->image);
	args_add(args, "-I");
	args_add(args, "-u");
	args_add(args, "-c");
	args_add(args, "%s", BOOTSTRAP);
}

static void
add_names(const struct args *names, struct args *args)
{
	for (unsigned i = 0; i < names->n; i++)
		args_add(args, "%s", names->v[i]);
}

void
plan_remove(const struct container_plan *plan, const struct args *names,
    struct args *args)
{
	plan_command(plan, "rm", args);
	args_add(args, "--force");
	if (plan->type == ENGINE_PODMAN) /* docker kills at once */
		args_add(args, "--time=0");
	add_names(names, args);
}

void
plan_identities(const struct container_plan *plan, const struct args *names,
    struct args *args)
{
	plan_command(plan, "inspect", args);
	args_add(args, "--type=container");
	args_add(args,
	    "--format={{.Id}} {{.OCIRuntime}} {{.HostConfig.CgroupParent}}");
	add_names(names, args);
}

bool
identity_read(const char *line, struct container_identity *ret_identity)
{
	size_t n = strcspn(line, "\n");
	const char *runtime, *parent;

	if (n < 66 || strspn(line, "0123456789abcdef") != 64 || line[64] != ' ')
		return false;
	runtime = line + 65;
	parent = runtime + strcspn(runtime, " \n");
	if (parent == runtime || *parent != ' ')
		return false;
	(void)snprintf(ret_identity->id, 65, "%s", line);
	(void)snprintf(ret_identity->runtime, 256, "%.*s",
	    (int)(parent - runtime), runtime);
	parent++;
	parent += strspn(parent, "/");
	/* Where none was asked for it has one of this name. */
	n = strcspn(parent, "\n");
	(void)snprintf(ret_identity->parent, 256, "%.*s",
	    n ? (int)n : (int)strlen(LIBPOD_PARENT),
	    n ? parent : LIBPOD_PARENT);
	return true;
}

void
plan_runtime_delete(const char *program,
    const struct container_identity *identity, struct args *args)
{
	args_init(args);
	args_add(args, "%s", program);
	args_add(args, "delete");
	args_add(args, "--force");
	args_add(args, "%s", identity->id);
}

void
plan_list(const struct container_plan *plan, struct args *args)
{
	plan_command(plan, "ps", args);
	args_add(args, "--all");
	args_add(args, "--filter=label=" CONTAINER_LABEL);
	args_add(args, "--format={{.Names}} {{.Labels}}");
}

void
plan_first_pid(
    const struct container_plan *plan, const char *name, struct args *args)
{
	plan_command(plan, "inspect", args);
	args_add(args, "--format={{.State.Pid}}");
	args_add(args, "%s", name);
}

void
plan_image(
    const struct container_plan *plan, const char *image, struct args *args)
{
	plan_command(plan, "image", args);
	args_add(args, "inspect");
	args_add(args, "--format={{.Id}}");
	args_add(args, "--");
	args_add(args, "%s", image);
}

void
container_name(const struct container_plan *plan, uint32_t number,
    char ret_name[CONTAINER_NAME_MAX])
{
	(void)snprintf(ret_name, CONTAINER_NAME_MAX, "breakroom-%.16s-%u",
	    plan->instance, number);
}

void
owner_write(const struct container_owner *owner, char ret_text[48])
{
	(void)snprintf(ret_text, 48, "%d-%" PRIu64 "-%" PRIu64, owner->pid,
	    owner->start, owner->namespace);
}

bool
numbers_read(const char *text, char between, uint64_t *ret_numbers, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char *end;

		if (i > 0 && between != ' ' && *text++ != between)
			return false;
		text += strspn(text, " \t");
		if (*text < '0' || *text > '9')
			return false;
		errno = 0;
		ret_numbers[i] = strtoull(text, &end, 10);
		if (errno)
			return false;
		text = end;
	}
	return true;
}

bool
owner_read(const char *line, char ret_name[CONTAINER_NAME_MAX],
    struct container_owner *ret_owner)
{
	/* Behind the name one engine writes key:value, the other key=value. */
	const char *label = strstr(line, " ");
	uint64_t told[3];
	size_t n = strcspn(line, " \n");

	label = label ? strstr(label, CONTAINER_LABEL) : NULL;
	if (!label || strncmp(line, "breakroom-", 10) != 0 ||
	    n >= CONTAINER_NAME_MAX)
		return false;
	label += sizeof(CONTAINER_LABEL) - 1;
	if ((*label != ':' && *label != '=') ||
	    !numbers_read(label + 1, '-', told, 3) || told[0] > INT32_MAX)
		return false;
	*ret_owner =
	    (struct container_owner){ (pid_t)told[0], told[1], told[2] };
	memcpy(ret_name, line, n);
	ret_name[n] = '\0';
	return ret_owner->pid > 0;
}

bool
runtime_is_gvisor(const char *runtime)
{
	const char *slash = strrchr(runtime, '/');
	const char *name = slash ? slash + 1 : runtime;

	return strstr(name, "runsc") || strstr(name, "gvisor");
}

bool
image_id_read(const char *text, char ret_id[65])
{
	if (strncmp(text, "sha256:", 7) == 0)
		text += 7;
	if (strspn(text, "0123456789abcdef") != 64 ||
	    (text[64] && text[64] != '\n'))
		return false;
	memcpy(ret_id, text, 64);
	ret_id[64] = '\0';
	return true;
}
