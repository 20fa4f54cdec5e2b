/* container_plan.h: what containers of a room are to be like, and the commands
 * of their engine that say so. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_CONTAINER_PLAN_H
#define ROOMS_CONTAINER_PLAN_H

#include "conf/limits.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum engine_type {
	ENGINE_PODMAN,
	ENGINE_DOCKER,
};

#define CONTAINER_USER     65532u
#define CONTAINER_ID_MAX   17u /* 16 hexadecimal digits, and NUL */
#define CONTAINER_NAME_MAX 40u /* "breakroom-", the instance, a number */
#define LIBPOD_PARENT      "libpod_parent" /* a control group of Podman's */
#define CONTAINER_LABEL    "breakroom.server"

struct container_plan {
	enum engine_type type;
	char engine[PATH_MAX]; /* the client program */
	char version[64];      /* as it says */
	char runtime[256];     /* of OCI; empty: the engine's own choice */
	char image[65];        /* digits of its identity */
	char seccomp[64];      /* the file with the profile */
	bool gvisor;           /* the runtime is said to be it */
	bool straight; /* containers have their client's streams as they are */
	uint64_t memory_bytes;    /* and no swap */
	uint64_t workspace_bytes; /* whole pages */
	uint32_t processes;
	uint32_t cpus_milli;
	uint32_t user_processes;         /* RLIMIT_NPROC; 0: not set */
	char instance[CONTAINER_ID_MAX]; /* of the factory that makes them */
	char owner[48];                  /* likewise; see container_owner */
};

/* A command: its words, and NULL. */
struct args {
	const char *v[ENGINE_ARGS_MAX + 1];
	unsigned n;
	bool overflow; /* it did not fit, and must not be executed */
	char text[ENGINE_ARGS_TEXT];
	unsigned used;
};

void args_init(struct args *args);
void args_add(struct args *args, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A command of the engine with this word first. */
void plan_command(
    const struct container_plan *plan, const char *word, struct args *args);

/* Runs a worker in a container of its own, on the standard streams, with all
 * that bounds it. */
void plan_run(
    const struct container_plan *plan, const char *name, struct args *args);

/* Ends containers by their names, the words of names, and removes them. */
void plan_remove(const struct container_plan *plan, const struct args *names,
    struct args *args);

/* What Podman calls a container where no names are: its identity, the runtime
 * that has it, and the control group in which it has one. */
struct container_identity {
	char id[65];
	char runtime[256];
	char parent[256]; /* without a slash at its beginning */
};

/* Lists Podman's identities of containers, one a line, for identity_read. */
void plan_identities(const struct container_plan *plan,
    const struct args *names, struct args *args);

/* False: the line is none of that command's. */
bool identity_read(const char *line, struct container_identity *ret_identity);

/* Has a runtime (a program) end and forget a container, if it knows of it. */
void plan_runtime_delete(const char *program,
    const struct container_identity *identity, struct args *args);

/* Lists containers of any breakroom: one a line, for plan_orphan. */
void plan_list(const struct container_plan *plan, struct args *args);

/* The process number of a container's first process. */
void plan_first_pid(
    const struct container_plan *plan, const char *name, struct args *args);

/* The identity of an image that is here: never pulled. */
void plan_image(
    const struct container_plan *plan, const char *image, struct args *args);

/* What the limits are at the engine: gVisor counts otherwise. */
uint32_t plan_pids(const struct container_plan *plan);
uint32_t plan_user_processes(const struct container_plan *plan);

void container_name(const struct container_plan *plan, uint32_t number,
    char ret_name[CONTAINER_NAME_MAX]);

/* Who a container belongs to: a process (its number, its start in ticks of the
 * kernel's clock) and the namespace in which that number holds. */
struct container_owner {
	int pid;
	uint64_t start;
	uint64_t namespace;
};

void owner_write(const struct container_owner *owner, char ret_text[48]);

/* Reads n decimal numbers, with that character (or blanks, for a space) between
 * them. False: there are not so many, or one is too large. */
bool numbers_read(
    const char *text, char between, uint64_t *ret_numbers, unsigned n);

/* A line of plan_list. False: it is none of breakroom's. */
bool owner_read(const char *line, char ret_name[CONTAINER_NAME_MAX],
    struct container_owner *ret_owner);

/* True if a runtime's name or path says that it is gVisor. */
bool runtime_is_gvisor(const char *runtime);

/* The identity in what plan_image's command said. False: there is none. */
bool image_id_read(const char *text, char ret_id[65]);

#endif
